"""The parts of a picture: head, map of nodes, reasons, time line, fleet and table.  ``pictures`` puts them together."""

from __future__ import annotations

import math
from collections import Counter
from typing import Any

from matplotlib.axes import Axes
from matplotlib.collections import PatchCollection
from matplotlib.patches import Rectangle

from bayplan.objects.resources import CPU
from bayplan.view.documents import Document

INK, FAINT, EMPTY = "#22303c", "#6b7a86", "#e6ebef"
FULL, BUSY, FREE, USED = "#b3402a", "#c98a1b", "#2f7f93", "#10202b"
LINES = {"waiting": "#c98a1b", "bound": "#2f7f93", "failed attempts": "#b3402a", "preempted": "#7a4fa3"}
MOST_REASONS, MOST_PLACEMENTS, MOST_TABLES, MOST_ROWS, MOST_COLUMNS = 6, 4, 2, 16, 8
MOST_ZONES = 24
NAMED_BELOW = 40
"""So many nodes have their names written beside them."""
_BOX, _GAP, _HEAD = 1.0, 0.25, 0.7


def cut(text: object, longest: int) -> str:
    """One line that fits."""
    whole = str(text)
    return whole if len(whole) <= longest else f"{whole[: longest - 1]}…"


def draw_head(axis: Axes, view: Document) -> None:
    """What was asked, and the numbers to be seen at once."""
    axis.axis("off")
    axis.text(0, 0.95, cut(view["title"], 60), fontsize=13, fontweight="bold", color=INK, va="top")
    axis.text(0, 0.5, f"$ {cut(view['command'], 120)}", fontsize=8, color=FAINT, va="top", family="monospace")
    told = "    ".join(f"{each['label']}: {each['value']} {each['note']}".strip() for each in view["facts"][:8])
    axis.text(0, 0.02, cut(told, 150), fontsize=9, color=INK, va="bottom")
    axis.set_xlim(0, 1)
    axis.set_ylim(0, 1)


# -- the map --


def _groups(cluster: Document) -> list[tuple[str, list[int]]]:
    """Rows of nodes by the first grouping; all in one where there is none."""
    names = cluster["nodes"]["name"]
    if not cluster["groupings"]:
        return [("", list(range(len(names))))] if names else []
    key = cluster["groupings"][0]
    found: dict[int, list[int]] = {}
    for row, number in enumerate(cluster["nodes"]["labels"][key]):
        found.setdefault(number, []).append(row)
    return sorted((cluster["strings"][number] or f"no {key}", rows) for number, rows in found.items())


def _columns(cluster: Document, width: float) -> int:
    """How many boxes stand side by side: wide ones with names, or small ones."""
    nodes = len(cluster["nodes"]["name"])
    if nodes > NAMED_BELOW:
        return max(8, math.ceil(math.sqrt(nodes * width / 5)))
    largest = max((len(rows) for _, rows in _groups(cluster)), default=1)
    return min(max(2, round(width / 1.6)), max(3, largest))


def map_height(cluster: Document, width: float) -> float:
    """Inches."""
    columns = _columns(cluster, width)
    lines = sum(math.ceil(len(rows) / columns) * (_BOX + _GAP) + _HEAD for _, rows in _groups(cluster))
    is_named = len(cluster["nodes"]["name"]) <= NAMED_BELOW
    return 0.4 + (0.36 * lines if is_named else min(7.0, lines * width / columns / (_BOX + _GAP)))


