"""One decision of the real kube-scheduler with everything it was based on. The oracle writes cases, comparing reads
them; on disk a case is one JSON file, which ``bayplan explain -f`` takes after ``Case.manifest``.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

Object: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Result:
    """What kube-scheduler did with the pod.

    ``feasible`` and ``scores`` (plugin -> node -> weighted score) are None where the scheduler did not look further:
    it scores nothing when one node is feasible, and tries only the nominated node if that one fits. ``victims`` are
    all pods of the preemption it chose, the ones that were terminating already too; ``evicted`` are those it deleted.
    """

    node: str | None
    message: str = ""
    reason: str = ""
    feasible: list[str] | None = None
    scores: dict[str, dict[str, int]] | None = None
    nominated_node: str | None = None
    victims: list[str] = field(default_factory=list)
    evicted: list[str] = field(default_factory=list)
    # by what the pod calls its claims, their ``status.allocation``
    allocations: dict[str, Any] | None = None

    def totals(self) -> dict[str, int]:
        """The sum of the scores of each scored node."""
        totals: dict[str, int] = {}
        for by_node in (self.scores or {}).values():
            for node, score in by_node.items():
                totals[node] = totals.get(node, 0) + score
        return totals


@dataclass(frozen=True, slots=True)
class Case:
    """``objects`` is what the API server held, the pod itself included, just before the pod was judged."""

    name: str
    style: str
    namespace: str
    pod: str
    objects: list[Object]
    result: Result

    def manifest(self) -> Object:
        """The objects as one ``kind: List``."""
        return {"apiVersion": "v1", "kind": "List", "items": self.objects}

    def the_pod(self) -> Object:
        """The pod that was judged."""
        wanted = (self.namespace, self.pod)
        for one in self.objects:
            if one["kind"] == "Pod" and (one["metadata"]["namespace"], one["metadata"]["name"]) == wanted:
                return one
        raise KeyError(f"case {self.name}: no pod {self.namespace}/{self.pod} among its objects")


def write_case(case: Case, folder: Path, *, compress: bool = False) -> Path:
    """Write ``<name>.json`` or ``<name>.json.gz``; the same case gives the same bytes."""
    document = {
        "kind": "ParityCase",
        "name": case.name,
        "style": case.style,
        "pod": {"namespace": case.namespace, "name": case.pod},
        "result": asdict(case.result),
        "objects": case.manifest(),
    }
    text = json.dumps(document, separators=(",", ":"), sort_keys=False).encode() + b"\n"
    path = folder / f"{case.name}.json{'.gz' if compress else ''}"
    path.write_bytes(gzip.compress(text, mtime=0) if compress else text)
    return path


def read_case(path: Path) -> Case:
    content = path.read_bytes()
    document = json.loads(gzip.decompress(content) if path.suffix == ".gz" else content)
    return Case(
        name=document["name"],
        style=document["style"],
        namespace=document["pod"]["namespace"],
        pod=document["pod"]["name"],
        objects=document["objects"]["items"],
        result=Result(**document["result"]),
    )


def read_cases(folder: Path) -> list[Case]:
    """Every case of a folder, in the order of their names."""
    paths = sorted([*folder.glob("*.json"), *folder.glob("*.json.gz")])
    if not paths:
        raise FileNotFoundError(f"{folder}: no *.json or *.json.gz; record some with --record {folder}")
    return [read_case(path) for path in paths]
