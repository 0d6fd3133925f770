"""
The rows of a sweep on disk: each is written when it is there, and at the end all stand in the order of the scenarios.

A CSV file, so that what was written before a sweep was stopped is there the next time, and is not run again.
``app.sweep`` writes; the row's last value is the digest of all it depends on.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bayplan.errors import InputError
from bayplan.simulator.sweep.measures import Value
from bayplan.simulator.sweep.scenarios import Scenario

NUMBER, DIGEST = "scenario", "digest"

Row = dict[str, str]
"""By column, as it is written."""


class RowsFile:
    """A file of rows with known columns."""

    def __init__(self, path: Path, axes: Sequence[str], measured: Sequence[str]) -> None:
        self.path = path
        self.axes = list(axes)
        self.measured = list(measured)
        self.columns = [NUMBER, *axes, *measured, DIGEST]

    def rows_of(self, scenarios: Sequence[Scenario]) -> dict[int, Row]:
        """Rows that are there already, by the number their scenario has now."""
        numbers = {each.digest: each.number for each in scenarios}
        found: dict[int, Row] = {}
        others = 0
        for row in self._read():
            number = numbers.get(row[DIGEST])
            if number is None:
                others += 1
            else:
                found[number] = {**row, NUMBER: str(number), **_axes(self.axes, scenarios[number])}
        if others:
            raise InputError(
                f"holds {others} {'row' if others == 1 else 'rows'} of other scenarios, or of files that have changed",
                source=str(self.path),
                fix="write --out with another name, or --fresh to begin anew",
            )
        return found

    def row(self, scenario: Scenario, values: Mapping[str, Value]) -> Row:
        written = {name: _written(values.get(name)) for name in self.measured}
        return {
            NUMBER: str(scenario.number), **_axes(self.axes, scenario), **written, DIGEST: scenario.digest,
        }  # fmt: skip

    def begin(self) -> None:
        """A file with a header and whole lines, to be appended to."""
        try:
            self._begin()
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", source=str(self.path), fix="write --out") from None

    def append(self, row: Row) -> None:
        """The row is on disk when this returns."""
        with open(self.path, "a", encoding="utf-8", newline="") as file:
            file.write(_line([row[name] for name in self.columns]))
            file.flush()
            os.fsync(file.fileno())

    def finish(self, rows: Sequence[Row]) -> None:
        """All rows in order, in place of what is there."""
        self._replace(
            "".join(_line(each) for each in [self.columns, *([row[n] for n in self.columns] for row in rows)])
        )

    def _begin(self) -> None:
        if not self.path.exists() or not self.path.stat().st_size:
            self._replace(_line(self.columns))
            return
        with open(self.path, "rb+") as file:
            content = file.read()
            file.truncate(content.rfind(b"\n") + 1)  # a line that was being written when somebody pulled the plug

    def _replace(self, text: str) -> None:
        beside = self.path.with_name(f".{self.path.name}.new")
        with open(beside, "w", encoding="utf-8", newline="") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(beside, self.path)

    def _read(self) -> list[Row]:
        try:
            with open(self.path, encoding="utf-8", newline="") as file:
                text = file.read()
        except FileNotFoundError:
            return []
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read: {error}", source=str(self.path), fix="write --out") from None
        whole = text[: text.rfind("\n") + 1]
        lines = list(csv.reader(io.StringIO(whole, newline="")))
        if not lines:
            return []
        if lines[0] != self.columns:
            raise InputError(
                "is not of this sweep: its columns are others",
                source=str(self.path),
                line=1,
                fix="write --out with another name, or --fresh to begin anew",
            )
        for number, line in enumerate(lines, 1):
            if len(line) != len(self.columns):
                raise InputError(f"{len(line)} values for {len(self.columns)} columns", source=str(self.path),
                                 line=number, fix="remove the line; it is run again")  # fmt: skip
        return [dict(zip(self.columns, line, strict=True)) for line in lines[1:]]


def number(text: str) -> Any:
    """A value of a row as a number, if it is one; None if there is none."""
    if not text:
        return None
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def write_parquet(path: Path, columns: Sequence[str], rows: Sequence[Row]) -> None:
    """The rows once more, as Parquet."""
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise InputError(
            "Parquet needs pyarrow",
            field="--out",
            fix="pip install 'bayplan[parquet]', or write a name that ends in .csv",
        ) from None
    texts = {name: [row[name] for row in rows] for name in columns}
    made = {name: _column(values) for name, values in texts.items()}
    parquet.write_table(pyarrow.table(made), path)


def _column(texts: Sequence[str]) -> list[Any]:
    """Numbers if all are; else texts."""
    numbers = [number(text) for text in texts]
    if all(each is None or isinstance(each, int | float) for each in numbers):
        has_floats = any(isinstance(each, float) for each in numbers)
        return [float(each) if has_floats and each is not None else each for each in numbers]
    return list(texts)


def _axes(axes: Sequence[str], scenario: Scenario) -> Row:
    return {axis: str(getattr(scenario, axis)) for axis in axes}


def _written(value: Value) -> str:
    return "" if value is None else f"{value:.10g}" if isinstance(value, float) else str(value)


def _line(values: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerow(values)
    return text.getvalue()
