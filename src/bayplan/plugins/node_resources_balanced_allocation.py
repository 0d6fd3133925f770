"""
NodeResourcesBalancedAllocation: prefer nodes that the pod makes more evenly used, not lopsided.

A node is balanced if its resources are used to the same fraction; how far they differ is the standard
deviation of those fractions.  The score compares the balance with the pod and without it: 75 means no
change, 100 the greatest gain, 50 the greatest loss.  Pods that request nothing are not scored.

Extension points: PreScore, Score.  Requeue: nothing, it never rejects a pod.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias, cast

import numpy as np
import numpy.typing as npt
from pydantic import field_validator

from bayplan.framework import (
    MAX_SCORE,
    SKIP,
    CycleState,
    Depends,
    Handle,
    Key,
    Mask,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PodTemplate,
    PreScorePlugin,
    Promise,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
)
from bayplan.objects.pod import Pod
from bayplan.objects.resources import CPU, MEMORY, Resources, is_scalar_name
from bayplan.plugins.resource_columns import Capacities, Capacity, allocatable, requested

Fractions: TypeAlias = "npt.NDArray[np.float64]"
HALF = MAX_SCORE // 2
ASKED: Key[tuple[tuple[str, int], ...]] = Key("NodeResourcesBalancedAllocation.asked")
FEW = 16
"""With more rows changed than these, a pass over all of them is quicker."""


class BalancedResource(PluginArgs):
    """A resource that takes part; the weight exists for kube-scheduler's files and can only be 1."""

    name: str
    weight: int = 1

    @field_validator("weight")
    @classmethod
    def _is_one(cls, weight: int) -> int:
        if weight not in (0, 1):
            raise ValueError(f"must be 1, not {weight}: balanced resources all count the same")
        return 1


DEFAULT_RESOURCES = (BalancedResource(name=CPU), BalancedResource(name=MEMORY))


