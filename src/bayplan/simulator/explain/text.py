"""
An explanation for people: the verdict, why nodes were not suitable, what is missing, who would be best.

``bayplan explain`` prints ``as_text``; the report of ``simulate --explain`` takes the ``details``.
"""

from __future__ import annotations

from typing import Any

from bayplan.simulator.explain import devices, findings, plugin_numbers
from bayplan.simulator.explain.explanation import BOUND, SCHEDULABLE
from bayplan.text_layout import Style, listed, plain, table

MAX_NAMES = 3
"""How many nodes of a group are named before "and 12 more"."""

MAX_MISSES = 3


def as_text(document: dict[str, Any], *, top: int = 3, style: Style = plain, others: int = 0) -> str:
    """
    Everything there is to say, the verdict first; ``top`` nodes have their scores shown, ``others`` is how many pods
    fare the same.
    """
    return "\n".join([verdict(document, style, others), *details(document, top)])


def details(document: dict[str, Any], top: int = 3) -> list[str]:
    """What follows the verdict, line by line."""
    lines: list[str] = []
    known = plugin_numbers.as_lines(document, max(top, MAX_MISSES))
    claimed = devices.as_lines(document)
    for part in (
        _groups(document),
        _misses(document),
        claimed,
        findings.preemption(document),
        _scores(document, top),
        known,
    ):
        if part:
            lines += ["", *part]
    return lines


def verdict(document: dict[str, Any], style: Style = plain, others: int = 0) -> str:
    """The first line: which pod, and how it fares."""
    pod = f"{document['pod']['namespace']}/{document['pod']['name']}{f' and {others} more' if others else ''}"
    word, choice = style(document["verdict"]), document["choice"]
    if document["verdict"] == BOUND:
        return f"{pod}: {word} to {document['node']}{standing(document)}"
    if document["verdict"] == SCHEDULABLE:
        return f"{pod}: {word}, it would go to {choice['best']}{lead(choice)}"
    who = [f" (held by {document['gatedBy']})"] if "gatedBy" in document else []
    who += [f" (rejected by {document['rejectedBy']} on {choice['best']})"] if "rejectedBy" in document else []
    gate = "".join(who)
    return f"{pod}: {word}{gate}: {document['message']}"


def lead(choice: dict[str, Any]) -> str:
    """By how much the best node is ahead."""
    if choice["runnerUp"] is None:
        return ", the only node that fits"
    if choice["ties"] > 1:
        return f", one of {choice['ties']} nodes with the best score"
    return f", {choice['margin']} points ahead of {choice['runnerUp']}"


def standing(document: dict[str, Any]) -> str:
    """How the node of a bound pod would do if the choice were made now."""
    node, choice = document["node"], document["choice"]
    if "error" in document and not document["nodes"]:
        return f"; judging it anew failed: {document['error']}"
    own = next((each for each in document["nodes"] if each["name"] == node), None)
    if own is None:
        return f"; {document['message']}" if document["message"] else ""
    if not own["feasible"]:
        return f"; it would not be put there now: {', '.join(own['reasons'])}"
    if choice is not None and choice["best"] == node:
        return f"; still the best choice{lead(choice)}"
    best = next(each for each in document["nodes"] if each["name"] == choice["best"])
    if best["total"] == own["total"]:
        return f"; still one of the best, with as many points as {best['name']}"
    return f"; now {best['name']} would be better by {best['total'] - own['total']} points"


# -- parts --


def _groups(document: dict[str, Any]) -> list[str]:
    """Nodes with the same reasons together; the counts add up to all nodes."""
    groups = findings.groups(document)
    if all(group.fits for group in groups):
        return []
    rows = [
        [str(len(group.nodes)), group.plugin or "-", group.reason, listed(group.nodes, MAX_NAMES)] for group in groups
    ]
    rows.append([str(len(document["nodes"])), "", "nodes in all", ""])
    return table(["NODES", "PLUGIN", "REASON", "WHICH"], rows).splitlines()


def _misses(document: dict[str, Any]) -> list[str]:
    rows = [[name, lacks] for name, lacks in findings.misses(document)[:MAX_MISSES]]
    return table(["NEAREST MISS", "IT LACKS"], rows).splitlines() if rows else []


def _scores(document: dict[str, Any], top: int) -> list[str]:
    """The best nodes side by side, and the pod's own if it is not among them."""
    feasible = [node for node in document["nodes"] if node["feasible"]]
    if len(feasible) == 1 and feasible[0]["total"] is None:
        return [f"Nothing was scored: {feasible[0]['name']} is the only node that fits."]
    scored = [node for node in feasible if node["total"] is not None]
    shown = scored[:top] + [node for node in scored[top:] if node["name"] == document["node"]]
    if not shown:
        return []
    plugins = list(shown[0]["scores"])
    rows = [
        [plugin, f"x{shown[0]['scores'][plugin]['weight']}", *(_points(node["scores"][plugin]) for node in shown)]
        for plugin in plugins
    ]
    rows.append(["TOTAL", "", *(str(node["total"]) for node in shown)])
    return table(["SCORE", "WEIGHT", *(node["name"] for node in shown)], rows).splitlines()


def _points(score: dict[str, int]) -> str:
    """What counts, and the plugin's own number where that was another one."""
    if score["raw"] == score["normalized"]:
        return str(score["weighted"])
    return f"{score['weighted']} (raw {score['raw']})"
