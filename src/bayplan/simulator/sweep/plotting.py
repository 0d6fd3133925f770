"""
A sweep as a picture: a bar for each value of an axis, its height the mean, with the deviation over the other runs.

Drawn with matplotlib, which the extra ``plots`` brings.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from bayplan.errors import InputError
from bayplan.framework.config.mistakes import did_you_mean
from bayplan.simulator.sweep.rows_file import Row, number
from bayplan.simulator.sweep.summary import SEED, spread

SUFFIXES = (".svg", ".png", ".pdf")
COLOUR, INK = "#1f6f8b", "#333333"
_TEXT: Any = {
    "svg.hashsalt": "bayplan",  # equal pictures are equal files
    "svg.fonttype": "none",
    "font.family": "sans-serif",
}


def check(path: Path) -> None:
    """Before anything is run: can such a picture be drawn here?"""
    if path.suffix not in SUFFIXES:
        raise InputError(
            f'"{path}" is no picture', field="--plot", fix=f"write a name that ends in {', '.join(SUFFIXES)}"
        )
    if not path.parent.is_dir():
        raise InputError(f'there is no folder "{path.parent}"', field="--plot", fix="make it, or write another name")
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("a plot needs matplotlib", field="--plot", fix="pip install 'bayplan[plots]'") from None


def draw(path: Path, title: str, rows: Sequence[Row], axes: Sequence[str], column: str, by: str = "") -> None:
    """Write the picture of one column, compared by one axis."""
    if rows and column not in rows[0]:
        raise InputError(f'there is no column "{column}"{did_you_mean(column, rows[0])}', field="spec.plot.column")
    if by and by not in axes:
        raise InputError(f'there is no axis "{by}"{did_you_mean(by, axes)}', field="spec.plot.by")
    by = by or _compared(rows, axes)
    groups: dict[str, list[float]] = {}
    for row in rows:
        value = number(row[column])
        if isinstance(value, int | float):
            groups.setdefault(row[by] or "-", []).append(value)
    bars(path, title, column, {name: spread(values) for name, values in groups.items()})


def bars(path: Path, title: str, label: str, groups: dict[str, dict[str, float]]) -> None:
    """A bar with a whisker for each group."""
    import matplotlib
    from matplotlib.figure import Figure

    with matplotlib.rc_context(_TEXT):
        figure = Figure(figsize=(7, 0.8 + 0.42 * max(len(groups), 2)), layout="constrained")
        axis = figure.add_subplot()
        names = list(groups)
        means, deviations = [each["mean"] for each in groups.values()], [each["sd"] for each in groups.values()]
        axis.barh(names, means, xerr=deviations, color=COLOUR, ecolor=INK, height=0.6, capsize=3)
        for place, (mean, deviation) in enumerate(zip(means, deviations, strict=True)):
            axis.text(mean + deviation, place, f"  {mean:.4g}", va="center", fontsize=9, color=INK)
        axis.invert_yaxis()
        axis.margins(x=0.15)
        axis.set_xlabel(label)
        axis.set_title(title, loc="left", fontsize=10)
        axis.spines[["top", "right"]].set_visible(False)
        try:
            figure.savefig(path, metadata={"Date": None} if path.suffix == ".svg" else None)
        except OSError as error:
            problem = f"cannot be written: {error.strerror}"
            raise InputError(problem, source=str(path), fix="write another name with --plot") from None


def _compared(rows: Sequence[Row], axes: Sequence[str]) -> str:
    """The first axis on which runs differ."""
    for axis in axes:
        if axis != SEED and len({row[axis] for row in rows}) > 1:
            return axis
    return next((axis for axis in axes if axis != SEED), SEED)
