"""What DeviceScore says of a choice of devices; ``explain`` shows it."""

from __future__ import annotations

from typing import NamedTuple

FULL = 10_000
"""The best that a rule can say, in hundredths of a point."""


class Merit(NamedTuple):
    """How good the devices are that a node gives."""

    score: int
    """0 to 100: the mean of the rules by weight."""
    rules: tuple[int, ...]
    """0 to 100 for each rule."""
    steps: int
    """How many devices were tried to find them."""
    is_best: bool
    """Was every choice looked at or ruled out, so that there is none better?"""


def scored(values: tuple[int, ...], weights: tuple[int, ...], steps: int, *, is_best: bool) -> Merit:
    """The merit of what the rules say, each of them 0 to ``FULL``."""
    score = weighted(values, weights) // (sum(weights) * 100)
    return Merit(score, tuple(value // 100 for value in values), steps, is_best)


def weighted(values: tuple[int, ...], weights: tuple[int, ...]) -> int:
    return sum(value * weight for value, weight in zip(values, weights, strict=True))
