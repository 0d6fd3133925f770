"""
How something grows as a picture: one line for each thing that was measured, both axes by powers of ten.

``bench_placement`` calls ``svg``; colours and ink are those of ``plotting``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from math import ceil, floor, log10

from benchmarks.plotting import COLOURS, FAINT, INK

LEFT, TOP, WIDTH, HEIGHT, RIGHT, BOTTOM = 60, 50, 520, 260, 20, 44
Points = Sequence[tuple[float, float]]


def svg(title: str, across: str, curves: Mapping[str, Points]) -> str:
    """The whole picture as text; ``across`` says what the horizontal axis counts."""
    points = [point for curve in curves.values() for point in curve]
    x_axis, y_axis = _Axis([x for x, _ in points]), _Axis([y for _, y in points])
    width, height = LEFT + WIDTH + RIGHT, TOP + HEIGHT + BOTTOM
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" font-family="sans-serif" '
        f'font-size="12" fill="{INK}">',
        f'<rect width="{width}" height="{height}" fill="#ffffff"/>',
        f'<text x="8" y="18" font-weight="bold">{escape(title)}</text>',
        f'<text x="{LEFT + WIDTH / 2:.0f}" y="{height - 8}" text-anchor="middle">{escape(across)}</text>',
    ]
    faint = f'stroke="{FAINT}" opacity="0.3"'
    for value in x_axis.ticks:
        x = LEFT + x_axis.at(value) * WIDTH
        parts.append(f'<line x1="{x:.1f}" y1="{TOP}" x2="{x:.1f}" y2="{TOP + HEIGHT}" {faint}/>')
        parts.append(f'<text x="{x:.1f}" y="{TOP + HEIGHT + 16}" text-anchor="middle">{value:,.0f}</text>')
    for value in y_axis.ticks:
        y = TOP + (1 - y_axis.at(value)) * HEIGHT
        parts.append(
            f'<line x1="{LEFT}" y1="{y:.1f}" x2="{LEFT + WIDTH}" y2="{y:.1f}" stroke="{FAINT}" opacity="0.3"/>'
        )
        parts.append(f'<text x="{LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{value:g}</text>')
    for number, (name, curve) in enumerate(curves.items()):
        placed = [(LEFT + x_axis.at(x) * WIDTH, TOP + (1 - y_axis.at(y)) * HEIGHT, y) for x, y in curve]
        parts += _curve(name, placed, [*COLOURS.values()][number % len(COLOURS)], number)
    return "\n".join([*parts, "</svg>"]) + "\n"


class _Axis:
    """From the power of ten below the least to the one above the most."""

    def __init__(self, values: Sequence[float]) -> None:
        self._low = floor(log10(min(values)) + 1e-9)
        self._high = max(self._low + 1, ceil(log10(max(values)) - 1e-9))

    @property
    def ticks(self) -> list[float]:
        return [10.0**power for power in range(self._low, self._high + 1)]

    def at(self, value: float) -> float:
        """Where a value is, from 0 to 1."""
        return (log10(value) - self._low) / (self._high - self._low)


def _curve(name: str, placed: Sequence[tuple[float, float, float]], colour: str, number: int) -> list[str]:
    x = LEFT + number * 240
    line = " ".join(f"{x:.1f},{y:.1f}" for x, y, _ in placed)
    parts = [
        f'<rect x="{x}" y="28" width="12" height="12" fill="{colour}"/>',
        f'<text x="{x + 18}" y="38">{escape(name)}</text>',
        f'<polyline points="{line}" fill="none" stroke="{colour}" stroke-width="2"/>',
    ]
    for at, y, value in placed:
        parts.append(f'<circle cx="{at:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>')
        parts.append(f'<text x="{at:.1f}" y="{y - 7:.1f}" text-anchor="middle" font-size="10">{value:.2g}</text>')
    return parts
