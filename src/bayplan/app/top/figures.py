"""
What ``bayplan top`` shows, as a document: the busiest nodes, the queue, why pods are pending, binds a second.

``top_document`` makes it from the same ``Cluster`` that the page in the browser draws; ``app.top.screen`` shows it.
"""

from __future__ import annotations

from typing import Any

from bayplan.objects.resources import CPU, MEMORY, PODS
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.report.simulation_report import GATED, PENDING

MOST_NODES = 500
"""The busiest ones; nobody reads more in a terminal."""


def top_document(cluster: dict[str, Any], binds_per_second: float) -> dict[str, Any]:
    """The document ``kind: Top``."""
    nodes = sorted(_nodes(cluster), key=lambda node: (-max(node["cpu"], node["memory"]), node["name"]))
    return {
        "apiVersion": API_VERSION,
        "kind": "Top",
        "summary": cluster["summary"],
        "bindsPerSecond": round(binds_per_second, 1),
        "queue": _queue(cluster),
        "nodes": nodes[:MOST_NODES],
        "pending": [_group(cluster, each) for each in cluster["pending"]],
    }


def _nodes(cluster: dict[str, Any]) -> list[dict[str, Any]]:
    nodes, strings = cluster["nodes"], cluster["strings"]
    has, asked = nodes["allocatable"], nodes["requested"]
    return [
        {
            "name": name,
            "cpu": _share(asked[CPU][row], has[CPU][row]),
            "memory": _share(asked[MEMORY][row], has[MEMORY][row]),
            "pods": nodes["pods"][row],
            "mostPods": has[PODS][row],
            "state": strings[nodes["state"][row]] or "Ready",
        }
        for row, name in enumerate(nodes["name"])
    ]


def _share(asked: int, has: int) -> float:
    """Of 1; all of it where pods ask for what the node does not have."""
    return round(asked / has, 3) if has else float(asked > 0)


def _queue(cluster: dict[str, Any]) -> dict[str, int]:
    """Pods that wait: not tried yet as far as they show, tried and told why not, held by gates."""
    pods, strings = cluster["pods"], cluster["strings"]
    waiting = [row for row, state in enumerate(pods["state"]) if strings[state] == PENDING]
    told = sum(bool(strings[pods["message"][row]]) for row in waiting)
    gated = sum(strings[state] == GATED for state in pods["state"])
    return {"new": len(waiting) - told, "unschedulable": told, "gated": gated}


def _group(cluster: dict[str, Any], group: dict[str, Any]) -> dict[str, Any]:
    pods, strings = cluster["pods"], cluster["strings"]
    first = group["pods"][0]
    return {
        "pods": len(group["pods"]),
        "owner": strings[pods["owner"][first]],
        "example": f"{strings[pods['namespace'][first]]}/{pods['name'][first]}",
        "message": group["message"],
    }
