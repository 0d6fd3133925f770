"""
A cluster as the page and the pictures show it: the ``Cluster`` of a ``View``, columns of nodes and of pods.

It is made of an engine's node table and of rows that say how each pod fares; so it is the same for a live cluster, a
simulated one and files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.framework.snapshot import NodeTable
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.resources import CPU, EPHEMERAL_STORAGE, MEMORY, PODS
from bayplan.plugins.resource_columns import allocatable, requested
from bayplan.simulator.report.simulation_report import PENDING
from bayplan.simulator.report.summary import node_kind
from bayplan.view.groupings import groupings
from bayplan.view.texts import LONGEST_MESSAGE, Strings, message, shown

READY, CORDONED, NOT_READY = "", "Cordoned", "NotReady"
MOST_RESOURCES = 40
"""More kinds of resources than that are not shown."""
MOST_EXPLAINED = 40
"""Groups of pending pods that have their explanation with them."""

Used = Mapping[str, Sequence[float | None]]
"""Real use of a resource, for each row of nodes; None where it is not known."""


@dataclass(frozen=True, slots=True)
class PodRow:
    """A pod, and how it fares."""

    pod: Pod
    state: str
    message: str = ""
    owner: str = ""
    """Who looks after it, such as Deployment/web."""
    attempts: int = 0
    bound_at: float | None = None
    """Seconds after the start, where that is known."""
    is_there: bool = True
    """Whether it counts on its node: a pod that is gone does not."""


def cluster_view(
    nodes: NodeTable,
    pods: Sequence[PodRow],
    *,
    name: str = "",
    summary: Mapping[str, int] | None = None,
    used: Used | None = None,
    explained: Callable[[PodRow], dict[str, Any] | None] = lambda row: None,
) -> dict[str, Any]:
    """
    The document.  ``summary`` adds to the counts, ``explained`` gives the ``PodView`` of the first pod of each group of
    pending ones.
    """
    strings = Strings()
    resources = _resources(nodes)
    objects = [nodes.object_at(row) for row in range(len(nodes))]
    divided = groupings(objects)
    return {
        "name": name,
        "summary": {**_counts(nodes, pods), **(summary or {})},
        "groupings": [shown(key) for key in divided],
        "resources": [shown(each) for each in resources],
        "nodes": _node_columns(nodes, objects, divided, resources, used, strings),
        **_pod_columns(nodes, pods, strings),
        "pending": pending_groups(pods, explained),
        "decisions": None,
        "strings": strings.values,
    }


def _counts(nodes: NodeTable, pods: Sequence[PodRow]) -> dict[str, int]:
    counts = {"nodes": len(nodes), "pods": len(pods)}
    for row in pods:
        state = row.state[:1].lower() + row.state[1:]
        counts[state] = counts.get(state, 0) + 1
    return counts


def _resources(nodes: NodeTable) -> list[str]:
    """CPU and memory, and whatever else a node has."""
    others: dict[str, None] = {}
    for row in range(len(nodes)):
        others |= dict.fromkeys(nodes.object_at(row).allocatable.scalars)
    more = [EPHEMERAL_STORAGE] if len(nodes) and requested(nodes, EPHEMERAL_STORAGE).any() else []
    return [CPU, MEMORY, *more, *sorted(others)][:MOST_RESOURCES]


def _node_columns(
    nodes: NodeTable,
    objects: Sequence[Node],
    divided: Sequence[str],
    resources: Sequence[str],
    used: Used | None,
    strings: Strings,
) -> dict[str, Any]:
    has = {shown(each): allocatable(nodes, each).tolist() for each in resources}
    return {
        "name": [shown(each) for each in nodes.names],
        "labels": {shown(key): strings.numbers(node.labels.get(key) for node in objects) for key in divided},
        "allocatable": {**has, PODS: nodes.alloc_pods_count.tolist()},
        "requested": {shown(each): requested(nodes, each).tolist() for each in resources},
        "used": None if used is None else {resource: list(values) for resource, values in used.items()},
        "pods": nodes.pods_count.tolist(),
        "state": strings.numbers(map(node_state, objects)),
        "taints": strings.numbers(map(_taints, objects)),
        "kind": strings.numbers(str(node_kind(node)[0][1]) for node in objects),
    }


def node_state(node: Node) -> str:
    """Whether a node takes pods: empty if it does."""
    if any(each.type == "Ready" and each.status != "True" for each in node.conditions):
        return NOT_READY
    return CORDONED if node.unschedulable else READY


def _taints(node: Node) -> str:
    return ", ".join(
        f"{each.key}={each.value}:{each.effect}" if each.value else f"{each.key}:{each.effect}" for each in node.taints
    )


def _pod_columns(nodes: NodeTable, pods: Sequence[PodRow], strings: Strings) -> dict[str, Any]:
    sets: dict[tuple[tuple[str, int], ...], int] = {}
    asked = [sets.setdefault(tuple(row.pod.requests.as_map().items()), len(sets)) for row in pods]
    return {
        "pods": {
            "namespace": strings.numbers(row.pod.namespace for row in pods),
            "name": [shown(row.pod.name) for row in pods],
            "owner": strings.numbers(row.owner for row in pods),
            "node": [_row_of(nodes, row) for row in pods],
            "state": strings.numbers(row.state for row in pods),
            "requests": asked,
            "message": strings.numbers((row.message for row in pods), LONGEST_MESSAGE),
            "attempts": [row.attempts for row in pods],
            "boundAt": [None if row.bound_at is None else round(row.bound_at, 3) for row in pods],
            "priority": [row.pod.priority for row in pods],
            "scheduler": strings.numbers(row.pod.scheduler_name for row in pods),
        },
        "requestSets": [{shown(name): amount for name, amount in each} for each in sets],
    }


def _row_of(nodes: NodeTable, row: PodRow) -> int:
    at = nodes.row_of(row.pod.node_name) if row.is_there and row.pod.node_name else None
    return -1 if at is None else at


def pending_groups(
    pods: Iterable[PodRow], explained: Callable[[PodRow], dict[str, Any] | None]
) -> list[dict[str, Any]]:
    """Pending pods of one owner that were told the same, the largest group first."""
    groups: dict[tuple[str, str, str], list[tuple[int, PodRow]]] = {}
    for number, row in enumerate(pods):
        if row.state == PENDING:
            owner = row.owner or row.pod.name
            groups.setdefault((row.pod.namespace, owner, row.message), []).append((number, row))
    largest = sorted(groups.values(), key=lambda members: -len(members))
    return [
        {
            "pods": [number for number, _ in members],
            "message": message(members[0][1].message),
            "view": explained(members[0][1]) if position < MOST_EXPLAINED else None,
        }
        for position, members in enumerate(largest)
    ]
