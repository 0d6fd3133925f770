"""Workload policies and moves, as reports and the page show them, from the documents of ``simulate`` and of plans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayplan.controllers.rebalancer.observed import POLICY
from bayplan.engine.scheduler import Scheduler
from bayplan.objects.third_party.kosmos import WorkloadPolicy
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
            "domains": [_domain(each) for each in policy["domains"]],
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


def _domain(domain: dict[str, Any]) -> Document:
    return {
        "name": shown(domain["name"]),
        "wanted": domain["desired"],
        "running": domain["current"],
        "ready": domain["ready"],
        "missing": max(0, domain["desired"] - domain["current"]),
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
