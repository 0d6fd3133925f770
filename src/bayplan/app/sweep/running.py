"""
A sweep from beginning to end: read, plan, run what is not there yet, write rows, sum up.

``bayplan sweep`` calls ``run``; ``benchmarks.fgd`` calls ``run_payload`` with a sweep it made itself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bayplan.app.sweep.workers import Here, Processes, Workers
from bayplan.errors import InputError
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.sweep import measures, plotting, sweep_file
from bayplan.simulator.sweep.payload import Payload, gather
from bayplan.simulator.sweep.rows_file import DIGEST, NUMBER, Row, RowsFile, number, write_parquet
from bayplan.simulator.sweep.scenario_run import Clusters
from bayplan.simulator.sweep.scenarios import axes_of, scenarios
from bayplan.simulator.sweep.summary import as_table, summary

Tell = Callable[[int, int], None]
PARQUET, CSV = ".parquet", ".csv"


@dataclass(frozen=True, slots=True)
class Means:
    """Where scenarios run."""

    workers: int = 1
    on: str = ""
    """The address of a Dask scheduler, instead of processes here."""


@dataclass(frozen=True, slots=True)
class Done:
    """What a sweep came to."""

    file: RowsFile
    rows: list[Row]
    reused: int
    measures: list[str]

    def document(self, name: str) -> dict[str, Any]:
        """``kind: Sweep``."""
        file = self.file
        return {
            "apiVersion": API_VERSION,
            "kind": "Sweep",
            "name": name,
            "scenarios": len(self.rows),
            "reused": self.reused,
            "out": str(file.path),
            "axes": file.axes,
            "summary": summary(self.rows, file.axes, file.measured),
            "rows": [{column: _typed(column, row[column]) for column in file.columns} for row in self.rows],
        }

    def table(self) -> str:
        return as_table(summary(self.rows, self.file.axes, self.file.measured), self.file.axes, self.measures)

    @property
    def stopped(self) -> list[Row]:
        """Rows of runs that did not come to their end."""
        return [row for row in self.rows if row["stopped"]]


def run(
    path: Path,
    out: Path | None,
    means: Means,
    *,
    fresh: bool = False,
    plot: Path | None = None,
    warn: Callable[[str], None] = lambda warning: None,
    tell: Tell = lambda done, total: None,
) -> tuple[str, Done]:
    """Run the sweep of a file; its name, and what it came to."""
    sweep = sweep_file.read(path)
    if plot is not None:
        plotting.check(plot)
    out = out or Path(f"{path.stem}{CSV}")
    if out.suffix not in (CSV, PARQUET):
        raise InputError(f'"{out}" is neither CSV nor Parquet', field="--out", fix=f"write a name that ends in {CSV}")
    payload = _located(lambda: gather(sweep.spec, path), path)
    done = _located(lambda: run_payload(payload, out, means, fresh=fresh, warn=warn, tell=tell), path)
    if plot is not None:
        wanted = sweep.spec.plot
        column = wanted.column if wanted is not None else next(iter([*sweep.spec.measures, "bound"]))
        by = wanted.by if wanted is not None else ""
        plotting.draw(plot, sweep.metadata.name, done.rows, done.file.axes, column, by)
    return sweep.metadata.name, done


def run_payload(
    payload: Payload,
    out: Path,
    means: Means,
    *,
    fresh: bool = False,
    warn: Callable[[str], None] = lambda warning: None,
    tell: Tell = lambda done, total: None,
) -> Done:
    """Run whatever is not among the rows yet."""
    planned = scenarios(payload)
    clusters = Clusters(payload)
    for each in {(each.trace, each.config, each.weights, each.outage, each.scale): each for each in planned}.values():
        clusters.check(each)
    resources = list(dict.fromkeys(name for trace in payload.clusters for name in clusters.resources(trace)))
    measured = [f"allocated:{name}" for name in resources] + list(payload.measures)
    usual = {*measures.columns(resources, ()), *axes_of(payload.grid), NUMBER, DIGEST}
    for name in (each for each in payload.measures if each in usual):
        raise InputError(f'"{name}" is the name of a column', field="spec.measures", fix="give it another name")
    file = RowsFile(out.with_suffix(CSV), axes_of(payload.grid), measures.columns(resources, payload.measures))
    if fresh:
        file.path.unlink(missing_ok=True)
    rows = file.rows_of(planned)
    reused = len(rows)
    left = [each for each in planned if each.number not in rows]
    file.begin()
    warned = {warning for each in payload.clusters.values() for warning in each.warnings}
    for warning in sorted(warned):
        warn(warning)
    tell(reused, len(planned))
    for scenario, result in _workers(payload, resources, means, len(left)).results(left):
        row = rows[scenario.number] = file.row(scenario, result.values)
        file.append(row)
        for warning in result.warnings:
            if warning not in warned:
                warned.add(warning)
                warn(warning)
        tell(len(rows), len(planned))
    ordered = [rows[each.number] for each in planned]
    file.finish(ordered)
    if out.suffix == PARQUET:
        write_parquet(out, file.columns, ordered)
    return Done(file, ordered, reused, measured)


def _workers(payload: Payload, resources: list[str], means: Means, scenarios_left: int) -> Workers:
    if means.on:
        from bayplan.app.sweep.dask_workers import DaskWorkers

        return DaskWorkers(means.on, payload, resources)
    if means.workers == 1 or scenarios_left <= 1:
        return Here(payload, resources)
    return Processes(payload, resources, means.workers)


def _located(work: Callable[[], Any], path: Path) -> Any:
    """What is wrong with a field of the sweep is told with its file."""
    try:
        return work()
    except InputError as error:
        if error.source or type(error) is not InputError or error.field.startswith("--"):
            raise
        raise error.located(str(path)) from None


def _typed(column: str, text: str) -> Any:
    return text if column in ("digest", "trace", "config", "weights", "outage", "scale", "stopped") else number(text)
