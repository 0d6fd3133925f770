"""
A cluster in numbers: how many pods run, what they ask for, and how evenly that is spread.

``scenario`` takes them before and after, ``compare`` for each configuration.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np

from bayplan.framework.snapshot import NodeTable
from bayplan.objects.resources import CPU, MEMORY
from bayplan.simulator.report import summary
from bayplan.simulator.report.simulation_report import BOUND, PENDING, state_of
from bayplan.simulator.world import World


def condition(world: World) -> dict[str, Any]:
    """The numbers of one moment."""
    nodes = world.scheduler.cache.nodes
    living = [record for record in world.cluster.records.values() if not record.is_gone]
    states = Counter(state_of(world, record)[0] for record in living)
    return {
        "nodes": len(nodes),
        "pods": len(living),
        "bound": states[BOUND],
        "pending": states[PENDING],
        **summary.totals(nodes),
        "balance": balance(nodes),
        "byZone": summary.by_zone(nodes),
    }


def shares(nodes: NodeTable) -> dict[str, np.ndarray]:
    """What is asked of each node, as a share of what it has."""
    asked = {CPU: nodes.req_cpu_milli, MEMORY: nodes.req_mem_bytes}
    had = {CPU: nodes.alloc_cpu_milli, MEMORY: nodes.alloc_mem_bytes}
    return {name: asked[name] / np.maximum(had[name], 1) for name in asked}


def balance(nodes: NodeTable) -> dict[str, float]:
    """The standard deviation of these shares: 0 where all nodes are equally full."""
    return {name: round(float(share.std()), 3) if len(share) else 0.0 for name, share in shares(nodes).items()}
