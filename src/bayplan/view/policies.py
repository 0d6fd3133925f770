"""Workload policies and moves, as reports and the page show them, from the documents of ``simulate`` and of plans."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from bayplan.view.documents import Document
from bayplan.view.texts import message, shown

MOST_MOVES = 5000


def policies_of(told: Iterable[dict[str, Any]]) -> list[Document]:
    """What is wanted in each domain, what is there, and what is missing."""
    return [
        {
            "namespace": shown(policy["namespace"]),
            "name": shown(policy["name"]),
            "topologyKey": shown(policy.get("topologyKey", "")),
            "domains": [_domain(each) for each in policy["domains"]],
            "conditions": [
                {"type": each["type"], "status": each["status"], "reason": shown(each["reason"]),
                 "message": message(each["message"])}
                for each in policy.get("conditions", ())
            ],
        }
        for policy in told
    ]  # fmt: skip


def _domain(domain: dict[str, Any]) -> Document:
    return {
        "name": shown(domain["name"]),
        "wanted": domain["desired"],
        "running": domain["current"],
        "ready": domain["ready"],
        "missing": max(0, domain["desired"] - domain["current"]),
    }


def moves_of(told: Iterable[dict[str, Any]], namespace: str = "") -> list[Document]:
    """Pods and the nodes they leave and come to."""
    return [
        {
            "at": each.get("at"),
            "namespace": shown(each.get("namespace", namespace)),
            "pod": shown(each["pod"]),
            "from": shown(each["fromNode"]),
            "to": shown(each["toNode"]),
            "why": message(each["why"]),
        }
        for each in list(told)[:MOST_MOVES]
    ]
