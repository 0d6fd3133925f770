"""
What a node's annotations say about its load, as columns and for one node.

An annotation is read once, when its node changes; judging it later costs no Python per node.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from datetime import tzinfo
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.framework import NodeTable
from bayplan.objects.node import Node
from bayplan.objects.third_party import crane_annotations
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy
from bayplan.objects.third_party.crane_annotations import GRACE_S, HOT_VALUE, HOT_VALUE_LIFETIME_S, is_good

Numbers: TypeAlias = "npt.NDArray[np.float64]"

UNKNOWN = math.nan
"""The load of a node whose load is not known; it is never above a limit."""


class Metric(NamedTuple):
    """A metric, and for how many seconds a value of it is good."""

    name: str
    lifetime_s: float


def metric_of(policy: DynamicSchedulerPolicy, name: str) -> Metric | None:
    """None for a metric that is never measured."""
    period = policy.periods.get(name)
    return None if not period else Metric(name, period + GRACE_S)


HOT = Metric(HOT_VALUE, HOT_VALUE_LIFETIME_S)


class Loads:
    """Reads the annotations of nodes in one time zone; a ``percentile`` counts in place of an average it has."""

    def __init__(self, zone: tzinfo, zone_name: str, percentile: str | None) -> None:
        self._zone = zone
        self._suffix = "" if zone_name in ("", "UTC") else f" in {zone_name}"
        self._percentile = percentile

    def of_all(self, nodes: NodeTable, metric: Metric, now: float) -> Numbers:
        """Each node's load, ``UNKNOWN`` where it is not known, too old, or from a time to come."""
        values = nodes.derive(f"load {metric.name}{self._suffix}", self._reader(metric.name, 0), np.float64)
        known: Numbers = np.where(is_good(self.times(nodes, metric), metric.lifetime_s, now), values, UNKNOWN)
        return known

    def times(self, nodes: NodeTable, metric: Metric) -> Numbers:
        """When each node's load was measured; ``UNKNOWN`` where it was not."""
        name = f"load {metric.name}{self._suffix}, at"
        column: Numbers = nodes.derive(name, self._reader(metric.name, 1), np.float64)
        return column

    def of_one(self, node: Node, metric: Metric, now: float | None) -> float:
        reading = self.good(node, metric, now)
        return UNKNOWN if reading is None else reading.value

    def good(self, node: Node, metric: Metric, now: float | None) -> crane_annotations.Reading | None:
        """What stands there, if it is one to go by; without a time, whatever its age."""
        reading = self.reading(node, metric)
        if reading is None or now is None:
            return reading
        return reading if is_good(reading.at, metric.lifetime_s, now) else None

    def reading(self, node: Node, metric: Metric) -> crane_annotations.Reading | None:
        """What stands there, however old."""
        return crane_annotations.read(node.annotations.get(metric.name), self._zone)

    def substitute(self, policy: DynamicSchedulerPolicy, name: str) -> Metric | None:
        """The percentile that is read in place of an average, if the args ask for one and the policy measures it."""
        if self._percentile is None or "_avg_" not in name or "max" in name:
            return None
        return metric_of(policy, name.replace("_avg_", f"_{self._percentile}_"))

    def _reader(self, name: str, part: int) -> Callable[[Node], float]:
        zone = self._zone

        def read(node: Node) -> float:
            reading = crane_annotations.read(node.annotations.get(name), zone)
            return UNKNOWN if reading is None else reading[part]

        return read
