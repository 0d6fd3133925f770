"""Plain text for people: tables as kubectl prints them, and lists of names that are not too long.

The command line hands in a ``Style`` where colours are wanted.
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
    """Rows under a header, columns as wide as they must be and aligned to the left; nothing is cut off."""
    lines = [header, *rows] if header else rows
    widths = [max(map(width, column)) for column in zip(*lines, strict=True)]
    return "\n".join(_line(line, widths) for line in lines)


def listed(names: Sequence[str], at_most: int) -> str:
    """The first of some names, and how many more there are."""
    more = f" and {len(names) - at_most} more" if len(names) > at_most else ""
    return ", ".join(names[:at_most]) + more


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    padded = (cell + " " * (wide - width(cell)) for cell, wide in zip(cells, widths, strict=True))
    return _GAP.join(padded).rstrip()
