"""
The ``View``: everything that one report, or the page of one cluster, shows.

``view`` puts the parts together; those that a command has nothing to say about are empty.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.objects.times import format_time
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.view.texts import message, shown

Document = dict[str, Any]
LONGEST_COMMAND = 1000
MOST_ROWS = 5000


@dataclass(frozen=True, slots=True)
class Origin:
    """Where a view comes from: the command that was typed, and when (epoch seconds)."""

    source: str
    command: str
    made: float | None = None


def view(
    origin: Origin,
    *,
    facts: Sequence[Document] = (),
    clusters: Sequence[Document] = (),
    timeline: Document | None = None,
    placements: Sequence[Document] = (),
    policies: Sequence[Document] = (),
    moves: Sequence[Document] = (),
    tables: Sequence[Document] = (),
) -> Document:
    """The document ``kind: View``."""
    return {
        "apiVersion": API_VERSION,
        "kind": "View",
        "title": f"bayplan {origin.source}",
        "command": shown(origin.command, LONGEST_COMMAND),
        "made": None if origin.made is None else format_time(origin.made),
        "source": origin.source,
        "facts": list(facts),
        "clusters": list(clusters),
        "timeline": timeline,
        "placements": list(placements),
        "policies": list(policies),
        "moves": list(moves),
        "tables": list(tables),
    }


def fact(label: str, value: object, note: str = "", *, good: bool | None = None) -> Document:
    """A number to be seen at once; ``good`` says whether it is good news."""
    return {"label": label, "value": message(str(value)), "note": message(note), "good": good}


def table(
    title: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    best: Sequence[Sequence[int]] = (),
) -> Document:
    """Rows under columns; ``best`` are the cells (row and column) to be marked."""
    return {
        "title": title,
        "columns": [shown(each) for each in columns],
        "rows": [[message(cell) if isinstance(cell, str) else cell for cell in row] for row in rows[:MOST_ROWS]],
        "best": [list(each) for each in best],
    }


def pod_facts(summary: Mapping[str, int]) -> list[Document]:
    """How many pods fare how."""
    told = [
        fact("Pods bound", summary.get("bound", 0), f"of {summary['pods']}", good=None),
        fact("Pods pending", summary.get("pending", 0), good=not summary.get("pending")),
    ]
    others = {"gated": "Gated", "ignored": "Ignored", "preempted": "Preempted", "evicted": "Evicted", "lost": "Lost"}
    told += [fact(label, summary[key]) for key, label in others.items() if summary.get(key)]
    return [*told, fact("Nodes", summary["nodes"])]
