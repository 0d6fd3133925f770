"""The filters in their order, and the prioritizers by the name a Placement writes under `builtIn`.

Plugins that do not come with Bayplan are behind its own; the plan of a placement has those that it uses.
"""

from __future__ import annotations

from bayplan.objects.third_party.placement import BUILT_IN, ScoreCoordinate
from bayplan.placement.cluster_plugin import ClusterFilterPlugin, ClusterScorePlugin
from bayplan.placement.own_plugins import OwnFilter, OwnScorer
from bayplan.placement.plan import Plan
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


def filters_of(plan: Plan) -> tuple[ClusterFilter, ...]:
    """All filters of a placement, in their order."""
    if not plan.own:
        return FILTERS
    return (*FILTERS, *(OwnFilter(each) for each in plan.own if isinstance(each, ClusterFilterPlugin)))


def scorer_of(plan: Plan, coordinate: ScoreCoordinate) -> ClusterScorer:
    """Who gives the score; the coordinate has been checked."""
    if coordinate.type == BUILT_IN:
        for each in plan.own:
            if each.name == coordinate.built_in and isinstance(each, ClusterScorePlugin):
                return OwnScorer(each)
        return SCORERS[coordinate.built_in]
    assert coordinate.add_on is not None
    return AddOnScore(coordinate.add_on.resource_name, coordinate.add_on.score_name)
