"""What the annotator asks and is told: one query for a metric gives a sample of every node.

`prometheus` implements `MetricSource`; the simulator and tests have their own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol


class Sample(NamedTuple):
    """One series at the moment of the query."""

    labels: Mapping[str, str]
    value: float


@dataclass(frozen=True, slots=True)
class Answer:
    """All series a query found, and what the source had to say beside."""

    samples: Sequence[Sample]
    warnings: tuple[str, ...] = ()


class MetricSource(Protocol):
    async def query(self, expression: str) -> Answer:
        """The answer of this moment; ``MetricsError`` if there is none."""


_OFTEN = 10
_MAX_PAUSE_S = 60.0
_MIN_PAUSE_S = 5.0


def pause_s(period_s: float) -> float:
    """How long to wait between two queries for a metric that every node shows anew after `period_s`.

    Nodes take their turns all through the period, so a value must be much younger than that whenever a turn comes. A
    node that has just come should not wait for an hour for its first value either.
    """
    return max(min(period_s / _OFTEN, _MAX_PAUSE_S), min(period_s, _MIN_PAUSE_S))
