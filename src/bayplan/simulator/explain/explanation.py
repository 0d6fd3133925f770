"""
Why a pod is pending, or why it is where it is: one decision of the engine as a document.

``bayplan explain``, ``simulate --explain`` and the parity tests call it.  Nothing changes: the pod is judged alone
against the cluster as given.  ``text`` makes text for people of the document.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from bayplan.engine.failures import one_node
from bayplan.engine.scheduler import Scheduler
from bayplan.engine.what_if import WhatIf
from bayplan.errors import InputError
from bayplan.framework.decision import Decision
from bayplan.framework.diagnosis import UNVISITED, Diagnosis
from bayplan.framework.status import SUCCESS, Code, Status
from bayplan.objects.pod import Pod
from bayplan.objects.quantity import format_resource
from bayplan.objects.resources import PODS
from bayplan.plugins.resource_columns import allocatable, requested
from bayplan.simulator.explain import devices, plugin_numbers
from bayplan.simulator.explain.subject import POD, WORKLOADS, Subject, missing
from bayplan.simulator.world import World

API_VERSION = "bayplan.io/v1alpha1"
SCHEDULABLE, UNSCHEDULABLE, BOUND, WAITING, ERROR = "Schedulable", "Unschedulable", "Bound", "Waiting", "Error"
"""Waiting: Permit holds the pod.  Error: a plugin failed, so that it is not known."""

_SHORT_OF = "Insufficient "
_FULL = "Too many pods"


def explain_pod(world: World, namespace: str, name: str) -> dict[str, Any]:
    """
    The document ``kind: Explanation`` for one pod of the world.

    Raises:
        InputError: there is no such pod, or no profile for it.
    """
    pod = world.cluster.pod(f"{namespace}/{name}")
    if pod is None:
        raise missing(Subject(POD, namespace, name), known_subjects(world))
    if pod.scheduler_name not in world.scheduler.profiles:
        known = ", ".join(world.scheduler.profiles)
        problem = f'no profile is for the scheduler "{pod.scheduler_name}" it asks for'
        raise InputError(problem, object=f"Pod {pod.key}", fix=f"add one to the configuration (it has {known})")
    return explain(world.scheduler, pod)


def known_subjects(world: World) -> dict[Subject, None]:
    """Every pod there is, every workload, and who else looks after pods."""
    pods = [record.pod for record in world.cluster.records.values() if not record.is_gone]
    known = dict.fromkeys(Subject(POD, pod.namespace, pod.name) for pod in pods)
    known |= dict.fromkeys(Subject(*key) for key in world.cluster.objects if key[0] in WORKLOADS)
    owners = ((pod.namespace, owner) for pod in pods for owner in world.workloads.owners(pod))
    return known | dict.fromkeys(Subject(kind, namespace, name) for namespace, (kind, name) in owners)


def explain(scheduler: Scheduler, pod: Pod) -> dict[str, Any]:
    """One pod as the scheduler sees it now; a pod on a node is judged as if it were not there yet."""
    imagined = scheduler.what_if()
    if pod.node_name:
        waiting = pod.evolve(spec=replace(pod.spec, node_name=""), status=replace(pod.status, nominated_node_name=""))
        imagined.cache.remove_pod(pod)
        return _with_details(_document(imagined.decide(waiting), pod, None), imagined, waiting)
    decision = imagined.decide(pod)
    gated_by = scheduler.queue.gated_reason(pod.uid)
    after = SUCCESS if gated_by is not None or decision.node is None else imagined.would_commit(decision)
    return _with_details(_document(decision, pod, gated_by, after), imagined, pod)


def _with_details(document: dict[str, Any], imagined: WhatIf, pod: Pod) -> dict[str, Any]:
    return devices.add(plugin_numbers.add(document, imagined, pod), imagined, pod)


def _document(decision: Decision, pod: Pod, gated_by: Status | None, after: Status = SUCCESS) -> dict[str, Any]:
    asked = (decision.status, after) if gated_by is None else (gated_by,)
    failed = next((each for each in asked if each.is_error), None)
    nodes = [] if failed is not None or decision.status.is_error else _nodes(decision)
    node: str | None = None
    if pod.node_name:
        is_missing = not decision.status.is_error and all(each["name"] != pod.node_name for each in nodes)
        verdict, node, message = BOUND, pod.node_name, "that node is not among those given" if is_missing else ""
    elif failed is not None:
        verdict, message = ERROR, failed.message
    elif gated_by is not None:
        verdict, message = UNSCHEDULABLE, gated_by.message
    elif decision.node is None:
        verdict, message = UNSCHEDULABLE, decision.message
    elif after.is_wait:
        verdict, node, message = WAITING, decision.node, f"held by {after.message}, to go to {decision.node}"
    elif after.is_rejected:
        verdict, message = UNSCHEDULABLE, one_node(after)[0]
    else:
        verdict, node, message = SCHEDULABLE, decision.node, ""
    document = {
        "apiVersion": API_VERSION,
        "kind": "Explanation",
        "pod": {"namespace": pod.namespace, "name": pod.name},
        "scheduler": pod.scheduler_name,
        "requests": {name: format_resource(name, amount) for name, amount in pod.requests.as_map().items()},
        "verdict": verdict,
        "node": node,
        "message": message,
        "choice": _choice(decision, nodes) if nodes else None,
        "nodes": nodes,
        "preemption": _preemption(decision) if verdict == UNSCHEDULABLE and gated_by is None else None,
    }
    if gated_by is not None and failed is None:
        document["gatedBy"] = gated_by.plugin
    if after.is_rejected and failed is None:
        document["rejectedBy"] = after.plugin
    if failed is not None or decision.post_filter_failed:
        document["error"] = failed.message if failed is not None else decision.message
    return document


def _choice(decision: Decision, nodes: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The node that is best now, who came second, and by how much."""
    if decision.node is None:
        return None
    others = [node for node in nodes if node["feasible"] and node["name"] != decision.node]
    choice: dict[str, Any] = {"best": decision.node, "runnerUp": None, "margin": None, "ties": decision.ties or 1}
    if others and others[0].get("total") is not None:
        best = next(node for node in nodes if node["name"] == decision.node)
        choice |= {"runnerUp": others[0]["name"], "margin": best["total"] - others[0]["total"]}
    return choice


