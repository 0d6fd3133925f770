"""
The nodes and pods of a trace, as the manifests a person would have written for them.

``simulator.loading`` puts them in the place of the trace.  Each knows its line of the CSV file, so that whatever is
wrong with it is told as if it stood there.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bayplan.errors import InputError
from bayplan.framework.config.mistakes import shown
from bayplan.objects.files.manifests import AT, UNTIL, Document
from bayplan.simulator.traces import csv_rows
from bayplan.simulator.traces.csv_rows import Row
from bayplan.simulator.traces.trace_file import SECONDS, ColumnUse, Manifest, NodeTrace, Part, PodTrace, TracePart

WHOLE = 1000
"""Thousandths of a GPU."""
PODS = "1001"
"""How many pods a node may have, where its template says nothing: a trace is not about that."""


def nodes(trace: NodeTrace, path: Path) -> Iterator[Document]:
    """A Node for each row."""
    use = trace.columns
    for row in _rows(trace, path):
        has: Manifest = {"cpu": _amount(row, use.cpu), "memory": _amount(row, use.memory), "pods": PODS}
        if use.gpus is not None and (gpus := row.whole(use.gpus.column)):
            has[trace.gpuResource] = str(gpus * WHOLE)
        made: Manifest = {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": _metadata(trace, row, use.name),
            "status": {"capacity": has, "allocatable": has},
        }
        yield Document(row.source, row.line, laid_over(made, trace.template))


def pods(trace: PodTrace, path: Path) -> Iterator[Document]:
    """A Pod for each row."""
    use = trace.columns
    for row in _rows(trace, path):
        wants = {"cpu": _amount(row, use.cpu), "memory": _amount(row, use.memory)}
        if use.gpus is not None and (gpus := row.whole(use.gpus.column)):
            wants[trace.gpuResource] = str(gpus * _milli(row, use.gpuMilli, gpus))
        meta = _metadata(trace, row, use.name)
        if use.namespace is not None and row.text(use.namespace.column):
            meta["namespace"] = row.text(use.namespace.column)
        meta["annotations"] |= _times(trace, row)
        resources = {"requests": wants, "limits": {k: v for k, v in wants.items() if k == trace.gpuResource}}
        made: Manifest = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": meta,
            "spec": {"containers": [{"name": "main", "image": "trace", "resources": resources}]},
        }
        yield Document(row.source, row.line, laid_over(made, trace.template))


def laid_over(below: Any, above: Any) -> Any:
    """``above`` goes before ``below``; mappings are merged, everything else is replaced."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: laid_over(below.get(key), value) for key, value in above.items()}}


def _rows(trace: NodeTrace | PodTrace, path: Path) -> Iterator[Row]:
    """The rows, each with a name of its own."""
    first: dict[str, int] = {}
    name, namespace = trace.columns.name.column, getattr(trace.columns, "namespace", None)
    for row in csv_rows.rows(path, _needed(trace, trace.columns)):
        called = row.filled(name)
        key = f"{row.text(namespace.column)}/{called}" if namespace is not None else called
        before = first.setdefault(key, row.line)
        if before != row.line:
            raise row.mistake(name, f"{shown(called)} is on line {before} already", "give it another name")
        yield row


def _needed(trace: TracePart, columns: Part) -> dict[str, str]:
    """Every column that is read, and the field that names it."""
    needed = {
        use.column: f"columns.{field}" for field, use in columns if isinstance(use, ColumnUse)
    }  # fmt: skip
    for kind in ("labels", "annotations"):
        needed |= {column: f"{kind}[{key}]" for key, column in getattr(trace, kind).items()}
    return needed


def _metadata(trace: TracePart, row: Row, name: ColumnUse) -> Manifest:
    made: Manifest = {"name": row.filled(name.column)}
    for kind in ("labels", "annotations"):
        values = {key: row.text(column) for key, column in getattr(trace, kind).items()}
        made[kind] = {key: value for key, value in values.items() if value}
    return made


def _amount(row: Row, use: ColumnUse) -> str:
    return f"{row.number(use.column)}{use.unit}"


def _milli(row: Row, use: ColumnUse | None, gpus: int) -> int:
    """What is taken of each GPU.  As in the openb traces, more than all of it is all of it."""
    if use is None:
        return WHOLE
    milli = min(row.whole(use.column), WHOLE)
    if not milli:
        raise row.mistake(use.column, f"0 of {gpus} GPU", "write 1 to 1000, or 0 GPUs")
    if milli < WHOLE and gpus > 1:
        raise row.mistake(use.column, f"a share of {gpus} GPUs: a pod shares one GPU or has whole ones", "write 1000")
    return milli


def _times(trace: PodTrace, row: Row) -> dict[str, str]:
    use = trace.columns
    arrival = _seconds(row, use.arrival) or 0.0
    end = _seconds(row, use.end)
    lasts = _seconds(row, use.duration)
    if lasts is not None:
        end = arrival + lasts
    if end is not None and end <= arrival:
        named = use.end or use.duration
        assert named is not None
        raise row.mistake(named.column, f"it goes at {end:g} s and comes at {arrival:g} s", "write a later one")
    times = {AT: f"{arrival:.3f}s"} if arrival else {}
    return times if end is None else {**times, UNTIL: f"{end:.3f}s"}


def _seconds(row: Row, use: ColumnUse | None) -> float | None:
    """A moment or a length; None where there is no column, or nothing in it."""
    if use is None or not row.text(use.column):
        return None
    return float(row.number(use.column)) * SECONDS[use.unit or "s"]


def mistake_without_rows(path: Path, what: str) -> InputError:
    return InputError(f"has no {what}", source=str(path), fix="write a line for each behind the first")
