"""
The load of a simulated cluster over time, and the metrics that Prometheus' recording rules would make of it.

Nodes are sampled every 30 seconds.  Before the simulation everything was as it is in its first moment.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.objects.duration import parse_duration

SAMPLE_EVERY_S = 30.0
AVERAGE_EVERY_S = 60.0
MAX_EVERY_S = 300.0
AVERAGE_OVER_S = 300.0

Fractions: TypeAlias = "npt.NDArray[np.float64]"
"""One line for each node: the share of its CPU and of its memory that is in use."""

_METRIC = re.compile(r"(cpu|mem)_usage_(?:(active)|(avg|max_avg|p[0-9]{1,2})_([0-9.smhd]+))")
_DAY_S = 86400.0


class SimulatedMetric(NamedTuple):
    """What a metric's name says: the column, how it is made, and over which time."""

    column: int
    how: str
    over_s: float


def parse_metric(name: str) -> SimulatedMetric | None:
    """None for a metric that a simulation cannot make."""
    found = _METRIC.fullmatch(name)
    if found is None:
        return None
    column = 0 if found[1] == "cpu" else 1
    if found[2]:
        return SimulatedMetric(column, "active", 0.0)
    try:
        over = float(found[4][:-1]) * _DAY_S if found[4].endswith("d") else parse_duration(found[4])
    except ValueError:
        return None
    return SimulatedMetric(column, found[3], over)


class UsageHistory:
    """Samples of all nodes."""

    def __init__(self, started_at: float, first: Fractions) -> None:
        self._started_at = started_at
        self._times: list[float] = [started_at]
        self._samples: list[Fractions] = [first]
        self._average_times: list[float] = [started_at]
        self._averages: list[Fractions] = [first]

    @property
    def times(self) -> Sequence[float]:
        return self._times

    @property
    def samples(self) -> Sequence[Fractions]:
        return self._samples

    def add(self, now: float, sample: Fractions) -> None:
        self._times.append(now)
        self._samples.append(sample)
        if (now - self._started_at) % AVERAGE_EVERY_S < 1e-3:
            self._average_times.append(now)
            self._averages.append(self._average(now, AVERAGE_OVER_S))

    def value(self, metric: SimulatedMetric, now: float) -> npt.NDArray[np.float64]:
        """The metric's newest value for every node, as the rules that are due by now have made it."""
        if metric.how == "active":
            return self._samples[-1][:, metric.column]
        if metric.how == "max_avg":
            due = self._due(now, MAX_EVERY_S)
            averages = zip(self._average_times, self._averages, strict=True)
            window = [each for at, each in averages if due - metric.over_s < at <= due] or self._averages[:1]
            peak: Fractions = np.max(np.array(window), axis=0)
            return peak[:, metric.column]
        due = self._due(now, AVERAGE_EVERY_S)
        if metric.how == "avg":
            return self._average(due, metric.over_s)[:, metric.column]
        window = self._window(due, metric.over_s)
        values = np.array([each[:, metric.column] for each in window])
        return np.asarray(np.percentile(values, float(metric.how[1:]), axis=0), np.float64)

    def _due(self, now: float, every_s: float) -> float:
        """When a rule was evaluated last."""
        return self._started_at + (now - self._started_at) // every_s * every_s

    def _average(self, at: float, over_s: float) -> Fractions:
        mean: Fractions = np.mean(np.array(self._window(at, over_s)), axis=0)
        return mean

    def _window(self, at: float, over_s: float) -> list[Fractions]:
        """The samples of the time before; what lies before the simulation was like its first moment."""
        wanted = max(1, round(over_s / SAMPLE_EVERY_S))
        last = min(int((at - self._started_at) // SAMPLE_EVERY_S), len(self._samples) - 1)
        return [self._samples[max(0, index)] for index in range(last - wanted + 1, last + 1)]
