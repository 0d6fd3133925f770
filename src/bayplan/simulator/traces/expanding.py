"""
Traces among documents: in the place of each stand the nodes and pods of its CSV files.

``simulator.loading`` calls ``expanded`` on what it read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from bayplan.errors import InputErrors
from bayplan.objects.files import manifests
from bayplan.objects.files.manifests import Document
from bayplan.simulator.traces import trace_file, trace_objects
from bayplan.simulator.traces.arranging import Arrangement
from bayplan.simulator.traces.trace_file import TraceDocument


def expanded(documents: Sequence[Document]) -> tuple[list[Document], tuple[Arrangement, ...]]:
    """Documents without traces, and what the traces want done to their pods."""
    found: list[Document] = []
    arrangements: list[Arrangement] = []
    traces = 0
    for document in documents:
        if not trace_file.is_trace(document):
            found.append(document)
            continue
        traces += 1
        trace = trace_file.read(document)
        if trace.spec.nodes is not None:
            found += _rows(trace_objects.nodes, trace.spec.nodes, document)
        if trace.spec.pods is not None:
            pods = _rows(trace_objects.pods, trace.spec.pods, document)
            found += pods
            arrangements += _wanted(trace, pods, document)
    repeated = [*manifests.repeated(found)] if traces else []
    if repeated:
        raise repeated[0] if len(repeated) == 1 else InputErrors(repeated)
    return found, tuple(arrangements)


def _rows(
    make: Callable[[Any, Path], Iterable[Document]], part: trace_file.TracePart, document: Document
) -> list[Document]:
    path = trace_file.path_of(part, document.source)
    made = list(make(part, path))
    if not made:
        raise trace_objects.mistake_without_rows(path, "rows")
    return made


def _wanted(trace: TraceDocument, pods: Sequence[Document], document: Document) -> list[Arrangement]:
    spec = trace.spec
    if not (spec.shuffle or spec.demand):
        return []
    keys = frozenset((str(each.meta.get("namespace") or "default"), str(each.meta["name"])) for each in pods)
    return [Arrangement(keys, spec.shuffle, spec.demand, document.place)]
