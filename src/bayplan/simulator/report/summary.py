"""
Sums over a simulation: all of it, and by workload, by zone and by kind of node.

``simulation_report`` puts the totals into every document, and the rest where ``simulate --summary`` asks for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayplan.framework.snapshot import NodeTable, NodeView
from bayplan.objects.node import ZONE_LABELS, Node
from bayplan.objects.quantity import format_resource
from bayplan.objects.resources import CPU, MEMORY, Resources
from bayplan.text_layout import table

KIND_LABELS = (
    "node.kubernetes.io/instance-type", "beta.kubernetes.io/instance-type", "karpenter.sh/nodepool",
    "cloud.google.com/gke-nodepool", "eks.amazonaws.com/nodegroup", "kubernetes.azure.com/agentpool", "agentpool",
    "node.kubernetes.io/pool", "nodepool",
)  # fmt: skip
"""What tells kinds of nodes apart, the first that a node has: its machine, else the pool it comes from."""
SHAPE = "shape"
"""A node without such a label is told by what it has."""

Group = tuple[tuple[str, Any], ...]
"""The fields that the members of a group share."""


def amounts(by_name: Mapping[str, int]) -> dict[str, str]:
    """As quantities: CPU and memory always, the rest where there is some."""
    return {name: format_resource(name, amount) for name, amount in {CPU: 0, MEMORY: 0, **by_name}.items()}


def requested(node: NodeView) -> Resources:
    """What pods on a node ask for."""
    scalars = {name: node.scalar_req(name) for name in node.object.allocatable.scalars}
    return Resources(node.req_cpu_milli, node.req_mem_bytes, node.req_eph_bytes, 0, scalars)


def totals(nodes: NodeTable) -> dict[str, Any]:
    """What all nodes together have, and what is asked of them."""
    (total,) = _by_nodes(nodes, lambda node: ()) or [{"requested": amounts({}), "allocatable": amounts({})}]
    return {"requested": total["requested"], "allocatable": total["allocatable"]}


def summary(nodes: NodeTable, told: Sequence[tuple[dict[str, Any], Resources]]) -> dict[str, Any]:
    """``told`` are the pods as the document has them, each with what it asks for."""
    return {
        "byWorkload": _by_workload(told),
        "byZone": by_zone(nodes),
        "byNodeKind": _by_nodes(nodes, node_kind),
    }


def by_zone(nodes: NodeTable) -> list[dict[str, Any]]:
    """What the nodes of each zone have, and what is asked of them."""
    return _by_nodes(nodes, lambda node: (("zone", _zone(node)),))


def _by_workload(told: Iterable[tuple[dict[str, Any], Resources]]) -> list[dict[str, Any]]:
    """Pods without a controller stand together in their namespace."""
    states: dict[tuple[str, str | None], Counter[str]] = {}
    sums: dict[tuple[str, str | None], Counter[str]] = {}
    for pod, asked in told:
        key = pod["namespace"], pod["owner"]
        states.setdefault(key, Counter())[pod["state"]] += 1
        if pod["node"] and pod["state"] == "Bound":
            sums.setdefault(key, Counter()).update(asked.as_map())
    return [
        {
            "namespace": namespace,
            "workload": owner,
            "pods": counted.total(),
            "states": dict(counted),
            "requested": amounts(sums.get((namespace, owner), {})),
        }
        for (namespace, owner), counted in states.items()
    ]


def _by_nodes(nodes: NodeTable, group_of: Any) -> list[dict[str, Any]]:
    found: dict[Group, tuple[Counter[str], Counter[str], Counter[str]]] = {}
    for row in range(len(nodes)):
        node = nodes.node(row)
        counts, asked, had = found.setdefault(group_of(node.object), (Counter(), Counter(), Counter()))
        counts.update(nodes=1, pods=node.pods_count)
        asked.update(requested(node).as_map())
        had.update(node.object.allocatable.as_map())
    return [
        {
            **dict(group),
            "nodes": counts["nodes"],
            "pods": counts["pods"],
            "requested": amounts(asked),
            "allocatable": amounts(had),
        }
        for group, (counts, asked, had) in sorted(found.items(), key=lambda pair: str(pair[0]))
    ]


def _zone(node: Node) -> str | None:
    return next((node.labels[label] for label in reversed(ZONE_LABELS) if node.labels.get(label)), None)


def node_kind(node: Node) -> Group:
    """What kind of machine a node is, and by what that is told."""
    for label in KIND_LABELS:
        if node.labels.get(label):
            return ("nodeKind", node.labels[label]), ("by", label)
    has = amounts(node.allocatable.as_map())
    more = [f"{amount} {name}" for name, amount in has.items() if "/" in name]
    return ("nodeKind", ", ".join([f"{has[CPU]} cpu", f"{has[MEMORY]} memory", *more])), ("by", SHAPE)


# -- for people --


def as_text(document: dict[str, Any]) -> str:
    """A table each, and the sum of all nodes under the last."""
    states = list(dict.fromkeys(state for each in document["byWorkload"] for state in each["states"]))
    workloads = [
        [each["namespace"], each["workload"] or "-", str(each["pods"]),
         *(str(each["states"].get(state, 0)) for state in states),
         each["requested"][CPU], each["requested"][MEMORY]]
        for each in document["byWorkload"]
    ]  # fmt: skip
    zones = [[each["zone"] or "-", *_node_cells(each)] for each in document["byZone"]]
    kinds = [[each["nodeKind"], *_node_cells(each)] for each in document["byNodeKind"]]
    if kinds:
        counted = document["summary"]["nodes"], sum(each["pods"] for each in document["byNodeKind"])
        kinds.append(["TOTAL", *_node_cells({**document["totals"], "nodes": counted[0], "pods": counted[1]})])
    shown = [
        (["NAMESPACE", "WORKLOAD", "PODS", *(state.upper() for state in states), "CPU", "MEMORY"], workloads),
        (["ZONE", "NODES", "PODS", "CPU", "MEMORY"], zones),
        (["KIND OF NODE", "NODES", "PODS", "CPU", "MEMORY"], kinds),
    ]
    return "\n\n".join(table(header, rows) for header, rows in shown if rows)


def _node_cells(each: dict[str, Any]) -> list[str]:
    return [
        str(each["nodes"]), str(each["pods"]),
        *(f"{each['requested'][name]}/{each['allocatable'][name]}" for name in (CPU, MEMORY)),
    ]  # fmt: skip
