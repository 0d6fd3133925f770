"""Sizes that lie between two bounds, counted in 64 bits: what would be more stays at the largest number."""

from __future__ import annotations

from math import ceil
from typing import NamedTuple

MOST = 2**64 - 1


def capped(number: int) -> int:
    return min(number, MOST)


def wrapped(number: int) -> int:
    """A few sizes are not capped in Kubernetes: they begin again at zero."""
    return number & MOST


def scaled(number: int, factor: float) -> int:
    """Rounded up."""
    return capped(ceil(float(number) * factor))


class Size(NamedTuple):
    """Characters of a string, entries of a map or list; 1 for a number."""

    least: int
    most: int

    def plus(self, other: Size) -> Size:
        return Size(capped(self.least + other.least), capped(self.most + other.most))

    def times(self, other: Size) -> Size:
        return Size(capped(self.least * other.least), capped(self.most * other.most))

    def either(self, other: Size) -> Size:
        return Size(min(self.least, other.least), max(self.most, other.most))


UNKNOWN = Size(0, MOST)


def exactly(number: int) -> Size:
    return Size(number, number)
