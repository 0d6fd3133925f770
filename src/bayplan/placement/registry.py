"""The filters in their order, and the prioritizers by the name a Placement writes under `builtIn`."""

from __future__ import annotations

from bayplan.objects.third_party.placement import BUILT_IN, ScoreCoordinate
from bayplan.placement.plugin import ClusterFilter, ClusterScorer
from bayplan.placement.plugins.addon_score import AddOnScore
from bayplan.placement.plugins.balance import Balance
from bayplan.placement.plugins.predicate import Predicate
from bayplan.placement.plugins.resource import ResourceAllocatableCPU, ResourceAllocatableMemory
from bayplan.placement.plugins.spread import Spread, SpreadKeys
from bayplan.placement.plugins.steady import Steady
from bayplan.placement.plugins.taint_toleration import TaintToleration

TAINTS = TaintToleration()
FILTERS: tuple[ClusterFilter, ...] = (Predicate(), TAINTS, SpreadKeys())
SCORERS: dict[str, ClusterScorer] = {
    scorer.name: scorer
    for scorer in (Balance(), Steady(), ResourceAllocatableCPU(), ResourceAllocatableMemory(), Spread())
}


def scorer_of(coordinate: ScoreCoordinate) -> ClusterScorer:
    """Who gives the score; the coordinate has been checked."""
    if coordinate.type == BUILT_IN:
        return SCORERS[coordinate.built_in]
    assert coordinate.add_on is not None
    return AddOnScore(coordinate.add_on.resource_name, coordinate.add_on.score_name)
