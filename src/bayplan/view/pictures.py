"""
A ``View`` as one picture: the clusters as maps, why pods wait, the time line, fleets by region, and tables.

Drawn with matplotlib, which the extra ``plots`` brings.  Parts that a view does not have take no room.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from typing import Any

from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from bayplan.view import picture_parts as parts
from bayplan.view.documents import Document

WIDTH = 10.0
_TEXT: Any = {
    "svg.hashsalt": "bayplan",  # equal pictures are equal files
    "svg.fonttype": "none",
    "font.family": "sans-serif",
    "font.size": 9,
    "text.parse_math": False,  # a "$" in a name is a "$"
}

Part = tuple[float, Callable[[Axes], None]]
"""How high it is, and what draws it."""


def picture(view: Document, form: str) -> bytes:
    """The picture as ``svg`` or ``png``."""
    with rc_context(_TEXT):
        figure = _drawn(view)
        out = io.BytesIO()
        figure.savefig(out, format=form, dpi=110, metadata={"Date": None} if form == "svg" else None)
        return out.getvalue()


def _drawn(view: Document) -> Figure:
    clusters = view["clusters"][:4]
    rows: list[list[Part]] = []
    if clusters:
        height = max(parts.map_height(each, WIDTH / len(clusters)) for each in clusters)
        rows.append([(height, partial(parts.draw_map, told=each)) for each in clusters])
    below: list[Part] = []
    pending = parts.reasons(clusters[-1]) if clusters else []
    if pending:
        below.append((0.7 + 0.34 * len(pending), partial(parts.draw_reasons, told=pending)))
    if view["timeline"] is not None:
        below.append((1.9, partial(parts.draw_timeline, told=view["timeline"])))
    rows += [below] if below else []
    fleets = [each for each in view["placements"][: parts.MOST_PLACEMENTS] if each["byRegion"]]
    rows += [[(parts.fleet_height(each), partial(parts.draw_fleet, told=each))] for each in fleets]
    tables = view["tables"][: parts.MOST_TABLES]
    rows += [[(parts.table_height(each), partial(parts.draw_table, told=each))] for each in tables]
    heights = [max(height for height, _ in row) for row in rows] or [0.5]
    head = 0.75
    figure = Figure(figsize=(WIDTH, head + sum(heights)), layout="constrained", facecolor="white")
    grid = figure.add_gridspec(1 + len(heights), 12, height_ratios=[head, *heights])
    parts.draw_head(figure.add_subplot(grid[0, :]), view)
    for number, row in enumerate(rows, 1):
        step = 12 // len(row)
        for place, (_, draw) in enumerate(row):
            draw(figure.add_subplot(grid[number, place * step : (place + 1) * step]))
    return figure
