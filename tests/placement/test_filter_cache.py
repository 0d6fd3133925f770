"""Filters are asked once for all placements that filter alike, and again when something happened."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.meta import LabelSelector
from bayplan.objects.third_party import placement as api
from bayplan.placement.events import Applied
from bayplan.placement.plan import compile_placement
from bayplan.placement.plugins.predicate import Predicate
from bayplan.placement.registry import SCORERS
from tests.placement.fleet_building import NAMESPACE, cluster, placement, state_of


def choosy(name: str, tier: str) -> api.Placement:
    selector = api.ClusterSelector(label_selector=LabelSelector(match_labels={"tier": tier}))
    return placement(name, predicates=(api.ClusterPredicate(required_cluster_selector=selector),))


def test_the_same_predicates_are_one_question(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    ask = Predicate.filter

    def count(self: Predicate, plan: Any, *rest: Any) -> Any:
        asked.append(plan.key)
        return ask(self, plan, *rest)

    monkeypatch.setattr(Predicate, "filter", count)
    fleet = [cluster("a", {"tier": "1"}), cluster("b", {"tier": "2"})]
    state = state_of(*fleet, choosy("p", "1"), choosy("q", "1"), choosy("r", "2"))
    assert asked == [f"{NAMESPACE}/p", f"{NAMESPACE}/r"]
    assert [state.clusters(key) for key in state.placements()] == [("a",), ("a",), ("b",)]
    state.handle(Applied(cluster("b", {"tier": "1"})))
    assert [state.clusters(key) for key in state.placements()] == [("a", "b"), ("a", "b"), ()]


def test_plans_are_alike_if_they_filter_alike() -> None:
    first, same, other = (
        compile_placement(each, SCORERS) for each in (choosy("p", "1"), choosy("q", "1"), choosy("p", "2"))
    )
    assert first.likeness is same.likeness
    assert first.likeness is not other.likeness
