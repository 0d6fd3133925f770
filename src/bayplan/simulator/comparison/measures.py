"""
What a run is judged by: pods without a node, balance, fragmentation, spread, nodes in use and their cost.

``comparing`` takes them at the end of each run; for all but ``bound`` less is better.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from bayplan.controllers.rebalancer.protection import belongs_to_its_node
from bayplan.framework.snapshot import NodeTable
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.simulator.report.summary import KIND_LABELS
from bayplan.simulator.what_if.condition import balance
from bayplan.simulator.world import World

BETTER_IF_MORE = ("bound",)


def of_nodes(world: World, prices: Mapping[str, float]) -> dict[str, Any]:
    """The measures of the cluster as it stands."""
    nodes = world.scheduler.cache.nodes
    pods = [pod for pod in world.cluster.living() if not pod.is_terminal]
    bound = [pod for pod in pods if pod.node_name and not belongs_to_its_node(pod)]
    used = sorted({pod.node_name for pod in bound} & world.workloads.nodes.keys())
    counts = np.asarray(nodes.pods_count)
    return {
        "balance": balance(nodes),
        "fragmentation": fragmentation(nodes, [pod for pod in pods if not belongs_to_its_node(pod)]),
        "podsPerNode": {
            "least": int(counts.min()) if len(counts) else 0,
            "mean": round(float(counts.mean()), 2) if len(counts) else 0.0,
            "most": int(counts.max()) if len(counts) else 0,
        },
        "spread": spread(world, bound),
        "nodesUsed": len(used),
        "cost": round(sum(_price(world.workloads.nodes[name], prices) for name in used), 6),
    }


def fragmentation(nodes: NodeTable, pods: Sequence[Pod]) -> float:
    """
    The share of free CPU that is of no use: on nodes where a pod of the workload does not fit by amounts, taken for
    every shape of pod and weighted by how many have it.
    """
    free_cpu = np.maximum(nodes.alloc_cpu_milli - nodes.req_cpu_milli, 0)
    free_memory = np.maximum(nodes.alloc_mem_bytes - nodes.req_mem_bytes, 0)
    has_slot = nodes.pods_count < nodes.alloc_pods_count
    total = int(free_cpu.sum())
    shapes = Counter((pod.requests.cpu_milli, pod.requests.memory_bytes) for pod in pods)
    if not total or not shapes:
        return 0.0
    stuck = 0.0
    for (cpu, memory), count in shapes.items():
        fits = (free_cpu >= cpu) & (free_memory >= memory) & has_slot
        stuck += count * float(free_cpu[~fits].sum()) / total
    return round(stuck / shapes.total(), 3)


def spread(world: World, pods: Iterable[Pod]) -> float:
    """For each workload the pods in its fullest zone minus those in its emptiest, on average; without zones by node."""
    nodes = world.workloads.nodes
    has_zones = any(node.zone for node in nodes.values())
    domains = {name: node.zone if has_zones else name for name, node in nodes.items()}
    counts: dict[tuple[str, str], Counter[str]] = {}
    for pod in pods:
        owner = world.workloads.owner(pod)
        if owner is not None and pod.node_name in domains:
            counts.setdefault((pod.namespace, owner), Counter())[domains[pod.node_name]] += 1
    every = set(domains.values())
    several = [each for each in counts.values() if each.total() > 1]
    if not several:
        return 0.0
    widths = [max(each.values()) - min(each[domain] for domain in every) for each in several]
    return round(sum(widths) / len(widths), 3)


def kinds_of_nodes(world: World) -> set[str]:
    """The instance types that there are."""
    return {kind for node in world.workloads.nodes.values() if (kind := _kind(node))}


def _price(node: Node, prices: Mapping[str, float]) -> float:
    return prices.get(_kind(node), 1.0)


def _kind(node: Node) -> str:
    return next((node.labels[label] for label in KIND_LABELS if node.labels.get(label)), "")


def better(runs: Sequence[dict[str, Any]]) -> dict[str, list[str]]:
    """For each measure the runs that do best, where they do not all do the same."""
    found: dict[str, list[str]] = {}
    for field in flat(runs[0]):
        values = {run["name"]: flat(run)[field] for run in runs}
        best = max(values.values()) if field in BETTER_IF_MORE else min(values.values())
        winners = [name for name, value in values.items() if value == best]
        if len(winners) < len(runs):
            found[field] = winners
    return found


JUDGED = (
    "bound", "pending", "preempted", "moved", "balance.cpu", "balance.memory", "fragmentation", "podsPerNode.most",
    "spread", "nodesUsed", "cost",
)  # fmt: skip


def flat(run: dict[str, Any]) -> dict[str, float]:
    """What runs are judged by, by the path of the field."""
    return {path: _at(run, path) for path in JUDGED}


def _at(run: dict[str, Any], path: str) -> float:
    value: Any = run
    for part in path.split("."):
        value = value[part]
    return float(value)
