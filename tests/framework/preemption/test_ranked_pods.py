"""The pods of a node in order of importance, kept while the node's revision stands."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime

import numpy as np
import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework.preemption import ranked_pods
from bayplan.framework.preemption.ranked_pods import NodePods, RankedPods, amounts_in, priorities_in, started_at_in
from bayplan.framework.preemption.what_if_rows import amounts_of
from bayplan.objects.pod import Pod
from bayplan.testing import PodBuilder, cluster, node, pod

NOW = 2_000_000_000.0
ALL = np.array([0, 1], np.intp)


def at(after_s: float) -> str:
    return datetime.fromtimestamp(NOW + after_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def runs(name: str, priority: int = 0, on: str = "a") -> PodBuilder:
    return pod(name).on(on).priority(priority).cpu(1)


def two_nodes(*pods: PodBuilder) -> ClusterCache:
    return cluster([node("a"), node("b")], pods)


def names(ranked: NodePods, pods: Iterable[Pod]) -> list[str]:
    return [each.name for each in ranked.ranked(pods)]


def test_higher_priority_then_longer_running_then_as_they_came() -> None:
    made = [
        runs("new").build(),
        runs("young").started(at(-1)).build(),
        runs("high", 5).build(),
        runs("old").started(at(-9)).build(),
        runs("newer").build(),
    ]
    ranked = NodePods(made)
    assert names(ranked, made) == ["high", "old", "young", "new", "newer"]
    assert [each.name for each in ranked.ranked(made, 3)] == ["new", "newer"]
    assert ranked.highest == 5
    assert priorities_in(ranked.numbers).tolist() == [5, 0, 0, 0, 0]
    assert amounts_in(ranked.numbers).tolist() == [[*amounts_of(each)] for each in ranked.ranked(made)]
    assert started_at_in(ranked.numbers).tolist() == [np.inf, NOW - 9, NOW - 1, np.inf, np.inf]


@pytest.mark.parametrize(("priority", "first"), [(6, 0), (5, 1), (1, 1), (0, 3), (-9, 3)])
def test_those_below_a_priority_are_the_last(priority: int, first: int) -> None:
    assert NodePods([runs("a").build(), runs("b", 5).build(), runs("c").build()]).first_below(priority) == first


def test_a_pod_that_will_have_started_ranks_before_the_unstarted_only_from_then_on() -> None:
    cache = two_nodes(runs("unstarted"), runs("ahead").started(at(50)))
    ranked = RankedPods()
    for now, expected in ((NOW, ["unstarted", "ahead"]), (NOW + 51, ["ahead", "unstarted"]), (NOW + 50, None)):
        (first,), _ = ranked.below(cache.nodes, ALL[:1], 1, now)
        # At the very moment both have started now, and stay as the node has them.
        assert names(first, cache.nodes.pods_at(0)) == (expected or ["unstarted", "ahead"])


def test_only_nodes_with_somebody_lower_are_given_in_the_order_asked() -> None:
    cache = two_nodes(runs("x", 7), runs("y", 3, on="b"))
    ranked = RankedPods()
    backwards = ALL[::-1]
    assert ranked.with_lower(cache.nodes, backwards, 8).tolist() == [1, 0]
    assert ranked.with_lower(cache.nodes, backwards, 7).tolist() == [1]
    assert ranked.with_lower(cache.nodes, backwards, 3).tolist() == []


def test_what_is_known_follows_the_node() -> None:
    cache = two_nodes(runs("x", 7))
    ranked = RankedPods()
    assert ranked.with_lower(cache.nodes, ALL, 5).tolist() == []
    cache.add_pod(runs("low", 1).build())
    assert ranked.with_lower(cache.nodes, ALL, 5).tolist() == [0]
    (first,), places = ranked.below(cache.nodes, ALL[:1], 5, NOW)
    assert (names(first, cache.nodes.pods_at(0)), places) == (["x", "low"], [1])
    cache.remove_pod(runs("x", 7).build())
    (first,), places = ranked.below(cache.nodes, ALL[:1], 5, NOW)
    assert (names(first, cache.nodes.pods_at(0)), places) == (["low"], [0])


def test_an_unchanged_node_is_not_ranked_again(monkeypatch: pytest.MonkeyPatch) -> None:
    cache = two_nodes(runs("x"), runs("y", on="b"))
    ranked = RankedPods()
    (before, _), _ = ranked.below(cache.nodes, ALL, 5, NOW)
    cache.add_node(node("c").build())
    assert ranked.below(cache.nodes, ALL, 5, NOW)[0][0] is before
    monkeypatch.setattr(ranked_pods, "MAX_NODES", 2)
    assert ranked.below(cache.nodes, ALL, 5, NOW)[0][0] is not before
