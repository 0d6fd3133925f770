"""Parts of View documents that are the same in all tests of the page."""

from __future__ import annotations

import math
from typing import Any

TIMELINE: dict[str, Any] = {
    "unit": "s",
    "at": list(range(60)),
    "series": [
        {"name": "waiting", "values": [max(0, 40 - abs(20 - at) * 2) for at in range(60)]},
        {"name": "bound", "values": [min(168, at * 5) for at in range(60)]},
        {"name": "preempted", "values": [at // 20 for at in range(60)]},
    ],
    "notes": [{"at": 20, "text": "node-0009 is not ready"}, {"at": 45, "text": "zone-a is back"}],
    "load": [
        {"node": f"node-{row:04}", "cpuUsed": [abs(math.sin((at + row) / 9)) for at in range(60)], "every": 1}
        for row in range(12)
    ],
}

PLACEMENT: dict[str, Any] = {
    "placement": {"namespace": "fleet", "name": "frontends"},
    "decisions": [
        {"clusterName": f"eu-{zone}-{number}", "reason": "first in its zone", "score": 80.0 - number, "replicas": 4}
        for zone in "ab"
        for number in (1, 2)
    ],
    "unscheduled": 1,
    "conditions": [
        {
            "type": "PlacementSatisfied",
            "status": "False",
            "reason": "NotAllDecisionsScheduled",
            "message": "1 cluster is missing",
        }
    ],
    "filters": [{"name": "Predicate", "kept": 7, "dropped": 2, "droppedClusters": ["us-a-1", "us-a-2"]}],
    "byRegion": [
        {
            "region": "eu",
            "zones": [
                {"zone": "eu-a", "clusters": 3, "chosen": ["eu-a-1", "eu-a-2"]},
                {"zone": "eu-b", "clusters": 4, "chosen": ["eu-b-1", "eu-b-2"]},
            ],
        },
        {"region": "us", "zones": [{"zone": "us-a", "clusters": 2, "chosen": []}]},
    ],
}

POLICY: dict[str, Any] = {
    "namespace": "shop",
    "name": "checkout",
    "topologyKey": "topology.kubernetes.io/zone",
    "domains": [
        {"name": "zone-a", "wanted": 6, "running": 8, "ready": 8, "missing": 0},
        {"name": "zone-b", "wanted": 3, "running": 1, "ready": 1, "missing": 2},
    ],
    "conditions": [{"type": "Satisfied", "status": "False", "reason": "Uneven", "message": "zone-b has 2 too few"}],
}

TABLE: dict[str, Any] = {
    "title": "What to add",
    "columns": ["kind of node", "nodes", "price an hour", "pods left"],
    "rows": [["small (8 cpu)", 6, 1.44, 0], ["large (16 cpu)", 3, 1.2, 0], ["gpu (32 cpu)", 2, 4.1, 0]],
    "best": [[1, 2]],
}


def pending_view(nodes: int, name: str, message: str) -> dict[str, Any]:
    """The page of a pod that no node has room for."""
    tainted = nodes // 8
    return {
        "namespace": "team-0",
        "name": name,
        "owner": "Job/training",
        "verdict": "Pending",
        "node": None,
        "sentence": f"{name} is pending because no node has 12 cpu free: the most is 9.5 on node-0001.",
        "message": message,
        "blocker": {"plugin": "NodeResourcesFit", "reason": "Insufficient cpu", "nodes": nodes - tainted},
        "bars": [
            {"resource": "cpu", "requested": 12000, "free": 9500, "node": "node-0001"},
            {"resource": "memory", "requested": 8 * 1024**3, "free": 30 * 1024**3, "node": "node-0002"},
        ],
        "groups": [
            {
                "plugin": "NodeResourcesFit",
                "reason": "Insufficient cpu",
                "nodes": nodes - tainted,
                "which": ["node-0000", "node-0001"],
            },
            {
                "plugin": "TaintToleration",
                "reason": "node(s) had untolerated taint(s)",
                "nodes": tainted,
                "which": ["node-0007"],
            },
        ],
        "nearest": [
            {"node": "node-0001", "text": "2.5 cpu short"},
            {"node": "node-0007", "text": "fits but for the taint dedicated=batch:NoSchedule"},
        ],
        "help": [
            "It fits if it asks for 9.5 cpu or less.",
            "It fits with a toleration for dedicated=batch:NoSchedule.",
        ],
        "preemption": None,
        "claims": [{"name": "gpu", "state": "pending", "devices": []}],
        "gang": None,
        "policy": {
            "namespace": "team-0",
            "name": "checkout",
            "topologyKey": "topology.kubernetes.io/zone",
            "domain": None,
            "domains": [
                {"name": "zone-a", "wanted": 6, "running": 6, "ready": 6, "missing": 0},
                {"name": "zone-b", "wanted": 3, "running": 1, "ready": 1, "missing": 2},
            ],
        },
        "scores": None,
        "attempts": [
            {"at": 1, "result": "unschedulable", "node": None, "message": message},
            {"at": 9, "result": "unschedulable", "node": None, "message": message},
        ],
        "command": f"bayplan explain pod {name} -n team-0 -f cluster.yaml",
    }
