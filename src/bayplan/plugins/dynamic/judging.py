"""
The rules of the Dynamic plugin: when a node's load is too high, and how good a load is.

Both are the published ones.  A load that is not known or too old passes the filter and scores 0, as if all was in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from bayplan.framework import MAX_SCORE, MIN_SCORE, Codes, NodeTable, NodeView, Scores, Status, Verdicts, unschedulable
from bayplan.objects.crane import DynamicSchedulerPolicy
from bayplan.objects.load_estimate import resource_of
from bayplan.objects.node import Node
from bayplan.plugins.dynamic.estimating import Shares
from bayplan.plugins.dynamic.reading import HOT, Loads, Metric, Numbers, metric_of

HOT_POINTS = 10
"""What one step of the hot value costs."""
_BEYOND = 1e9


class Rule(NamedTuple):
    """A metric with its limit, or with its weight."""

    name: str
    number: float
    metric: Metric | None
    """None for one that is never measured."""
    substitute: Metric | None
    resource: str | None
    """What estimates are added to it; None for metrics of the past and of other things."""


class Found(NamedTuple):
    """Why a node is refused."""

    rule: Rule
    measured: float
    expected: float
    age_s: float


@dataclass(frozen=True)
class Judge:
    """One version of the policy."""

    policy: DynamicSchedulerPolicy
    loads: Loads
    with_numbers: bool

    @cached_property
    def limits(self) -> tuple[Rule, ...]:
        return tuple(self._rule(each.name, each.limit) for each in self.policy.predicate if each.limit > 0)

    @cached_property
    def weights(self) -> tuple[Rule, ...]:
        return tuple(self._rule(each.name, each.weight) for each in self.policy.priority if each.weight > 0)

    def _rule(self, name: str, number: float) -> Rule:
        substitute = self.loads.substitute(self.policy, name)
        return Rule(name, number, metric_of(self.policy, name), substitute, resource_of(name))

    # -- loads --

    def load(self, node: Node, rule: Rule, now: float) -> float:
        """A node's load as one rule sees it."""
        if rule.substitute is not None:
            found = self.loads.of_one(node, rule.substitute, now)
            if found == found:
                return found
        return np.nan if rule.metric is None else self.loads.of_one(node, rule.metric, now)

    def _loads(self, nodes: NodeTable, rule: Rule, now: float) -> Numbers:
        if rule.metric is None:
            return np.full(len(nodes), np.nan)
        values = self.loads.of_all(nodes, rule.metric, now)
        if rule.substitute is None:
            return values
        better = self.loads.of_all(nodes, rule.substitute, now)
        return np.where(np.isnan(better), values, better)

    # -- filter --

    def too_high(self, node: Node, expected: Shares | None, now: float) -> Found | None:
        """The first rule that a node breaks."""
        for rule in self.limits:
            measured, more = self.load(node, rule, now), _added(rule, expected, 0)
            if measured + more > rule.number:
                return Found(rule, measured, more, now - self._measured_at(node, rule, now))
        return None

    def status(self, node_name: str, found: Found) -> Status:
        rule, minutes = found.rule, int(found.age_s // 60)
        return _too_high(rule.name, node_name, rule.number, found.measured, found.expected, minutes, self.with_numbers)

    def verdicts(self, nodes: NodeTable, expected: Shares | None, now: float) -> Verdicts:
        """All nodes; only those that are refused cost more than a comparison."""
        codes, statuses = np.zeros(len(nodes), np.int32), list[Status]()
        for rule in self.limits:
            load = self._loads(nodes, rule, now)
            more = np.zeros(len(nodes)) if expected is None or rule.resource is None else expected.of(rule.resource)
            rows = np.flatnonzero((load + more > rule.number) & (codes == 0))
            if len(rows):
                codes[rows] = np.arange(len(statuses) + 1, len(statuses) + len(rows) + 1)
                ages = now - self._times(nodes, rule, now)[rows]
                numbers = zip(rows.tolist(), load[rows].tolist(), more[rows].tolist(), ages.tolist(), strict=True)
                statuses += [self.status(nodes.names[row], Found(rule, *rest)) for row, *rest in numbers]
        return Verdicts(codes, tuple(statuses))

    def _times(self, nodes: NodeTable, rule: Rule, now: float) -> Numbers:
        """When the loads that a rule goes by were measured."""
        assert rule.metric is not None  # a load above a limit was measured
        times = self.loads.times(nodes, rule.metric)
        if rule.substitute is None:
            return times
        better = self.loads.of_all(nodes, rule.substitute, now)
        return np.where(np.isnan(better), times, self.loads.times(nodes, rule.substitute))

    def _measured_at(self, node: Node, rule: Rule, now: float) -> float:
        for metric in (rule.substitute, rule.metric):
            reading = None if metric is None else self.loads.fresh(node, metric, now)
            if reading is not None:
                return reading.at
        return now

    def nothing(self, nodes: NodeTable) -> Codes:
        """All nodes pass."""
        return np.zeros(len(nodes), np.int32)

    def unknown_nodes(self, nodes: NodeTable, now: float) -> dict[str, int]:
        """How many nodes have no load to go by, for each limit."""
        return {rule.name: int(np.isnan(self._loads(nodes, rule, now)).sum()) for rule in self.limits}

    # -- score --

    def score(self, node: NodeView, expected: Shares | None, now: float) -> int:
        total = weights = 0.0
        for rule in self.weights:
            load = self.load(node.object, rule, now) + _added(rule, expected, 0)
            total += (1.0 - load) * rule.number * MAX_SCORE if load == load else 0.0
            weights += rule.number
        raw = int(min(max(total / weights, -_BEYOND), _BEYOND)) if weights else 0
        hot = self.loads.of_one(node.object, HOT, now)
        points = int(min(hot * HOT_POINTS, _BEYOND)) if hot == hot else 0
        return min(max(raw - points, MIN_SCORE), MAX_SCORE)

    def scores(self, nodes: NodeTable, expected: Shares | None, now: float) -> Scores:
        total, weights = np.zeros(len(nodes)), 0.0
        for rule in self.weights:
            load = self._loads(nodes, rule, now)
            if expected is not None and rule.resource is not None:
                load = load + expected.of(rule.resource)
            total += np.where(np.isnan(load), 0.0, (1.0 - load) * rule.number * MAX_SCORE)
            weights += rule.number
        raw = np.clip(total / (weights or 1.0), -_BEYOND, _BEYOND).astype(np.int64)
        hot = np.nan_to_num(self.loads.of_all(nodes, HOT, now) * HOT_POINTS, nan=0.0, posinf=_BEYOND)
        points = np.minimum(hot, _BEYOND).astype(np.int64)
        scores: Scores = np.clip(raw - points, MIN_SCORE, MAX_SCORE)
        return scores


def _added(rule: Rule, expected: Shares | None, row: int) -> float:
    return 0.0 if expected is None or rule.resource is None else float(expected.of(rule.resource)[row])


@lru_cache(maxsize=65536)
def _too_high(
    metric: str, node_name: str, limit: float, measured: float, expected: float, minutes: int, with_numbers: bool
) -> Status:
    """Made once for each text: on a hot cluster every pod meets the same ones."""
    more = f" + {decimal(expected)} expected" if expected else ""
    numbers = f" ({decimal(measured)}{more} > {decimal(limit)}, {age(minutes)})" if with_numbers else ""
    return unschedulable(f"Load[{metric}] of node[{node_name}] is too high{numbers}")


def age(minutes: int) -> str:
    """In whole minutes, so that a pod that is tried again says the same for a while."""
    return f"{minutes}m old" if minutes > 0 else "under 1m old"


def decimal(fraction: float) -> str:
    """Up to the five decimals that annotations have."""
    text = f"{fraction:.5f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
