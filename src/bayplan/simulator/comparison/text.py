"""
A comparison for people: a table with a star at the better one, and the pods that differ.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from bayplan.simulator.comparison.measures import JUDGED, flat
from bayplan.text_layout import Style, plain, table

MANY = 20
CALLED = {
    "balance.cpu": "cpu imbalance", "balance.memory": "memory imbalance", "podsPerNode.most": "most pods on a node",
    "spread": "uneven spread", "nodesUsed": "nodes used",
}  # fmt: skip


def as_text(document: dict[str, Any], *, style: Style = plain) -> str:
    parts = [_measures(document), _pods(document), _causes(document)]
    if "stopped" in document:
        parts.append(f"{style('Stopped')} {document['stopped']}")
    return "\n\n".join(part for part in parts if part)


def _measures(document: dict[str, Any]) -> str:
    runs, better = document["runs"], document["better"]
    rows = []
    for path in JUDGED:
        cells = [f"{flat(run)[path]:g}{' *' if run['name'] in better.get(path, ()) else ''}" for run in runs]
        rows.append([CALLED.get(path, path), *cells])
    return table(["", *(run["name"] for run in runs)], rows)


def _pods(document: dict[str, Any]) -> str:
    names = [run["name"] for run in document["runs"]]
    pods = document["differ"]
    rows = [
        [f"{pod['namespace']}/{pod['name']}", *(pod[name] or "-" for name in names), pod["because"] or "-"]
        for pod in pods[:MANY]
    ]
    more = f"\n{len(pods) - MANY} more; -o json has all" if len(pods) > MANY else ""
    return table(["POD", *names, "BECAUSE"], rows) + more if rows else "every pod is on the same node"


def _causes(document: dict[str, Any]) -> str:
    counted = Counter(pod["because"] or "not asked" for pod in document["differ"])
    told = ", ".join(f"{count} by {name}" for name, count in counted.most_common())
    pods = len(document["differ"])
    return f"{pods} {'pod differs' if pods == 1 else 'pods differ'}: {told}" if pods else ""
