"""
Plain tables as kubectl prints them: columns as wide as they must be, nothing cut off, nothing but text.

``simulation_report`` and ``text`` lay out with it; the command line hands in a ``Style`` where colours are wanted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

Style = Callable[[str], str]
"""Gives a word its colour."""

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")
_GAP = "   "


def plain(word: str) -> str:
    """No colour at all."""
    return word


def width(text: str) -> int:
    """How many columns a text takes; colours take none."""
    return len(_ESCAPES.sub("", text))


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Rows under a header, columns aligned to the left."""
    lines = [header, *rows] if header else rows
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(line, widths) for line in lines)


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (wide - width(cell)) for cell, wide in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip()
