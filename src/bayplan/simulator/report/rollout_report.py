"""
Rollouts in the end: how many pods are of the newest template, how many of earlier ones, and whether it goes on.

``simulation_report`` and ``what_if.scenario`` show it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayplan.objects import kinds
from bayplan.simulator.world import World
from bayplan.text_layout import table


def rollouts(world: World) -> list[dict[str, Any]]:
    """Every workload that got another template and is still there."""
    found = []
    for thing in world.changes.rollouts.begun.values():
        if not world.workloads.knows(thing):
            continue
        pods = world.workloads.pods_of(thing, world.cluster)
        new = [pod for pod in pods if world.workloads.is_newest(thing, pod)]
        found.append(
            {
                "namespace": thing.namespace,
                "owner": f"{kinds.kind_of(thing)}/{thing.name}",
                "complete": world.workloads.is_rolled(thing, world.cluster),
                "new": len(new),
                "newBound": sum(bool(pod.node_name) for pod in new),
                "old": len(pods) - len(new),
            }
        )
    return found


def as_text(told: Sequence[dict[str, Any]]) -> str:
    if not told:
        return ""
    return table(["ROLLOUT", "", "NEW", "NEW, PENDING", "OLD"], [_row(each) for each in told])


def _row(each: dict[str, Any]) -> list[str]:
    waiting = each["new"] - each["newBound"]
    verdict = "complete" if each["complete"] else "stuck" if waiting else "under way"
    name = f"{each['namespace']}/{each['owner']}"
    return [name, verdict, str(each["newBound"]), str(waiting), str(each["old"])]