def _preemption(decision: Decision) -> dict[str, Any] | None:
    if not decision.victims or not decision.preemption_node:
        return None
    return {"node": decision.preemption_node, "victims": [victim.key for victim in decision.victims]}


# -- nodes --


def _nodes(decision: Decision) -> list[dict[str, Any]]:
    """Every node: the feasible ones by their score, then those nearest to being feasible."""
    if decision.diagnosis is None:
        return []
    feasible = sorted(_feasible(decision), key=lambda node: _rank(node, decision.node))
    return [*feasible, *_unlooked(decision, decision.diagnosis), *_infeasible(decision.pod, decision.diagnosis)]


def _feasible(decision: Decision) -> Iterable[dict[str, Any]]:
    assert decision.diagnosis is not None
    names = decision.diagnosis.nodes.names
    for position, row in enumerate(decision.feasible.tolist()):
        node: dict[str, Any] = {"name": names[row], "feasible": True, "total": None}
        if len(decision.totals):
            node["total"] = int(decision.totals[position])
            node["scores"] = {
                scores.plugin: {
                    "raw": int(scores.raw[position]),
                    "normalized": int(scores.normalized[position]),
                    "weight": scores.weight,
                    "weighted": int(scores.weighted[position]),
                }
                for scores in decision.scores
            }
        yield node


def _rank(node: dict[str, Any], chosen: str | None) -> tuple[int, bool, str]:
    return -(node["total"] or 0), node["name"] != chosen, node["name"]


def _unlooked(decision: Decision, diagnosis: Diagnosis) -> list[dict[str, Any]]:
    """Nodes that were not judged: the nominated node fits, or enough others were found."""
    judged = set(decision.feasible.tolist())
    nominated = decision.pod.nominated_node_name
    enough = "the nominated node fits" if nominated and nominated == decision.node else "enough other nodes fit"
    return [
        {"name": diagnosis.nodes.names[row], "feasible": None, "reasons": [f"not looked at: {enough}"]}
        for row, first_no in enumerate(diagnosis.first_no.tolist())
        if row not in judged and (first_no == UNVISITED or diagnosis.status_of(row) is None)
    ]


def _infeasible(pod: Pod, diagnosis: Diagnosis) -> list[dict[str, Any]]:
    found = []
    for row, first_no in enumerate(diagnosis.first_no.tolist()):
        if first_no >= 0:
            status = diagnosis.statuses[first_no]
            missing = _missing(pod, diagnosis, row, status)
            nearness = status.code is Code.UNRESOLVABLE, *_distance(missing, pod), diagnosis.nodes.names[row]
            found.append((nearness, _infeasible_node(diagnosis.nodes.names[row], status, missing)))
    return [node for _, node in sorted(found, key=lambda pair: pair[0])]


def _infeasible_node(name: str, status: Status, missing: dict[str, int]) -> dict[str, Any]:
    node: dict[str, Any] = {
        "name": name,
        "feasible": False,
        "plugin": status.plugin,
        "code": status.code.title,
        "reasons": list(status.reasons),
    }
    if missing:
        node["shortfall"] = {resource: format_resource(resource, amount) for resource, amount in missing.items()}
    return node


def _missing(pod: Pod, diagnosis: Diagnosis, row: int, status: Status) -> dict[str, int]:
    """How much of each resource the node lacks, for the reasons that are about resources."""
    node = diagnosis.nodes.node(row)
    missing = {}
    for reason in status.reasons:
        if reason == _FULL:
            missing[PODS] = int(node.pods_count + 1 - node.alloc_pods_count)
        elif reason.startswith(_SHORT_OF):
            resource = reason.removeprefix(_SHORT_OF)
            free = allocatable(node, resource) - requested(node, resource)
            missing[resource] = pod.requests.get(resource) - free
    # Room kept for pods nominated to the node can make it short although enough is free.
    return {resource: amount for resource, amount in missing.items() if amount > 0}


def _distance(missing: dict[str, int], pod: Pod) -> tuple[bool, float]:
    """How far a node is from fitting: without a number it is furthest, else the largest missing share counts."""
    shares = [amount / max(1, pod.requests.get(resource)) for resource, amount in missing.items()]
    return not shares, max(shares, default=0.0)
