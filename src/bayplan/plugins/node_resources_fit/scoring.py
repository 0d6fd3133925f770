"""
How full is too full: the scoring strategies of NodeResourcesFit, each for one node and for all.

Every strategy looks at the resources of the args one by one, as they would be with the pod there, and takes
a weighted mean.  A resource the node does not have is left out.  All arithmetic is on whole numbers.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.framework import MAX_SCORE, Mask, NodeTable, NodeView, Scores
from bayplan.plugins.node_resources_fit.args import (
    LEAST_ALLOCATED,
    MOST_ALLOCATED,
    ScoringStrategy,
    ShapePoint,
)
from bayplan.plugins.resource_columns import Capacities, Capacity, allocatable, counted

Amounts: TypeAlias = "npt.NDArray[np.int64]"


@dataclass(frozen=True, slots=True)
class Asked:
    """A resource that counts for this pod: its weight, and the pod's own amount."""

    resource: str
    weight: int
    amount: int


class Strategy(ABC):
    """Rates resources one by one and takes the mean; the subclasses say what a good rate is."""

    def __init__(self) -> None:
        self._capacities = Capacities()

    def score_node(self, node: NodeView, asked: tuple[Asked, ...]) -> int:
        rates = []
        for each in asked:
            total = allocatable(node, each.resource)
            if total:
                taken = counted(node, each.resource) + each.amount
                rates.append((self.rate_one(taken, total), each.weight))
        return self.mean_one(rates)

    def score(self, nodes: NodeTable, asked: tuple[Asked, ...]) -> Scores:
        rated: Amounts | None = None
        weights: Amounts | int = 0
        for each in asked:
            capacity = self._capacities.of(nodes, each.resource)
            rate = self.rate(counted(nodes, each.resource) + each.amount, capacity)
            # A node without the resource is rated as if it had 1; its weight of 0 takes that out again.
            weight = each.weight * self.counts(rate, capacity.there)
            rate *= weight
            rated = rate if rated is None else np.add(rated, rate, out=rated)
            weights = weights + weight
        return np.zeros(len(nodes), np.int64) if rated is None else self.mean(rated, np.maximum(weights, 1))

    @abstractmethod
    def rate_one(self, taken: int, total: int) -> int:
        """How good it is that this much of the total is taken, 0..100."""

    @abstractmethod
    def rate(self, taken: Amounts, total: Capacity) -> Amounts:
        """The same for all nodes, as an array of its own; ``taken`` may be written to."""

    def counts(self, rate: Amounts, there: Mask | bool) -> Mask | bool:
        """Where the resource takes part in the mean."""
        return there

    def mean_one(self, rates: Sequence[tuple[int, int]]) -> int:
        weights = sum(weight for _, weight in rates)
        return sum(rate * weight for rate, weight in rates) // weights if weights else 0

    def mean(self, rated: Amounts, weights: Amounts) -> Scores:
        scores: Scores = rated // weights
        return scores


class LeastAllocated(Strategy):
    """The emptier the better: pods are spread out."""

    def rate_one(self, taken: int, total: int) -> int:
        return 0 if taken > total else (total - taken) * MAX_SCORE // total

    def rate(self, taken: Amounts, total: Capacity) -> Amounts:
        left = np.subtract(total.amounts, taken, out=taken)
        np.maximum(left, 0, out=left)
        left *= MAX_SCORE
        return _divided(left, total)


class MostAllocated(Strategy):
    """The fuller the better: nodes are packed, so that others can be given back."""

    def rate_one(self, taken: int, total: int) -> int:
        return min(taken, total) * MAX_SCORE // total

    def rate(self, taken: Amounts, total: Capacity) -> Amounts:
        return _divided(np.minimum(taken, total.amounts) * MAX_SCORE, total)


class RequestedToCapacityRatio(Strategy):
    """As good as the curve of the args says; a resource the curve gives 0 takes no part in the mean."""

    def __init__(self, shape: Sequence[ShapePoint]) -> None:
        super().__init__()
        self.curve = np.array([_height(shape, percent) for percent in range(MAX_SCORE + 1)], np.int64)

    def rate_one(self, taken: int, total: int) -> int:
        return int(self.curve[min(taken, total) * MAX_SCORE // total])

    def rate(self, taken: Amounts, total: Capacity) -> Amounts:
        return self.curve[np.minimum(taken, total.amounts) * MAX_SCORE // total.amounts]

    def counts(self, rate: Amounts, there: Mask | bool) -> Mask | bool:
        return (rate > 0) & there

    def mean_one(self, rates: Sequence[tuple[int, int]]) -> int:
        rated = sum(rate * weight for rate, weight in rates)
        weights = sum(weight for rate, weight in rates if rate > 0)
        return (2 * rated + weights) // (2 * weights) if weights else 0

    def mean(self, rated: Amounts, weights: Amounts) -> Scores:
        """Rounded, a half upwards."""
        scores: Scores = (2 * rated + weights) // (2 * weights)
        return scores


def _divided(amounts: Amounts, totals: Capacity) -> Amounts:
    """Rounded down.  Below 2**53 a division of floats cannot round up to the next whole number, and is much quicker."""
    if len(amounts) and np.maximum.reduce(amounts) < 1 << 53:
        return (amounts / totals.floats).astype(np.int64)
    rates: Amounts = amounts // totals.amounts
    return rates


def strategy_of(args: ScoringStrategy) -> Strategy:
    """The strategy the args ask for."""
    if args.type == LEAST_ALLOCATED:
        return LeastAllocated()
    if args.type == MOST_ALLOCATED:
        return MostAllocated()
    assert args.requested_to_capacity_ratio is not None  # the args see to it
    return RequestedToCapacityRatio(args.requested_to_capacity_ratio.shape)


def _height(shape: Sequence[ShapePoint], percent: int) -> int:
    """The curve at a whole percent, 0..100.  A falling slope is cut towards zero like a rising one."""
    heights = [point.score * 10 for point in shape]
    for index, point in enumerate(shape):
        if percent <= point.utilization:
            if index == 0:
                return heights[0]
            before = shape[index - 1]
            rise = (heights[index] - heights[index - 1]) * (percent - before.utilization)
            run = point.utilization - before.utilization
            return heights[index - 1] + (rise // run if rise >= 0 else -(-rise // run))
    return heights[-1]
