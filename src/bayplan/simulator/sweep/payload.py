"""
All that workers need of a sweep, in one piece that can be sent to another process or another machine.

``scenarios`` makes it from the file; ``scenario_run`` makes clusters of it, once for each worker.  It holds documents,
not objects: plugins and what they read are found anew where it arrives.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from bayplan import __version__
from bayplan.errors import InputError
from bayplan.objects.files.manifests import Document
from bayplan.simulator import loading
from bayplan.simulator.sweep.sweep_file import Grid, Measure, SweepSpec
from bayplan.simulator.traces.arranging import Arrangement

ONLY = ""
"""The name of an axis' value where the file does not write the axis."""


@dataclass(frozen=True, slots=True)
class ClusterFiles:
    """The documents of one cluster, with those of its trace, and a digest of them."""

    documents: tuple[Document, ...]
    arrangements: tuple[Arrangement, ...]
    warnings: tuple[str, ...]
    digest: str


@dataclass(frozen=True, slots=True)
class Payload:
    """A sweep without its files."""

    clusters: dict[str, ClusterFiles]
    """By the name of the trace."""
    configs: dict[str, Document | None]
    plugins: tuple[str, ...]
    grid: Grid
    measures: dict[str, Measure]
    started_at: float
    run_for_s: float | None
    digest: str


def gather(spec: SweepSpec, source: Path) -> Payload:
    """Read everything that a sweep names; paths count from its file."""
    folder = source.parent
    traces: dict[str, str | None] = spec.grid.trace or {ONLY: None}
    clusters = {}
    for name, trace in traces.items():
        inputs = [*spec.files, *([] if trace is None else [trace])]
        if not inputs:
            raise InputError(f'there is no cluster in "{name}"', source=str(source), field="grid.trace",
                             fix="write spec.files, or a file here")  # fmt: skip
        clusters[name] = _cluster([folder / each for each in inputs], spec.recursive)
    configs = {
        name: None if each is None else loading.read_config(folder / each)
        for name, each in (spec.grid.config or {ONLY: None}).items()
    }
    plugins = tuple(_located(each, folder) for each in spec.plugins)
    whole = _digest([each.digest for each in clusters.values()], [each and each.raw for each in configs.values()],
                    plugins, spec.model_dump(mode="json"))  # fmt: skip
    return Payload(clusters, configs, plugins, spec.grid, dict(spec.measures), spec.started_at, spec.run_for_s, whole)


def scenario_digest(payload: Payload, trace: str, config: str, values: Sequence[object]) -> str:
    """What a row depends on: a row with the same one need not be made again."""
    written = payload.configs[config]
    measures = {name: each.model_dump() for name, each in payload.measures.items()}
    return _digest(
        payload.clusters[trace].digest, written and written.raw, payload.plugins, measures, payload.started_at,
        payload.run_for_s, list(values),
    )  # fmt: skip


def _cluster(inputs: Sequence[Path], recursive: bool) -> ClusterFiles:
    warnings: list[str] = []
    documents, arrangements = loading.read_documents(inputs, recursive=recursive, warn=warnings.append)
    arranged = [(each.shuffle, each.demand and each.demand.model_dump()) for each in arrangements]
    digest = _digest([each.raw for each in documents], arranged)
    return ClusterFiles(tuple(documents), arrangements, tuple(warnings), digest)


def _located(plugin: str, folder: Path) -> str:
    """A plugin in a file is found from where the sweep is."""
    place, colon, name = plugin.rpartition(":")
    return f"{folder / place}{colon}{name}" if place.endswith(".py") else plugin


def _digest(*parts: object) -> str:
    text = json.dumps([__version__, *parts], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
