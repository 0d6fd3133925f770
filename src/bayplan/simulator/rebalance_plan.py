"""
What the rebalancer would do to a cluster as it is now: the document ``kind: RebalancePlan``, and a table of it.

``bayplan rebalancer --dry-run`` calls ``plan_world`` for files and for a live cluster that was read once; the planner
is the one that the rebalancer runs with.  With ``--plan`` it calls ``looked_through``.  Nothing is written anywhere.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from bayplan.controllers.rebalancer.move_plan import MovePlan
from bayplan.controllers.rebalancer.observed import Observed
from bayplan.controllers.rebalancer.plan_checking import PlanChecker
from bayplan.controllers.rebalancer.plan_progress import Progress
from bayplan.controllers.rebalancer.planner import Plan, Planner, waves
from bayplan.controllers.rebalancer.status import satisfaction, validity
from bayplan.controllers.rebalancer.survey import Survey, Surveyor
from bayplan.controllers.rebalancer.terms import Terms, terms_of
from bayplan.engine.events import NodeAdded, PodAdded
from bayplan.objects.pod import Pod
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.world import World
from bayplan.text_layout import table

Owner = Callable[[Pod], str | None]


def plan_world(world: World) -> dict[str, Any]:
    """The plan for every policy, whatever its mode says."""
    return plan_observed(observed_of(world), world.workloads.owner, world.clock.now())


def plan_observed(observed: Observed, owner: Owner, now: float) -> dict[str, Any]:
    """The same for whoever observes a cluster; ``owner`` says who looks after a pod."""
    surveyor = Surveyor(observed)
    planner = Planner(observed, surveyor)
    policies = []
    for policy in observed.policies():
        survey = surveyor.survey(policy)
        terms = terms_of(policy, survey.expected)
        plan = planner.plan(survey, terms, now)
        policies.append(_policy(owner, survey, terms, plan))
    moves = sum(len(each["moves"]) for each in policies)
    satisfied = sum(each["satisfied"] for each in policies)
    summary = {"policies": len(policies), "satisfied": satisfied, "moves": moves}
    return {"apiVersion": API_VERSION, "kind": "RebalancePlan", "summary": summary, "policies": policies}


def looked_through(world: World, plan: MovePlan) -> Progress:
    """How a plan of ``bayplan fit`` stands: where each pod would go now, or why it cannot."""
    progress = Progress(plan)
    PlanChecker(observed_of(world), progress).look_through()
    return progress


def observed_of(world: World) -> Observed:
    observed = Observed(world.scheduler)
    nodes = world.scheduler.cache.nodes
    for row in range(len(nodes)):
        observed.note(NodeAdded(nodes.object_at(row)))
    for record in world.cluster.records.values():
        observed.note(PodAdded(record.pod))
    return observed


def _policy(owner: Owner, survey: Survey, terms: Terms, plan: Plan) -> dict[str, Any]:
    is_valid, _, problem = validity(survey)
    is_satisfied, reason, message = satisfaction(survey)
    numbers = waves(plan.moves, terms.max_unavailable)
    return {
        "namespace": survey.policy.namespace,
        "name": survey.policy.name,
        "mode": terms.mode,
        "valid": is_valid,
        "satisfied": is_satisfied,
        "reason": reason,
        "message": problem if not is_valid else message,
        "onHold": plan.hold or None,
        "domains": [
            {
                "name": each.name,
                "desired": each.desired,
                "current": each.current,
                "ready": each.ready,
                "pending": each.pending,
                "nodes": each.nodes,
                "unreadyNodes": each.unready_nodes,
            }
            for each in survey.domains
        ],
        "moves": [
            {
                "wave": wave,
                "pod": move.pod.name,
                "owner": owner(move.pod),
                "fromDomain": move.source,
                "fromNode": move.pod.node_name,
                "toDomain": move.target,
                "toNode": move.node,
                "why": move.why,
            }
            for move, wave in zip(plan.moves, numbers, strict=True)
        ],
        "needed": plan.needed,
        "kept": [{"pod": key.partition("/")[2], "why": why} for key, why in sorted(plan.kept.items())],
    }


def as_text(document: dict[str, Any]) -> str:
    """For people: how each policy stands, the moves, and why pods stay."""
    if not document["policies"]:
        return "there is no WorkloadPolicy"
    parts = [_policy_table(document), _move_table(document), _kept_lines(document)]
    summary = document["summary"]
    of = f"{summary['satisfied']} of {summary['policies']} policies are satisfied"
    parts.append(f"{of}; {summary['moves']} moves are planned" if summary["moves"] else f"{of}; nothing to move")
    return "\n\n".join(part for part in parts if part)


def _policy_table(document: dict[str, Any]) -> str:
    rows = []
    for policy in document["policies"]:
        head = [f"{policy['namespace']}/{policy['name']}", policy["mode"], policy["reason"]]
        for domain in policy["domains"] or [None]:
            counts = ["-", "-", "-"]
            if domain is not None:
                has = f"{domain['current']}/{domain['desired']}"
                counts = [domain["name"], has, str(domain["ready"])]
            rows.append([*head, *counts])
            head = ["", "", ""]
    return table(["POLICY", "MODE", "STANDS", "DOMAIN", "PODS", "READY"], rows)


def _move_table(document: dict[str, Any]) -> str:
    rows = [
        [str(move["wave"]), f"{policy['namespace']}/{move['pod']}", move["fromDomain"], move["toDomain"],
         move["toNode"], move["why"]]
        for policy in document["policies"]
        for move in policy["moves"]
    ]  # fmt: skip
    return table(["WAVE", "POD", "FROM", "TO", "NODE", "WHY"], rows) if rows else ""


def _kept_lines(document: dict[str, Any]) -> str:
    lines = []
    for policy in document["policies"]:
        key = f"{policy['namespace']}/{policy['name']}"
        if not policy["valid"]:
            lines.append(f"{key} is not valid: {policy['message']}")
        if policy["onHold"]:
            lines.append(f"{key}: nothing moves: {policy['onHold']}")
        if len(policy["moves"]) < policy["needed"]:
            lines += [f"{policy['namespace']}/{each['pod']} stays: {each['why']}" for each in policy["kept"]]
    return "\n".join(lines)