class NodeResourcesBalancedAllocationArgs(PluginArgs):
    """What the profile may set under ``pluginConfig: NodeResourcesBalancedAllocation``."""

    resources: tuple[BalancedResource, ...] = DEFAULT_RESOURCES

    @field_validator("resources")
    @classmethod
    def _are_distinct(cls, resources: tuple[BalancedResource, ...]) -> tuple[BalancedResource, ...]:
        names = [each.name for each in resources]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"{', '.join(twice)} is named more than once; name each resource once")
        return resources or DEFAULT_RESOURCES


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    """Prefer nodes that the pod makes more evenly used, not lopsided."""

    name = "NodeResourcesBalancedAllocation"
    Args = NodeResourcesBalancedAllocationArgs

    def __init__(self, args: Any = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        settings = cast(NodeResourcesBalancedAllocationArgs, args or NodeResourcesBalancedAllocationArgs())
        self.resources = tuple(each.name for each in settings.resources)
        self._capacities = Capacities()
        self._kept: _Kept | None = None

    def requeue_on(self) -> tuple[On, ...]:
        return ()

    def promise(self, template: PodTemplate) -> Promise | None:
        return Promise(key=self._asked(template.requests), score=Depends.AMOUNTS)

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        state[ASKED] = asked = self._asked(pod.accounted)
        return None if any(amount for _, amount in asked) else SKIP

    # -- one node --

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        before, after = [], []
        for resource, amount in state[ASKED]:
            total = allocatable(node, resource)
            if total:
                used = requested(node, resource)
                before.append(min(used / total, 1.0))
                after.append(min((used + amount) / total, 1.0))
        return HALF + (HALF + _balance_one(after) - _balance_one(before)) // 2

    # -- all nodes --

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        asked = state[ASKED]
        used = [_Used(requested(nodes, name), self._capacities.of(nodes, name)) for name, _ in asked]
        fractions = [each.fractions(amount) for each, (_, amount) in zip(used, asked, strict=True)]
        scores = _balance(fractions, [each.there for each in used], len(nodes))
        # In place, and half the gain by a shift: passes over all nodes are what a score costs.
        scores -= self._before(nodes, tuple([name for name, _ in asked]), used)
        scores += HALF
        scores >>= 1
        scores += HALF
        return scores

    def _before(self, nodes: NodeTable, names: tuple[str, ...], used: Sequence[_Used]) -> Scores:
        """How balanced nodes are without the pod: rows that did not change since the pod before keep their answer."""
        key, revision, kept = (nodes, nodes.objects_generation, names), nodes.revision, self._kept
        if kept is not None and kept.key == key:
            changed = (revision != kept.revision).nonzero()[0]
            if len(changed) <= FEW:
                for row in changed.tolist():
                    kept.balance[row] = _balance_one([each.fraction(row) for each in used if each.is_there(row)])
                    kept.revision[row] = revision[row]
                return kept.balance
        balance = _balance([each.fractions(0) for each in used], [each.there for each in used], len(nodes))
        # Imagined nodes have negative revisions: what is on them may change and the number stays.
        self._kept = None if len(revision) and revision.min() < 0 else _Kept(key, revision.copy(), balance)
        return balance

    def _asked(self, asked: Resources) -> tuple[tuple[str, int], ...]:
        """The resources that count for this pod: an extended one only if the pod asks for it."""
        amounts = ((name, asked.get(name)) for name in self.resources)
        return tuple((name, amount) for name, amount in amounts if amount or not is_scalar_name(name))


class _Used(NamedTuple):
    """What is requested of one resource on some nodes, and what they have."""

    amounts: npt.NDArray[np.int64]
    capacity: Capacity

    @property
    def there(self) -> Mask | bool:
        return self.capacity.there

    def fractions(self, more: int) -> Fractions:
        """How much of it is used with so much more."""
        taken = (self.amounts + more if more else self.amounts) / self.capacity.floats
        return np.minimum(taken, 1.0, out=taken)

    def fraction(self, row: int) -> float:
        """How much of it is used on one node."""
        return min(self.amounts.item(row) / self.capacity.floats.item(row), 1.0)

    def is_there(self, row: int) -> bool:
        there = self.there
        return there if isinstance(there, bool) else bool(there[row])


class _Kept(NamedTuple):
    """How balanced the nodes of a table were."""

    key: tuple[NodeTable, int, tuple[str, ...]]
    """Which table, as of which node objects; of which resources."""
    revision: npt.NDArray[np.int64]
    """Of the rows, as of when it was worked out."""
    balance: Scores


def _balance_one(fractions: Sequence[float]) -> int:
    """100 if all resources are used to the same fraction, less the more they differ."""
    count = len(fractions)
    deviation = 0.0
    if count == 2:
        deviation = abs((fractions[0] - fractions[1]) / 2)
    elif count > 2:
        mean = _added(fractions) / count
        deviation = math.sqrt(_added([(each - mean) * (each - mean) for each in fractions]) / count)
    return int((1 - deviation) * MAX_SCORE)


def _added(numbers: Sequence[float]) -> float:
    """Added one after the other.  ``sum`` corrects its rounding in newer Pythons, kube-scheduler does not."""
    total = 0.0
    for number in numbers:
        total += number
    return total


def _balance(fractions: Sequence[Fractions], there: Sequence[Mask | bool], rows: int) -> Scores:
    """The same for all nodes, each with the resources that are there."""
    if len(fractions) < 2:
        return np.full(rows, MAX_SCORE, np.int64)
    if len(fractions) == 2 and all(is_there is True for is_there in there):
        deviation = fractions[0] - fractions[1]
        deviation /= 2
        np.abs(deviation, out=deviation)
    else:
        deviation = _deviation(fractions, there)
    np.subtract(1, deviation, out=deviation)
    deviation *= MAX_SCORE
    return deviation.astype(np.int64)


def _deviation(fractions: Sequence[Fractions], there: Sequence[Mask | bool]) -> Fractions:
    """Summed in the order of the resources, as the one-node form does, so that both round alike."""
    count = np.zeros(len(fractions[0]), np.int64)
    total = np.zeros_like(fractions[0])
    difference = np.zeros_like(fractions[0])
    for fraction, is_there in zip(fractions, there, strict=True):
        count += is_there
        total += np.where(is_there, fraction, 0.0)
        # Where two resources are there this ends as the second less the first.
        difference = np.where(is_there, fraction - difference, difference)
    mean = total / np.maximum(count, 1)
    squares = np.zeros_like(mean)
    for fraction, is_there in zip(fractions, there, strict=True):
        squares += np.where(is_there, (fraction - mean) * (fraction - mean), 0.0)
    standard = np.sqrt(squares / np.maximum(count, 1))
    return np.select([count == 2, count > 2], [np.abs(difference / 2), standard], 0.0)
