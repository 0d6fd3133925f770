"""
One pod's page as a document: in one sentence why it waits or why it is where it is, and everything behind that.

``pod_view`` makes the ``PodView`` of an explanation; reports and the page in the browser show it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from bayplan.framework.snapshot import NodeTable
from bayplan.objects.pod import Pod
from bayplan.objects.quantity import format_resource
from bayplan.objects.resources import PODS
from bayplan.plugins.resource_columns import allocatable, requested
from bayplan.simulator.explain import findings
from bayplan.simulator.explain.explanation import BOUND, ERROR, SCHEDULABLE, WAITING
from bayplan.simulator.explain.findings import ReasonGroup
from bayplan.simulator.explain.text import lead, standing
from bayplan.view.texts import message, shown

MOST_NAMES = 20
MOST_MISSES = 5
MOST_SCORED = 5
MOST_GROUPS = 50


def pod_view(
    explanation: dict[str, Any],
    pod: Pod,
    nodes: NodeTable,
    *,
    owner: str = "",
    command: str = "",
    attempts: Sequence[Mapping[str, Any]] = (),
    policy: Mapping[str, Any] | None = None,
) -> dict[str, Any]:
    """
    The document of one pod.

    Args:
        explanation: what ``explain`` says of it.
        nodes: those it was judged against, for what is free on them.
        command: what to type to be told the same.
        attempts: what it was told when, as ``at``, ``result``, ``node`` and ``message``.
        policy: the workload policy that governs it, as ``policies.policy_of`` tells it.
    """
    groups = findings.groups(explanation)
    blocker = _blocker(explanation, groups)
    bars = _bars(explanation, pod, nodes)
    return {
        "namespace": shown(pod.namespace),
        "name": shown(pod.name),
        "owner": shown(owner),
        "verdict": explanation["verdict"],
        "node": shown(explanation["node"]) if explanation["node"] else None,
        "sentence": message(sentence(explanation, blocker, bars)),
        "message": message(explanation["message"]),
        "blocker": blocker,
        "bars": bars,
        "groups": [_group(each) for each in groups[:MOST_GROUPS]],
        "nearest": [
            {"node": shown(node), "text": f"lacks {shown(lacks)}"}
            for node, lacks in findings.misses(explanation)[:MOST_MISSES]
        ],
        "help": [message(each) for each in _help(explanation)],
        "preemption": _preemption(explanation),
        "claims": _claims(explanation),
        "gang": None,
        "policy": policy,
        "scores": _scores(explanation),
        "attempts": [{**each, "message": message(each["message"])} for each in attempts],
        "command": command,
    }


# -- the one sentence --


def sentence(explanation: dict[str, Any], blocker: dict[str, Any] | None, bars: Sequence[dict[str, Any]]) -> str:
    """Why it waits, or why it is where it is."""
    verdict, choice = explanation["verdict"], explanation["choice"]
    if verdict == BOUND:
        return f"It is on {explanation['node']}{standing(explanation)}."
    if verdict == SCHEDULABLE:
        return f"It would go to {explanation['node']}{lead(choice)}."
    if verdict == WAITING:
        return f"It waits: {explanation['message']}."
    if verdict == ERROR:
        return f"Nobody knows: a plugin failed: {explanation['message']}"
    if "gatedBy" in explanation:
        return f"It waits: {explanation['gatedBy']} holds it back: {explanation['message']}."
    if "rejectedBy" in explanation:
        return f"It waits: {explanation['rejectedBy']} refuses it on {choice['best']}: {explanation['message']}"
    if blocker is None:
        return f"It waits: {explanation['message']}"
    total = len(explanation["nodes"])
    some = f"no node of {total}" if blocker["nodes"] == total else f"{blocker['nodes']} of {total} nodes"
    short = _short_of(blocker, bars)
    if short is None:
        verb = "will do" if blocker["nodes"] == total else "are refused"
        return f"It waits: {some} {verb}: {blocker['reason']} ({blocker['plugin']})."
    asked, free = (format_resource(short["resource"], short[key]) for key in ("requested", "free"))
    verb = "has" if blocker["nodes"] == total else "lack"
    what = f"enough {short['resource']}" if blocker["nodes"] == total else short["resource"]
    most = f"the most that one has free is {free} ({short['node']})"
    return f"It waits: {some} {verb} {what}; it asks for {asked}, and {most}."


def _short_of(blocker: dict[str, Any], bars: Sequence[dict[str, Any]]) -> dict[str, Any] | None:
    """The resource that the blocker is about, if it is about one and no node has enough of it."""
    named = (bar for bar in bars if f"Insufficient {bar['resource']}" in blocker["reason"].split(", "))
    return next((bar for bar in named if bar["free"] < bar["requested"]), None)


def _blocker(explanation: dict[str, Any], groups: Sequence[ReasonGroup]) -> dict[str, Any] | None:
    """
    What keeps it from a node: what most of the nodes say that could take it if they had more, or if others left; only
    if there are none, what most nodes say.
    """
    if "gatedBy" in explanation:
        return {"plugin": explanation["gatedBy"], "reason": message(explanation["message"]), "nodes": 0}
    if explanation["node"] is not None:
        return None
    refused = [each for each in groups if not each.fits]
    chosen = next((each for each in refused if each.is_near), refused[0] if refused else None)
    if chosen is None:
        return None
    return {"plugin": chosen.plugin, "reason": message(chosen.reason), "nodes": len(chosen.nodes)}


# -- what is behind it --


def _bars(explanation: dict[str, Any], pod: Pod, nodes: NodeTable) -> list[dict[str, Any]]:
    """
    What it asks for, and the most that one node has free: of nodes that could take it if they had enough, if there are
    any.
    """
    judged = explanation["nodes"]
    open_nodes = [each for each in judged if each["feasible"] or each.get("shortfall")] or judged
    rows = [row for row in (nodes.row_of(each["name"]) for each in open_nodes) if row is not None]
    found = []
    own = nodes.row_of(pod.node_name) if pod.node_name else None
    for resource, asked in pod.requests.as_map().items() if rows else ():
        if resource == PODS:
            continue
        free = (allocatable(nodes, resource) - requested(nodes, resource))[rows]
        if own in rows:
            free[rows.index(own)] += asked  # a pod on a node is judged as if it were not there yet
        at = int(np.argmax(free))
        found.append(
            {
                "resource": shown(resource),
                "requested": asked,
                "free": max(0, int(free[at])),
                "node": shown(nodes.names[rows[at]]),
            }
        )
    return found


def _group(group: ReasonGroup) -> dict[str, Any]:
    return {
        "plugin": group.plugin,
        "reason": message(group.reason),
        "nodes": len(group.nodes),
        "which": [shown(name) for name in group.nodes[:MOST_NAMES]],
    }


def _help(explanation: dict[str, Any]) -> list[str]:
    """What would let it run."""
    nearest = findings.misses(explanation)[:1]
    helping = [f"It fits if {node} has {lacks.partition(' of the ')[0]} more." for node, lacks in nearest]
    for node in explanation["nodes"]:
        for remedy in node.get("wouldFitIf", ()):
            helping.append(f"On {node['name']} its claims would fit if {remedy['text']}.")
    return [*helping[:MOST_MISSES], *findings.preemption(explanation)]


def _preemption(explanation: dict[str, Any]) -> dict[str, Any] | None:
    asked = explanation["preemption"]
    if asked is None:
        return None
    return {"node": shown(asked["node"]), "victims": [shown(each) for each in asked["victims"][:MOST_NAMES]]}


def _claims(explanation: dict[str, Any]) -> list[dict[str, Any]]:
    """Its claims, with the devices it gets on its node, or without where a node lacks them."""
    own = (node for node in explanation["nodes"] if node["name"] == explanation["node"])
    chosen: dict[str, Any] = next(own, {})
    given: dict[str, list[str]] = {}
    for each in chosen.get("devices", ()):
        device = "/".join(filter(None, (each["driver"], each["pool"], each["device"])))
        given.setdefault(each["claim"], []).append(shown(device))
    lacking = {each["claim"]: None for node in explanation["nodes"] for each in node.get("missing", ()) if not chosen}
    told = [{"name": shown(name), "state": "given", "devices": devices} for name, devices in given.items()]
    return told + [{"name": shown(name), "state": "missing", "devices": []} for name in lacking if name not in given]


def _scores(explanation: dict[str, Any]) -> dict[str, Any] | None:
    """The best nodes, and its own, plugin by plugin."""
    scored = [node for node in explanation["nodes"] if node["feasible"] and node.get("scores")]
    own = [node for node in scored[MOST_SCORED:] if node["name"] == explanation["node"]]
    nodes = [*scored[:MOST_SCORED], *own]
    if not nodes:
        return None
    plugins = list(nodes[0]["scores"])
    return {
        "plugins": [{"name": each, "weight": nodes[0]["scores"][each]["weight"]} for each in plugins],
        "nodes": [
            {
                "name": shown(node["name"]),
                "total": node["total"],
                "scores": [node["scores"][each]["weighted"] for each in plugins],
            }
            for node in nodes
        ],
    }
