"""
The rebalancer's part of a simulation's report: its moves, and how the policies stand in the end.  For
``simulation_report``.
"""

from __future__ import annotations

from typing import Any

from bayplan.objects.third_party.kosmos import WorkloadPolicy
from bayplan.simulator.controllers.workloads import Workloads
from bayplan.simulator.rebalancer import Moved, Rebalancing
from bayplan.text_layout import table


def document(rebalancing: Rebalancing, workloads: Workloads) -> dict[str, Any]:
    """The fields ``moves`` and ``policies``."""
    return {
        "moves": [_move(moved, workloads) for moved in rebalancing.moves],
        "policies": [_policy(policy) for policy in rebalancing.observed.policies()],
    }


def _move(moved: Moved, workloads: Workloads) -> dict[str, Any]:
    move = moved.move
    return {
        "at": round(moved.at, 3),
        "policy": moved.policy.key,
        "namespace": move.pod.namespace,
        "pod": move.pod.name,
        "owner": workloads.owner(move.pod),
        "fromDomain": move.source,
        "fromNode": move.pod.node_name,
        "toDomain": move.target,
        "toNode": move.node,
        "why": move.why,
    }


def _policy(policy: WorkloadPolicy) -> dict[str, Any]:
    status = policy.status
    return {
        "namespace": policy.namespace,
        "name": policy.name,
        "domains": [
            {
                "name": each.name,
                "desired": each.desired,
                "current": each.current,
                "ready": each.ready,
                "pending": each.pending,
            }
            for each in status.domains or ()
        ],
        "conditions": [
            {"type": each.type, "status": each.status, "reason": each.reason, "message": each.message}
            for each in status.conditions or ()
        ],
    }


def as_text(moves: list[dict[str, Any]]) -> str:
    """For people: one line a move."""
    header = ["AT", "POLICY", "MOVED", "FROM", "TO", "WHY"]
    rows = [
        [f"{each['at']:g}s", each["policy"], each["pod"], each["fromDomain"], each["toDomain"], each["why"]]
        for each in moves
    ]
    return table(header, rows)
