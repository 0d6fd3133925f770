"""Recordings for tests, written line by line."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

HEADER = {"apiVersion": "bayplan.io/v1alpha1", "kind": "Recording", "startedAt": "2026-01-31T10:00:00Z"}
SYNCED = {"t": 0, "synced": True}
END = {"t": 60, "end": True}


def node(name: str, cpu: str = "4", **labels: str) -> dict[str, Any]:
    sizes = {"cpu": cpu, "memory": "8Gi", "pods": "110"}
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name, **labels}},
        "status": {"allocatable": sizes},
    }


def pod(name: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "web:1", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}}
    metadata = {"name": name, "namespace": "default", "uid": f"uid-{name}"}
    given = {"schedulerName": "default-scheduler", "containers": [container], **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": given}


def add(t: float, document: dict[str, Any]) -> dict[str, Any]:
    return {"t": t, "add": document}


def bind(t: float, name: str, node: str) -> dict[str, Any]:
    return {"t": t, "change": ["Pod", "default", name], "patch": {"spec": {"nodeName": node}}}


def gone(t: float, kind: str, name: str) -> dict[str, Any]:
    return {"t": t, "delete": [kind, "default" if kind == "Pod" else "", name]}


def written(path: Path, *lines: dict[str, Any], whole: bool = True, header: dict[str, Any] | None = None) -> Path:
    """A file with these lines between its head and its end."""
    found = [header or HEADER, *lines, *([END] if whole else [])]
    text = "".join(json.dumps(line) + "\n" for line in found).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path
