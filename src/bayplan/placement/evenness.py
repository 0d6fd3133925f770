"""How even domains are: what `nested_spread` and `flat_spread` tell of what they chose, and `domains` reports."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from bayplan.placement.plan import Level

Uneven = tuple[tuple[int, int], ...]
"""The hard levels that are exceeded, by their number, and how far apart their domains are, in units."""


class Domain(NamedTuple):
    """One domain as it stands: how many are there, and whether its constraint keeps out one that could come."""

    path: tuple[str, ...]
    eligible: int
    chosen: int
    others: int
    height: int
    is_held: bool


class Group(NamedTuple):
    """The domains that are compared with each other, how far apart they are, and whether none takes another one."""

    domains: list[Domain]
    gap: int
    is_full: bool


def gap_of(level: Level, heights: Sequence[int]) -> int:
    """How far apart domains of these heights are; where there are too few of them, the lowest counts as empty."""
    if not heights:
        return 0
    return max(heights) - (0 if len(heights) < level.min_domains else min(heights))
