"""View documents for tests of the page, as bayplan.view makes them: a small one that has everything, and large ones."""

from __future__ import annotations

import random
from typing import Any

from tests.page.parts import PLACEMENT, POLICY, TABLE, TIMELINE, pending_view

ZONE, RACK = "topology.kubernetes.io/zone", "example.com/rack"
GI = 1024**3


class Strings:
    """Every text once; columns have its index."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._places: dict[str, int] = {}

    def __call__(self, text: str) -> int:
        if text not in self._places:
            self._places[text] = len(self.texts)
            self.texts.append(text)
        return self._places[text]


def cluster(
    nodes: int = 24, pods: int = 180, pending: int = 12, *, name: str = "", seed: int = 1, used: bool = True
) -> dict[str, Any]:
    """Zones, racks and nodes, filled unevenly; the last pods wait because no node has room."""
    chance = random.Random(seed)
    text = Strings()
    text("")
    rows = range(nodes)
    sizes = [8000 if row % 3 else 16000 for row in rows]
    asked = [{"cpu": 250, "memory": GI // 2}, {"cpu": 1000, "memory": 2 * GI}, {"cpu": 12000, "memory": 8 * GI}]
    place = [chance.choices(rows, weights=[1 + (row * 7) % 5 for row in rows])[0] for _ in range(pods - pending)]
    asks = [chance.choice((0, 0, 1)) for _ in range(pods - pending)] + [2] * pending
    requested = {"cpu": [0] * nodes, "memory": [0] * nodes, "nvidia.com/gpu": [row % 5 for row in rows]}
    counts = [0] * nodes
    for row, ask in zip(place, asks, strict=False):
        counts[row] += 1
        for resource in ("cpu", "memory"):
            requested[resource][row] += asked[ask][resource]
    owners = [f"Deployment/web-{row % 7}" for row in range(pods - pending)] + ["Job/training"] * pending
    message = f"0/{nodes} nodes are available: {nodes} Insufficient cpu."
    return {
        "name": name,
        "summary": {"nodes": nodes, "pods": pods, "bound": pods - pending, "pending": pending},
        "groupings": [ZONE, RACK],
        "resources": ["cpu", "memory", "nvidia.com/gpu"],
        "nodes": {
            "name": [f"node-{row:04}" for row in rows],
            "labels": {
                ZONE: [text(f"zone-{'abc'[row % 3]}") for row in rows],
                RACK: [text(f"rack-{'abc'[row % 3]}{row // 3 % 20:02}") for row in rows]
                if nodes > 60
                else [text(f"rack-{'abc'[row % 3]}{row // 12}") for row in rows],
            },
            "allocatable": {
                "cpu": sizes,
                "memory": [size // 1000 * 4 * GI for size in sizes],
                "nvidia.com/gpu": [0 if row % 6 else 8 for row in rows],
                "pods": [110] * nodes,
            },
            "requested": requested,
            "used": {"cpu": [round(cpu * 0.6) for cpu in requested["cpu"]], "memory": [None] * nodes} if used else None,
            "pods": counts,
            "state": [text("Cordoned" if row == 4 else "NotReady" if row == 9 else "") for row in rows],
            "taints": [text("dedicated=batch:NoSchedule" if row % 8 == 7 else "") for row in rows],
            "kind": [text("large" if size > 8000 else "small") for size in sizes],
        },
        "pods": {
            "namespace": [text(f"team-{row % 4}") for row in range(pods)],
            "name": [f"{owner.split('/')[1]}-{row:05}" for row, owner in enumerate(owners)],
            "owner": [text(owner) for owner in owners],
            "node": place + [-1] * pending,
            "state": [text("Bound")] * (pods - pending) + [text("Pending")] * pending,
            "requests": asks,
            "message": [text("")] * (pods - pending) + [text(message)] * pending,
            "attempts": [1] * pods,
            "boundAt": [row / 100 for row in range(pods - pending)] + [None] * pending,
            "priority": [0] * pods,
            "scheduler": [text("bayplan")] * pods,
        },
        "requestSets": asked,
        "pending": [
            {
                "pods": list(range(pods - pending, pods)),
                "message": message,
                "view": pending_view(nodes, f"training-{pods - pending:05}", message),
            }
        ]
        if pending
        else [],
        "decisions": {
            "plugins": ["NodeResourcesFit", "PodTopologySpread"],
            "pod": list(range(pods - pending)),
            "node": place,
            "total": [170.0] * (pods - pending),
            "scores": [[90.0, 80.0]] * (pods - pending),
            "runnerUp": [(row + 1) % nodes for row in place],
            "runnerUpTotal": [160.5] * (pods - pending),
            "runnerUpScores": [[60.5, 100.0]] * (pods - pending),
            "ties": [1] * (pods - pending),
        },
        "strings": text.texts,
    }


def view(*clusters: dict[str, Any], **fields: Any) -> dict[str, Any]:
    return {
        "apiVersion": "bayplan.io/v1alpha1",
        "kind": "View",
        "title": "bayplan simulate",
        "command": "bayplan simulate -f examples/cluster.yaml --report report.html",
        "made": "2026-11-17T10:00:00Z",
        "source": "simulate",
        "facts": [
            {"label": "Nodes", "value": "24", "note": "3 zones", "good": None},
            {"label": "Pods bound", "value": "168", "note": "of 180", "good": True},
            {"label": "Pending", "value": "12", "note": "1 reason", "good": False},
            {"label": "CPU requested", "value": "61%", "note": "", "good": None},
        ],
        "clusters": list(clusters),
        "timeline": None,
        "placements": [],
        "policies": [],
        "moves": [],
        "tables": [],
        **fields,
    }


def everything() -> dict[str, Any]:
    """Every view has something to show."""
    return view(
        cluster(name="before"),
        cluster(name="after", seed=2, pending=4),
        timeline=TIMELINE,
        placements=[PLACEMENT],
        policies=[POLICY],
        moves=[
            {
                "at": 30,
                "namespace": "team-1",
                "pod": "web-1-00001",
                "from": "node-0003",
                "to": "node-0007",
                "why": "zone-a has 2 too many",
            },
            {
                "at": 40,
                "namespace": "team-1",
                "pod": "web-1-00008",
                "from": "node-0003",
                "to": "node-0010",
                "why": "zone-a has 1 too many",
            },
        ],
        tables=[TABLE],
    )


def large() -> dict[str, Any]:
    """The largest that must stay usable."""
    return view(cluster(5_000, 50_000, 300))
