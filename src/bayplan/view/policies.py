"""Workload policies and moves, as reports and the page show them, from the documents of ``simulate`` and of plans."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bayplan.controllers.rebalancer.observed import POLICY, Observed
from bayplan.controllers.rebalancer.survey import Surveyor
from bayplan.engine.scheduler import Scheduler
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.plugins.leaf_node_workload_policy.reading import asks, policy_name
from bayplan.view.documents import Document
from bayplan.view.texts import message, shown

MOST_MOVES = 5000


def policies_of(told: Iterable[dict[str, Any]], engine: Scheduler) -> list[Document]:
    """What is wanted in each domain, what is there, and what is missing; ``engine`` knows the policies themselves."""
    return [
        {
            "namespace": shown(policy["namespace"]),
            "name": shown(policy["name"]),
            "topologyKey": shown(_topology_key(policy, engine)),
            "domains": [
                _domain(each["name"], each["desired"], each["current"], each["ready"]) for each in policy["domains"]
            ],
            "conditions": [
                {"type": each["type"], "status": each["status"], "reason": shown(each["reason"]),
                 "message": message(each["message"])}
                for each in policy.get("conditions") or [_standing(policy)]
            ],
        }
        for policy in told
    ]  # fmt: skip


def _topology_key(policy: dict[str, Any], engine: Scheduler) -> str:
    known = engine.cache.objects.get(POLICY, policy["namespace"], policy["name"])
    return known.spec.topology_key if isinstance(known, WorkloadPolicy) else ""


def _standing(policy: dict[str, Any]) -> dict[str, Any]:
    """How a policy stands that nobody has written the status of, as a plan tells it."""
    is_satisfied = "True" if policy.get("satisfied") else "False"
    told = {each: policy.get(each, "") for each in ("reason", "message")}
    return {"type": "Satisfied", "status": is_satisfied, **told}


def policy_of(pod: Pod, observe: Callable[[], Observed]) -> Document | None:
    """
    The policy that governs a pod, how it stands now, and the domain that the pod is in; None if there is none.

    Args:
        observe: the cluster; it is asked for only if the pod names a policy, since most pods name none.
    """
    name = policy_name(pod) if asks(pod.template) else None
    if not isinstance(name, str):
        return None
    observed = observe()
    policy = observed.policy(pod.namespace, name)
    if policy is None:
        return None
    survey = Surveyor(observed).survey(policy)
    if survey.rules is not None and not survey.rules.selector.matches(pod.labels):
        return None  # it names a policy that is not for it, and its status says so
    key = policy.spec.topology_key
    domain = observed.domain_of(pod, key)
    return {
        "namespace": shown(policy.namespace),
        "name": shown(policy.name),
        "topologyKey": shown(key),
        "domain": None if domain is None else shown(domain),
        "domains": [_domain(each.name, each.desired, each.current, each.ready) for each in survey.domains],
    }


def _domain(name: str, desired: int, current: int, ready: int) -> Document:
    return {
        "name": shown(name),
        "wanted": desired,
        "running": current,
        "ready": ready,
        "missing": max(0, desired - current),
    }


def moves_of(told: Iterable[dict[str, Any]]) -> list[Document]:
    """Pods and the nodes they leave and come to, in the order in which that happens."""
    return [
        {
            "at": each.get("at", each.get("step")),
            "namespace": shown(each["namespace"]),
            "pod": shown(each["pod"] if "pod" in each else each["name"]),
            "from": shown(each["fromNode"] if "fromNode" in each else each["from"]),
            "to": shown(each["toNode"] if "toNode" in each else each["to"]),
            "why": message(each.get("why", "")),
        }
        for each in list(told)[:MOST_MOVES]
    ]