def draw_map(axis: Axes, told: Document) -> None:
    """Every node a box, filled by the share of CPU that is requested; a line shows what is really used."""
    width = 10.0 if told["name"] == "" else 5.0
    columns, y = _columns(told, width), 0.0
    is_named = len(told["nodes"]["name"]) <= NAMED_BELOW
    boxes: dict[str, list[Rectangle]] = {EMPTY: [], FREE: [], BUSY: [], FULL: []}
    for name, rows in _groups(told):
        if name:
            axis.text(0, y + 0.5, cut(name, 60), fontsize=9, color=INK, va="bottom", fontweight="bold")
        y += _HEAD
        for place, row in enumerate(rows):
            left, top = (place % columns) * (_BOX + _GAP), y + (place // columns) * (_BOX + _GAP)
            share = _share(told, row)
            boxes[EMPTY].append(Rectangle((left, top), _BOX, _BOX))
            boxes[colour_of(share)].append(Rectangle((left, top), _BOX * min(1.0, share), _BOX))
            used = _used(told, row)
            if used is not None:
                axis.plot([left + used] * 2, [top, top + _BOX], color=USED, linewidth=1.2)
            if is_named:
                label = f"{cut(told['nodes']['name'][row], 16)}\n{share:.0%} cpu, {told['nodes']['pods'][row]} pods"
                axis.text(left + 0.03, top + 0.5, label, fontsize=6.5, color=INK, va="center")
        y += math.ceil(len(rows) / columns) * (_BOX + _GAP)
    for colour, some in boxes.items():
        axis.add_collection(
            PatchCollection(some, facecolor=colour, edgecolor="none", alpha=1 if colour == EMPTY else 0.75)
        )
    axis.set_xlim(0, columns * (_BOX + _GAP))
    axis.set_ylim(max(y, 1), 0)
    axis.axis("off")
    summary = told["summary"]
    counts = f"{summary['nodes']} nodes, {summary.get('bound', 0)} pods bound, {summary.get('pending', 0)} pending"
    axis.set_title(cut(f"{told['name']}: {counts}" if told["name"] else counts, 80), loc="left", color=INK, fontsize=10)


def colour_of(share: float) -> str:
    """By how full a node is."""
    return FULL if share > 0.9 else BUSY if share > 0.7 else FREE


def _share(cluster: Document, row: int) -> float:
    nodes = cluster["nodes"]
    has = nodes["allocatable"][CPU][row]
    return float(nodes["requested"][CPU][row] / has) if has else 0.0


def _used(cluster: Document, row: int) -> float | None:
    nodes = cluster["nodes"]
    used = None if nodes["used"] is None else nodes["used"][CPU][row]
    has = nodes["allocatable"][CPU][row]
    return None if used is None or not has else min(1.0, float(used / has))


# -- why pods wait, and when --


def reasons(cluster: Document) -> list[tuple[str, int]]:
    """What keeps pending pods, and how many, the most frequent first."""
    counted: Counter[str] = Counter()
    for group in cluster["pending"]:
        blocker = None if group["view"] is None else group["view"]["blocker"]
        counted[group["message"] if blocker is None else blocker["reason"]] += len(group["pods"])
    return counted.most_common(MOST_REASONS)


def draw_reasons(axis: Axes, told: list[tuple[str, int]]) -> None:
    """A bar for each reason."""
    counts = [count for _, count in told]
    axis.barh(range(len(told)), counts, color=FULL, height=0.35, alpha=0.75)
    for place, (reason, count) in enumerate(told):
        axis.text(0, place - 0.24, f"{count}  {cut(reason, 70)}", fontsize=8, color=INK, va="bottom")
    axis.set_ylim(len(told) - 0.5, -0.8)
    axis.set_xlim(0, max(counts) * 1.02)
    axis.axis("off")
    axis.set_title("Why pods are pending", loc="left", color=INK, fontsize=10)


def draw_timeline(axis: Axes, told: Document) -> None:
    """Pods that wait and that are bound, over time."""
    for number, series in enumerate(told["series"]):
        colour = LINES.get(series["name"], f"C{number}")
        axis.step(told["at"], series["values"], where="post", label=series["name"], color=colour, linewidth=1.5)
    axis.set_title("Time line", loc="left", color=INK, fontsize=10)
    axis.set_xlabel("seconds" if told["unit"] == "s" else told["unit"], color=FAINT)
    axis.set_ylim(bottom=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.tick_params(colors=FAINT)
    axis.legend(frameon=False, fontsize=8)


# -- placements and tables --


def _zones(placement: Document) -> list[tuple[str, int, int]]:
    """Region and zone, how many clusters are there, and how many are chosen."""
    return [
        (f"{each['region'] or '-'} / {zone['zone'] or '-'}", zone["clusters"], len(zone["chosen"]))
        for each in placement["byRegion"]
        for zone in each["zones"]
    ][:MOST_ZONES]


def fleet_height(placement: Document) -> float:
    return 0.7 + 0.25 * len(_zones(placement))


def draw_fleet(axis: Axes, told: Document) -> None:
    """Zones of regions: how many clusters they have, and how many of them were chosen."""
    zones = _zones(told)
    places = range(len(zones))
    axis.barh(places, [there for _, there, _ in zones], color=EMPTY, height=0.7)
    axis.barh(places, [chosen for _, _, chosen in zones], color=FREE, height=0.7)
    axis.set_yticks(places, [cut(name, 40) for name, _, _ in zones])
    for place, (_, there, chosen) in enumerate(zones):
        axis.text(there, place, f"  {chosen} of {there}", va="center", fontsize=8, color=INK)
    axis.invert_yaxis()
    axis.spines[["top", "right", "bottom"]].set_visible(False)
    axis.set_xticks([])
    of = told["placement"]
    chosen = len(told["decisions"])
    title = f"Placement {of['namespace']}/{of['name']}: {chosen} clusters chosen"
    axis.set_title(cut(title, 90), loc="left", color=INK, fontsize=10)


def table_height(told: Document) -> float:
    return 0.6 + 0.24 * (1 + min(MOST_ROWS, len(told["rows"])))


def draw_table(axis: Axes, told: Document) -> None:
    """The first rows and columns; the best of a row or column is set in bold."""
    axis.axis("off")
    axis.set_title(cut(told["title"], 90), loc="left", color=INK, fontsize=10)
    columns = told["columns"][:MOST_COLUMNS]
    longest = 130 // max(1, len(columns))
    rows = [[_cell(cell, longest) for cell in row[:MOST_COLUMNS]] for row in told["rows"][:MOST_ROWS]]
    if not rows:
        return
    made: Any = axis.table(
        rows,
        colLabels=[cut(each, longest) for each in columns],
        loc="upper left",
        cellLoc="left",
        colLoc="left",
        edges="B",
    )
    made.auto_set_font_size(False)
    made.set_fontsize(8)
    for cell in made.get_celld().values():
        cell.set_edgecolor(EMPTY)
        cell.set_linewidth(0.8)
    for row, column in told["best"]:
        if row < len(rows) and column < len(columns):
            made[row + 1, column].set_text_props(fontweight="bold", color=FREE)


def _cell(value: object, longest: int) -> str:
    return "-" if value is None else f"{value:.4g}" if isinstance(value, float) else cut(value, longest)
