"""
PodTopologySpread at PreScore, Score and Normalize: fewer matching pods in a node's domains score higher.

``plugin`` calls ``prepare`` once per cycle, then ``score`` (all nodes) or ``score_node`` (one), then
``normalize``.  Counts are weighted by ln(domains + 2), so that a topology with few domains is not drowned by
one with many, and ``maxSkew - 1`` is added to each, which waters small differences down.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayplan.framework import MAX_SCORE, Key, LabelColumn, Mask, NodeTable, NodeView, Rows, Scores
from bayplan.objects.affinity import SpreadConstraint
from bayplan.objects.node import HOSTNAME_LABEL
from bayplan.objects.pod import Pod
from bayplan.plugins.pod_topology_spread import counting


@dataclass(frozen=True, slots=True)
class WeighedConstraint:
    """One ScheduleAnyway constraint with its weight, and the points of each domain.

    Hostname domains have no ``points``: their pods are counted on the node itself when it is scored.
    """

    constraint: SpreadConstraint
    weight: float
    points: npt.NDArray[np.float64] | None

    def worth(self, pods: int) -> float:
        return pods * self.weight + (self.constraint.max_skew - 1)


@dataclass(frozen=True, slots=True)
class SoftSpread:
    """What PreScore found."""

    weighed: tuple[WeighedConstraint, ...]
    constraints: tuple[SpreadConstraint, ...]
    require_all: bool
    """Nodes that lack a topology key are left out; only the system defaults do without."""
    complete: Mask | None
    """The rows that have every key, where that is asked for; ``None`` when all do."""


STATE: Key[SoftSpread] = Key("PreScorePodTopologySpread")


def prepare(
    pod: Pod, constraints: Sequence[SpreadConstraint], nodes: NodeTable, feasible: Rows, require_all: bool
) -> SoftSpread:
    """Weights from the feasible nodes' domains, counts from all nodes."""
    complete = counting.with_every_key(nodes, constraints) if require_all else None
    scored = feasible if complete is None else feasible[complete[feasible]]
    weighed = tuple(_weigh(pod, each, nodes, scored, complete, require_all) for each in constraints)
    return SoftSpread(weighed, tuple(constraints), require_all, complete)


def _weigh(
    pod: Pod,
    constraint: SpreadConstraint,
    nodes: NodeTable,
    scored: Rows,
    complete: Mask | None,
    require_all: bool,
) -> WeighedConstraint:
    if constraint.topology_key == HOSTNAME_LABEL:
        return WeighedConstraint(constraint, math.log(len(scored) + 2), None)
    column = nodes.label(constraint.topology_key)
    # A node without the label is in the domain "", together with nodes that are labelled so.
    unnamed = None if require_all else column.id_of.get("")
    weight = math.log(_size(column, scored, unnamed) + 2)
    mask = counting.included(constraint, pod, nodes, complete)
    pods = counting.pods_on_each(nodes, constraint, pod.namespace)
    if unnamed is not None:
        # The last slot mixes nodes that are not included with those that lack the label: keep the latter.
        pods = pods if mask is None else np.where(mask, pods, 0)
        mask = None
    counts = counting.per_domain(column, counting.domain_of(column, mask), pods)
    if unnamed is not None:
        counts[unnamed] += counts[-1]
    points = counts.astype(np.float64) * weight + (constraint.max_skew - 1)
    points[-1] = 0.0
    return WeighedConstraint(constraint, weight, points)


def _size(column: LabelColumn, scored: Rows, unnamed: int | None) -> int:
    """How many domains the scored nodes are in."""
    seen = np.bincount(column.ids.take(scored) + 1)
    both = unnamed is not None and len(seen) > unnamed + 1 and seen[0] and seen[unnamed + 1]
    return int(np.count_nonzero(seen)) - (1 if both else 0)


def score_node(spread: SoftSpread, pod: Pod, node: NodeView) -> int:
    """One node: what its domains are worth; a node left out gets 0."""
    labels = node.labels
    if spread.require_all and not counting.has_every_key(labels, spread.constraints):
        return 0
    total = 0.0
    for each in spread.weighed:
        key = each.constraint.topology_key
        if key not in labels:
            continue
        if each.points is None:
            total += each.worth(counting.pods_on(node, each.constraint, pod.namespace))
        else:
            total += float(each.points[node.label_id(key)])
    whole = math.floor(total)
    return whole + (total - whole >= 0.5)


def score(spread: SoftSpread, pod: Pod, nodes: NodeTable) -> Scores:
    """All nodes."""
    total = np.zeros(len(nodes), np.float64)
    for each in spread.weighed:
        ids = nodes.label(each.constraint.topology_key).ids
        if each.points is not None:
            total += each.points.take(ids)
            continue
        pods = counting.pods_on_each(nodes, each.constraint, pod.namespace)
        points = pods * each.weight + (each.constraint.max_skew - 1)
        points[ids < 0] = 0.0
        total += points
    # Half away from zero, as Go rounds; NumPy's own rounding goes to even.
    whole = np.floor(total)
    scores: Scores = whole.astype(np.int64)
    scores += total - whole >= 0.5
    complete = counting.with_every_key(nodes, spread.constraints) if spread.require_all else None
    if complete is not None:
        scores[~complete] = 0
    return scores


def normalize(spread: SoftSpread, scores: Scores, feasible: Rows) -> Scores:
    """Turn round: ``100 * (max + min - score) / max``; nodes left out get 0."""
    scored = None if spread.complete is None else spread.complete[feasible]
    considered = scores if scored is None else scores[scored]
    if not len(considered):
        return np.zeros(len(scores), np.int64)
    high, low = int(considered.max()), int(considered.min())
    if high == 0:
        turned = np.full(len(scores), MAX_SCORE, np.int64)
    else:
        turned = MAX_SCORE * (high + low - scores) // high
    if scored is not None:
        turned[~scored] = 0
    return turned
