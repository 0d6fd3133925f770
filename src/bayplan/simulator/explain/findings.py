"""
What can be read out of an explanation: nodes by reason, the nearest misses, and whether preemption would help.

``text`` prints it, and ``view.pod_view`` shows it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bayplan.framework.status import Code
from bayplan.simulator.explain.explanation import UNSCHEDULABLE

FITS = "fits"


@dataclass(frozen=True, slots=True)
class ReasonGroup:
    """Nodes of which the same was said."""

    plugin: str
    """Empty where no plugin said no."""
    reason: str
    nodes: list[str]
    fits: bool = False
    is_near: bool = False
    """Whether more of something, or another pod that goes, would change it."""


def groups(document: dict[str, Any]) -> list[ReasonGroup]:
    """Nodes with the same reasons together, those that fit first; the counts add up to all nodes."""
    found: dict[tuple[str, str], ReasonGroup] = {}
    fits = [node["name"] for node in document["nodes"] if node["feasible"]]
    for node in document["nodes"]:
        if not node["feasible"]:
            key = node.get("plugin") or "", ", ".join(node["reasons"])
            is_near = "shortfall" in node or node.get("code") == Code.UNSCHEDULABLE.title
            found.setdefault(key, ReasonGroup(*key, [], is_near=is_near)).nodes.append(node["name"])
    refused = sorted(found.values(), key=lambda group: -len(group.nodes))
    return [*([ReasonGroup("", FITS, fits, fits=True)] if fits else []), *refused]


def misses(document: dict[str, Any]) -> list[tuple[str, str]]:
    """Nodes that only lack an amount of something, the nearest first, and how much that is."""
    if document["verdict"] != UNSCHEDULABLE:
        return []
    near = (node for node in document["nodes"] if node.get("shortfall"))
    return [(node["name"], ", ".join(_lack(document, *each) for each in node["shortfall"].items())) for node in near]


def _lack(document: dict[str, Any], resource: str, amount: str) -> str:
    asked = document["requests"].get(resource)
    return f"{amount} {resource}" + (f" of the {asked} asked for" if asked is not None else "")


def preemption(document: dict[str, Any]) -> list[str]:
    """Whether it would help, in a sentence; nothing where that is not the question."""
    if document["verdict"] != UNSCHEDULABLE or "gatedBy" in document or "rejectedBy" in document:
        return []
    if "error" in document:
        return ["Nobody knows whether preemption would help: a plugin failed."]
    asked = document["preemption"]
    if asked is None:
        return ["Preemption would not help."]
    return [f"Preemption would help: without {', '.join(asked['victims'])} it fits on {asked['node']}."]
