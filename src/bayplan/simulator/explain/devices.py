"""The devices that nodes would give a pod, or what keeps them back, as part of an explanation and as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from bayplan.engine.what_if import WhatIf
from bayplan.framework.snapshot import NodeView
from bayplan.framework.status import Status
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources.binding import Taken
from bayplan.plugins.dynamic_resources.device_score.args import RuleArgs
from bayplan.plugins.dynamic_resources.device_score.merit import Merit
from bayplan.plugins.dynamic_resources.plugin import DynamicResources
from bayplan.text_layout import table

MOST_NODES = 3
"""Nodes whose devices are told to people and for which changes are imagined, those that come nearest first."""


def add(document: dict[str, Any], imagined: WhatIf, pod: Pod) -> dict[str, Any]:
    """The document with ``devices`` at nodes that can serve the pod's claims, and ``missing`` at those that cannot."""
    profile = imagined.profile(pod.scheduler_name)
    plugin = profile.instances.get(DynamicResources.name) if profile is not None else None
    may_use = pod.spec.resource_claims or pod.requests.scalars
    if not isinstance(plugin, DynamicResources) or not may_use:
        return document
    nodes = imagined.cache.nodes
    with imagined.seen_by_plugins():
        for node in document["nodes"]:
            row = nodes.row_of(node["name"])
            if row is not None:
                node |= _told(plugin, pod, nodes.node(row), is_feasible=bool(node["feasible"]))
        for node in _nearest(document)[:MOST_NODES]:
            row = nodes.row_of(node["name"])
            if row is not None:
                remedies = plugin.would_fit_if(pod, nodes.node(row))
                node |= {"wouldFitIf": [each.as_dict() for each in remedies.found], "changesTried": remedies.tried}
    return document


def _told(plugin: DynamicResources, pod: Pod, node: NodeView, *, is_feasible: bool) -> dict[str, Any]:
    given = plugin.given(pod, node)
    if isinstance(given, Status):
        missing = plugin.missing(pod, node)
        return {"missing": [each for each in missing if each["short"]] or missing} if missing else {}
    devices = [*_devices(given)]
    if not is_feasible or not devices:
        return {}
    merit = plugin.merit(pod, node)
    return {"devices": devices, **({} if merit is None else {"deviceScore": _scored(merit, plugin.score_rules)})}


def _scored(merit: Merit, rules: Sequence[RuleArgs]) -> dict[str, Any]:
    """What DeviceScore says of the devices, and whether there may be better ones."""
    said = [
        {"rule": rule.name, "score": score, "weight": rule.weight}
        for rule, score in zip(rules, merit.rules, strict=True)
    ]
    return {"score": merit.score, "rules": said, "steps": merit.steps, "best": merit.is_best}


def _devices(given: Iterable[Taken]) -> Iterator[dict[str, str]]:
    """What claims are given, or have already."""
    for taken in given:
        results = taken.claim.results if taken.allocation is None else taken.allocation.devices.results
        for each in results or ():
            where = {"driver": each.driver, "pool": each.pool, "device": each.device}
            yield {"claim": taken.claim.key, "request": each.request, **where}


def as_lines(document: dict[str, Any]) -> list[str]:
    """What the pod would be given on its node; else which devices the nearest nodes have and what keeps each."""
    chosen = next((node for node in document["nodes"] if node["name"] == document["node"]), None)
    if chosen is not None and chosen.get("devices"):
        rows = [[each["claim"], each["request"], _named(each)] for each in chosen["devices"]]
        given = table(["CLAIM", "REQUEST", f"DEVICE ON {chosen['name']}"], rows).splitlines()
        return given + _score_lines(chosen.get("deviceScore"))
    short = _nearest(document)
    lines: list[str] = []
    for node in short[:MOST_NODES]:
        lines += [*([""] if lines else []), *_node_lines(node)]
    if len(short) > MOST_NODES:
        lines += ["", f"and {len(short) - MOST_NODES} more nodes without the devices"]
    return lines


def _score_lines(scored: dict[str, Any] | None) -> list[str]:
    if scored is None:
        return []
    rules = ", ".join(f"{each['rule']} {each['score']}" for each in scored["rules"])
    steps = f"{scored['steps']} step" + ("" if scored["steps"] == 1 else "s")
    end = f"none is better ({steps})" if scored["best"] else f"the search ended after {steps}: others may be better"
    return ["", f"DeviceScore of these devices: {scored['score']} of 100 ({rules}); {end}"]


def _node_lines(node: dict[str, Any]) -> Iterator[str]:
    for lacking in node["missing"]:
        yield f"{node['name']} cannot meet request {lacking['request']} of claim {lacking['claim']}:"
        devices = lacking["devices"]
        if not devices:
            yield "  it has no devices"
        for why, count in Counter(each["why"] for each in devices).items():
            named = [_named(each) for each in devices if each["why"] == why]
            shown = named[0] if count == 1 else f"{count} devices, {named[0]} first"
            yield f"  {shown}: {why}"
    yield from _would_fit_if(node)


def _would_fit_if(node: dict[str, Any]) -> Iterator[str]:
    """What alone would do; each was tried in the imagination."""
    for remedy in node.get("wouldFitIf", ()):
        count = remedy.get("count")
        begin = "" if count is None else f"{count} more device{' is' if count == 1 else 's are'} missing: "
        yield f"  {begin}the claims would fit if {remedy['text']}"
    if node.get("changesTried") and not node["wouldFitIf"]:
        yield f"  no change would do: {node['changesTried']} were tried"


def _nearest(document: dict[str, Any]) -> list[dict[str, Any]]:
    return sorted((node for node in document["nodes"] if node.get("missing")), key=_distance)


def _distance(node: dict[str, Any]) -> tuple[int, int]:
    """Nodes that are short of fewer devices come first, and of those the ones with more that would do."""
    short = sum(lacking["short"] for lacking in node["missing"])
    selected = sum(each["selected"] for lacking in node["missing"] for each in lacking["devices"])
    return short, -selected


def _named(device: dict[str, str]) -> str:
    return "/".join(filter(None, (device["driver"], device["pool"], device["device"])))
