"""
The screen of ``bayplan top``, by rich: as many rows as the terminal has room for.

Names and messages come from the cluster, so they are text, never markup.
"""

from __future__ import annotations

from typing import Any

from rich.console import Console, Group, RenderableType
from rich.table import Table
from rich.text import Text

BAR = 10
AROUND = 8
"""Lines that are not rows: the head, the headers of two tables and the lines between them."""
FULL, BUSY = 0.9, 0.7


def screen(top: dict[str, Any], height: int, note: str = "") -> RenderableType:
    """The whole picture; ``note`` is the last thing that went wrong."""
    room = max(2, height - AROUND - bool(note))
    pending = top["pending"]
    below = min(len(pending), max(1, room // 3))
    parts: list[RenderableType] = [_head(top), Text(), _nodes(top["nodes"], room - below)]
    if pending:
        parts += [Text(), _pending(pending, below)]
    if note:
        parts.append(Text(note, style="yellow", overflow="ellipsis", no_wrap=True))
    return Group(*parts)


def as_text(top: dict[str, Any], width: int) -> str:
    """The same for a file or a pipe: everything, without colours."""
    console = Console(width=width, color_system=None, force_terminal=False, highlight=False)
    with console.capture() as captured:
        console.print(screen(top, AROUND + len(top["nodes"]) + 3 * len(top["pending"])))
    return "\n".join(line.rstrip() for line in captured.get().splitlines())


def _head(top: dict[str, Any]) -> Text:
    summary, queue = top["summary"], top["queue"]
    waiting = ", ".join(f"{count} {name}" for name, count in queue.items())
    return Text(
        f"{summary['nodes']} nodes   {summary['pods']} pods, {summary.get('bound', 0)} bound   "
        f"{top['bindsPerSecond']:g} binds/s   queue: {waiting}",
        style="bold",
    )


def _nodes(nodes: list[dict[str, Any]], room: int) -> Table:
    table = _table("NODE", "CPU", "MEMORY", "PODS", "STATE")
    for node in nodes[:room]:
        table.add_row(
            Text(node["name"], overflow="ellipsis"),
            _bar(node["cpu"]),
            _bar(node["memory"]),
            Text(f"{node['pods']}/{node['mostPods']}"),
            Text(node["state"], style="" if node["state"] == "Ready" else "yellow"),
        )
    return table


def _bar(share: float) -> Text:
    filled = min(BAR, round(share * BAR))
    style = "red" if share >= FULL else "yellow" if share >= BUSY else "green"
    return Text.assemble(("█" * filled, style), ("·" * (BAR - filled), "dim"), f" {share:4.0%}")


def _pending(groups: list[dict[str, Any]], room: int) -> Table:
    table = _table("PENDING", "WHO", "WHY")
    for group in groups[:room]:
        why = group["message"] or "not tried yet"
        table.add_row(Text(str(group["pods"])), Text(group["owner"] or group["example"]), Text(why, no_wrap=True))
    return table


def _table(*names: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold", show_edge=False)
    for name in names:
        table.add_column(name, no_wrap=True, overflow="ellipsis")
    return table
