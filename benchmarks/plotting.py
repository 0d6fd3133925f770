"""
The results of the live benchmarks as a picture: a pair of bars for each workload, and the ceiling as a line.

``live`` calls ``svg`` with its document; this module draws a file of results again:

    python -m benchmarks.plotting benchmarks/results/live.json docs/benchmarks.svg
"""

from __future__ import annotations

import json
import sys
from html import escape
from pathlib import Path
from typing import Any

from benchmarks.contenders import BAYPLAN, KUBE_SCHEDULER

LABEL_WIDTH, PLOT_WIDTH, MARGIN = 190, 520, 90
BAR, GAP, TOP = 13, 14, 56
COLOURS = {BAYPLAN: "#1f6f8b", KUBE_SCHEDULER: "#c9a227"}
INK, FAINT = "#333333", "#999999"


def svg(document: dict[str, Any]) -> str:
    """The whole picture as text."""
    results = document["results"]
    ceiling = document.get("bindOnlyPodsPerSecond") or 0
    most = max([ceiling, 1, *(_speed(each, name) for each in results for name in COLOURS)])
    height = TOP + len(results) * (2 * BAR + GAP) + 24
    width = LABEL_WIDTH + PLOT_WIDTH + MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        *_legend(),
    ]
    for row, each in enumerate(results):
        parts += _pair(each, TOP + row * (2 * BAR + GAP), most)
    if ceiling:
        parts += _ceiling(LABEL_WIDTH + ceiling / most * PLOT_WIDTH, height, ceiling)
    return "\n".join([*parts, "</svg>"]) + "\n"


def _legend() -> list[str]:
    parts = [f'<text x="8" y="18" font-weight="bold">{escape("pods a second, end to end")}</text>']
    for place, (name, colour) in enumerate(COLOURS.items()):
        x = LABEL_WIDTH + place * 120
        parts.append(f'<rect x="{x}" y="8" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{x + 18}" y="18">{escape(name)}</text>')
    return parts


def _pair(result: dict[str, Any], top: int, most: float) -> list[str]:
    parts = [
        f'<text x="{LABEL_WIDTH - 8}" y="{top + BAR + 4}" text-anchor="end">{escape(result["workload"])}</text>',
    ]
    for place, (name, colour) in enumerate(COLOURS.items()):
        speed, y = _speed(result, name), top + place * BAR
        length = speed / most * PLOT_WIDTH
        told = f"{speed:.0f}" if speed else "no result"
        if name == BAYPLAN and result.get("ratio"):
            told += f"  ({result['ratio']:.1f} times)"
        parts.append(f'<rect x="{LABEL_WIDTH}" y="{y}" width="{length:.1f}" height="{BAR - 1}" fill="{colour}"/>')
        parts.append(f'<text x="{LABEL_WIDTH + length + 5:.1f}" y="{y + BAR - 3}" font-size="10">{told}</text>')
    return parts


def _ceiling(x: float, height: int, speed: float) -> list[str]:
    return [
        f'<line x1="{x:.1f}" y1="{TOP - 8}" x2="{x:.1f}" y2="{height - 20}" stroke="{FAINT}" stroke-dasharray="4 3"/>',
        f'<text x="{x:.1f}" y="{TOP - 14}" text-anchor="middle" font-size="10" fill="{FAINT}">'
        f"binding alone: {speed:.0f}</text>",
    ]


def _speed(result: dict[str, Any], name: str) -> float:
    return float(result.get(name, {}).get("podsPerSecond") or 0.0)


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(svg(json.loads(Path(sys.argv[1]).read_text())))
