"""
The rules of the Dynamic plugin: when a node's load is too high, and how good a load is.

Both are the published ones, but that a load from a time to come is not believed.  A load that is not known or not to go
by passes the filter and scores 0, as if all was in use.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np

from bayplan.framework import MAX_SCORE, MIN_SCORE, Codes, NodeTable, NodeView, Scores, Status, Verdicts, unschedulable
from bayplan.objects.load_estimate import resource_of
from bayplan.objects.node import Node
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy
from bayplan.objects.third_party.crane_annotations import Reading, is_ahead
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

    @property
    def metrics(self) -> tuple[Metric, ...]:
        """Those that are read for it, the first that is known counts."""
        return tuple(each for each in (self.substitute, self.metric) if each is not None)


class Found(NamedTuple):
    """Why a node is refused."""

    rule: Rule
    is_expected: bool
    """The load that was measured is not above the limit by itself."""


@dataclass(frozen=True)
class Judge:
    """One version of the policy."""

    policy: DynamicSchedulerPolicy
    loads: Loads
    groups: bool
    """Give all nodes that are refused for one limit one reason; the published reasons name each node."""
    fresh_first: bool = False
    """Give no points to a node of which one load that is weighed is not known."""

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

    def reading(self, node: Node, rule: Rule, now: float | None) -> tuple[Metric, Reading] | None:
        """What a rule goes by; without a time, whatever its age."""
        for metric in rule.metrics:
            found = self.loads.good(node, metric, now)
            if found is not None:
                return metric, found
        return None

    def load(self, node: Node, rule: Rule, now: float | None) -> float:
        """A node's load as one rule sees it."""
        found = self.reading(node, rule, now)
        return np.nan if found is None else found[1].value

    def _loads(self, nodes: NodeTable, rule: Rule, now: float) -> Numbers:
        found = np.full(len(nodes), np.nan)
        for metric in rule.metrics:
            values = self.loads.of_all(nodes, metric, now)
            found = values if metric is rule.metrics[0] else np.where(np.isnan(found), values, found)
        return found

    # -- filter --

    def too_high(self, node: Node, expected: Shares | None, now: float | None) -> Found | None:
        """The first rule that a node breaks."""
        for rule in self.limits:
            measured = self.load(node, rule, now)
            if measured + added(rule, expected) > rule.number:
                return Found(rule, not measured > rule.number)
        return None

    def status(self, node_name: str, found: Found) -> Status:
        return _too_high(found.rule.name, found.rule.number, found.is_expected, None if self.groups else node_name)

    def verdicts(self, nodes: NodeTable, expected: Shares | None, now: float) -> Verdicts:
        """All nodes; only those that are refused cost more than a comparison."""
        codes, statuses = np.zeros(len(nodes), np.int32), list[Status]()
        for rule in self.limits:
            load = self._loads(nodes, rule, now)
            more = 0.0 if expected is None or rule.resource is None else expected.of(rule.resource)
            refused = (load + more > rule.number) & (codes == 0)
            for is_expected in (False, True):
                rows = np.flatnonzero(refused & ((load > rule.number) != is_expected))
                found, first = Found(rule, is_expected), len(statuses) + 1
                codes[rows] = first if self.groups else np.arange(first, first + len(rows))
                told = rows[:1] if self.groups else rows
                statuses += [self.status(nodes.names[row], found) for row in told.tolist()]
        return Verdicts(codes, tuple(statuses))

    def nothing(self, nodes: NodeTable) -> Codes:
        """All nodes pass."""
        return np.zeros(len(nodes), np.int32)

    def unknown_nodes(self, nodes: NodeTable, now: float) -> dict[str, int]:
        """How many nodes have no load to go by, for each limit."""
        return {rule.name: int(np.isnan(self._loads(nodes, rule, now)).sum()) for rule in self.limits}

    def nodes_ahead(self, nodes: NodeTable, now: float) -> dict[str, int]:
        """Of how many nodes a load is from a time to come, for each limit."""
        return {rule.name: self._nodes_ahead(nodes, rule, now) for rule in self.limits}

    def _nodes_ahead(self, nodes: NodeTable, rule: Rule, now: float) -> int:
        return max((int(is_ahead(self.loads.times(nodes, each), now).sum()) for each in rule.metrics), default=0)

    # -- score --

    def score(self, node: NodeView, expected: Shares | None, now: float) -> int:
        total = weights = 0.0
        for rule in self.weights:
            load = self.load(node.object, rule, now) + added(rule, expected)
            if self.fresh_first and load != load:
                return MIN_SCORE
            total += (1.0 - load) * rule.number * MAX_SCORE if load == load else 0.0
            weights += rule.number
        raw = int(min(max(total / weights, -_BEYOND), _BEYOND)) if weights else 0
        hot = self.loads.of_one(node.object, HOT, now)
        points = int(min(hot * HOT_POINTS, _BEYOND)) if hot == hot else 0
        return min(max(raw - points, MIN_SCORE), MAX_SCORE)

    def scores(self, nodes: NodeTable, expected: Shares | None, now: float) -> Scores:
        total, weights, lacking = np.zeros(len(nodes)), 0.0, np.zeros(len(nodes), np.bool_)
        for rule in self.weights:
            load = self._loads(nodes, rule, now)
            if expected is not None and rule.resource is not None:
                load = load + expected.of(rule.resource)
            unknown = np.isnan(load)
            lacking |= unknown
            total += np.where(unknown, 0.0, (1.0 - load) * rule.number * MAX_SCORE)
            weights += rule.number
        raw = np.clip(total / (weights or 1.0), -_BEYOND, _BEYOND).astype(np.int64)
        hot = np.nan_to_num(self.loads.of_all(nodes, HOT, now) * HOT_POINTS, nan=0.0, posinf=_BEYOND)
        points = np.minimum(hot, _BEYOND).astype(np.int64)
        scores: Scores = np.clip(raw - points, MIN_SCORE, MAX_SCORE)
        if self.fresh_first:
            scores[lacking] = MIN_SCORE
        return scores


def added(rule: Rule, expected: Shares | None) -> float:
    """What is expected of one node beside the load that a rule goes by."""
    return 0.0 if expected is None or rule.resource is None else float(expected.of(rule.resource)[0])


@lru_cache(maxsize=65536)
def _too_high(metric: str, limit: float, is_expected: bool, node_name: str | None) -> Status:
    """Made once for each text: on a hot cluster every pod meets the same ones."""
    if node_name is not None:
        return unschedulable(f"Load[{metric}] of node[{node_name}] is too high")
    why = " with what is expected" if is_expected else ""
    return unschedulable(f"node(s) whose Load[{metric}] is too high{why} (above {decimal(limit)})")


def decimal(fraction: float) -> str:
    """Up to the five decimals that annotations have."""
    text = f"{fraction:.5f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
