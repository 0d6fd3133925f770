"""
What the node lifecycle controller makes of a node's conditions: taints.

``timed_changes`` asks it for the nodes at the start of a simulation and for those that come or change later.  Taints
that are written on a node stay: they were taken from a cluster, or are there to try something out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping

from msgspec.structs import replace

from bayplan.objects.node import Node
from bayplan.objects.toleration import (
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY_TAINT_KEY,
    UNREACHABLE_TAINT_KEY,
    UNSCHEDULABLE_TAINT_KEY,
    Taint,
)

_PRESSURES = {
    "MemoryPressure": "node.kubernetes.io/memory-pressure",
    "DiskPressure": "node.kubernetes.io/disk-pressure",
    "PIDPressure": "node.kubernetes.io/pid-pressure",
    "NetworkUnavailable": "node.kubernetes.io/network-unavailable",
}
_UNREADY = {"False": NOT_READY_TAINT_KEY, "Unknown": UNREACHABLE_TAINT_KEY}

# Where most of a zone is not ready, the fault is probably not with the nodes, and no pod is evicted from them.
_MANY_UNREADY = 2
_LARGE_SHARE = 0.55
_LARGE_ZONE = 50


def tainted(nodes: Mapping[str, Node]) -> list[Node]:
    """The nodes, as they become, that the controller would taint."""
    quiet = _zones_left_alone(nodes.values())
    changed = []
    for node in nodes.values():
        wanted = list(_taints(node, may_evict=quiet is not None and _zone(node) not in quiet))
        known = {(taint.key, taint.effect) for taint in node.taints}
        missing = tuple(taint for taint in wanted if (taint.key, taint.effect) not in known)
        if missing:
            changed.append(node.evolve(spec=replace(node.spec, taints=(*node.taints, *missing))))
    return changed


def _taints(node: Node, *, may_evict: bool) -> Iterable[Taint]:
    if node.unschedulable:
        yield Taint(key=UNSCHEDULABLE_TAINT_KEY, effect=NO_SCHEDULE)
    for condition in node.conditions:
        if condition.type in _PRESSURES and condition.status == "True":
            yield Taint(key=_PRESSURES[condition.type], effect=NO_SCHEDULE)
        elif condition.type == "Ready" and condition.status in _UNREADY:
            key = _UNREADY[condition.status]
            yield Taint(key=key, effect=NO_SCHEDULE)
            if may_evict:
                yield Taint(key=key, effect=NO_EXECUTE)


def _zones_left_alone(nodes: Iterable[Node]) -> set[tuple[str, str]] | None:
    """Zones that no pod is evicted from; None for all of them, when not one node is ready anywhere."""
    sizes: Counter[tuple[str, str]] = Counter()
    unready: Counter[tuple[str, str]] = Counter()
    for node in nodes:
        sizes[_zone(node)] += 1
        unready[_zone(node)] += _is_unready(node)
    if sizes == unready:
        return None
    return {
        zone
        for zone, size in sizes.items()
        if size > unready[zone] > _MANY_UNREADY and unready[zone] / size >= _LARGE_SHARE and size <= _LARGE_ZONE
    }


def _is_unready(node: Node) -> bool:
    return any(each.type == "Ready" and each.status in _UNREADY for each in node.conditions)


def _zone(node: Node) -> tuple[str, str]:
    return node.region, node.zone
