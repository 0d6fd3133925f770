"""
PodTopologySpread at PreScore, Score and Normalize: fewer matching pods in a node's domains score higher.

``plugin`` calls ``prepare`` once per cycle, then ``score`` (all nodes) or ``score_node`` (one), then
``normalize``.  Counts are weighted by ln(domains + 2), so that a topology with few domains is not drowned by
one with many, and ``maxSkew - 1`` is added to each, which waters small differences down.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from bayplan.framework import MAX_SCORE, Key, Mask, NodeTable, NodeView, Rows, Scores
from bayplan.objects.affinity import SpreadConstraint
from bayplan.objects.node import HOSTNAME_LABEL
from bayplan.objects.pod import Pod
from bayplan.plugins.pod_topology_spread import domain_counts
from bayplan.plugins.pod_topology_spread.domain_counts import Asked, Constraints, Layouts, PerDomain

# Adding a half and cutting off rounds as Go does, half away from zero, where Python and NumPy round to even.
# It is exact for what is rounded here: 0, or at least the smallest weight, ln 3.
HALF = 0.5


@dataclass(frozen=True, slots=True)
class WeighedConstraint:
    """One ScheduleAnyway constraint with its weight, and the points of each domain.

    Hostname domains have no ``points``: their pods are counted on the node itself when it is scored.
    """

    asked: Asked
    weight: float
    points: npt.NDArray[np.float64] | None

    @property
    def constraint(self) -> SpreadConstraint:
        return self.asked.constraint

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
    pod: Pod,
    constraints: Constraints,
    nodes: NodeTable,
    feasible: Rows,
    layouts: Layouts,
    require_all: bool,
) -> SoftSpread:
    """Weights from the feasible nodes' domains, counts from all nodes."""
    needed = constraints if require_all else ()
    complete = layouts.with_every_key(nodes, needed)
    scored = feasible if complete is None else feasible[complete[feasible]]
    weighed = []
    for each in layouts.asked(nodes, pod, constraints, needed):
        constraint = each.constraint
        if constraint.topology_key == HOSTNAME_LABEL:
            weighed.append(WeighedConstraint(each, math.log(len(scored) + 2), None))
            continue
        counts = each.sums(nodes)
        size = layouts.domains(nodes, constraint.topology_key, scored)
        unnamed = None if require_all else nodes.label(constraint.topology_key).id_of.get("")
        if unnamed is not None:
            counts = counts.copy()
            size -= _join_unnamed(nodes, each, pod, scored, unnamed, counts)
        weight = math.log(size + 2)
        points = counts.astype(np.float64) * weight + (constraint.max_skew - 1)
        points[-1] = 0.0
        weighed.append(WeighedConstraint(each, weight, points))
    return SoftSpread(tuple(weighed), constraints, require_all, complete)


def _join_unnamed(nodes: NodeTable, asked: Asked, pod: Pod, scored: Rows, unnamed: int, counts: PerDomain) -> int:
    """Nodes that lack a label are in one domain with those whose label is empty: join the two.

    Gives how many domains fewer that makes.  It happens with the system defaults only, and only where somebody
    wrote an empty zone.
    """
    ids = nodes.label(asked.constraint.topology_key).ids
    lacking = ids < 0
    mask = domain_counts.included(asked.constraint, pod, nodes, lacking)
    counts[unnamed] += domain_counts.pods_on_each(nodes, asked.matcher)[mask].sum()
    return int(lacking[scored].any() and (ids[scored] == unnamed).any())


def score_node(spread: SoftSpread, pod: Pod, node: NodeView) -> int:
    """One node: what its domains are worth; a node left out gets 0."""
    labels = node.labels
    if spread.require_all and not domain_counts.has_every_key(labels, spread.constraints):
        return 0
    total = 0.0
    for each in spread.weighed:
        key = each.constraint.topology_key
        if key not in labels:
            continue
        if each.points is None:
            total += each.worth(domain_counts.pods_on(node, each.constraint, pod.namespace))
        else:
            total += float(each.points[node.label_id(key)])
    return int(total + HALF)


def score(spread: SoftSpread, pod: Pod, nodes: NodeTable) -> Scores:
    """All nodes."""
    total = np.zeros(len(nodes), np.float64)
    for each in spread.weighed:
        ids = nodes.label(each.constraint.topology_key).ids
        if each.points is not None:
            total += each.points.take(ids)
            continue
        pods = domain_counts.pods_on_each(nodes, each.asked.matcher)
        points = pods * each.weight + (each.constraint.max_skew - 1)
        points[ids < 0] = 0.0
        total += points
    scores: Scores = (total + HALF).astype(np.int64)
    if spread.complete is not None:
        complete = domain_counts.with_every_key(nodes, spread.constraints)
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
