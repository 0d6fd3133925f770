"""Count groups: kept counts say what counting anew would say."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.engine import count_groups
from bayplan.engine.cache import ClusterCache
from bayplan.framework.snapshot import PodMatcher
from bayplan.objects.meta import LabelSelector, LabelSelectorRequirement
from bayplan.objects.selector import EVERYTHING, compile_label_selector
from bayplan.testing import PodBuilder, cluster, node, pod


def matcher(*namespaces: str, **labels: str) -> PodMatcher:
    selector = compile_label_selector(LabelSelector(match_labels=labels)) if labels else EVERYTHING
    return PodMatcher(frozenset(namespaces) or None, selector)


WEB = matcher("default", app="web")


def web(name: str, on: str) -> PodBuilder:
    return pod(name).on(on).label(app="web")


def three_nodes(*pods: PodBuilder) -> ClusterCache:
    return cluster([node("a"), node("b"), node("c")], pods)


@pytest.mark.parametrize(
    ("question", "skip_terminating", "counts"),
    [
        ((WEB,), False, [2, 1, 0]),
        ((WEB,), True, [1, 1, 0]),
        ((matcher(app="web"),), False, [2, 2, 0]),
        ((matcher("other"),), False, [0, 1, 0]),
        ((matcher(),), False, [2, 3, 0]),
        ((WEB, matcher(tier="front")), False, [1, 0, 0]),
        ((matcher("default", app="db"),), False, [0, 0, 0]),
        ((), False, [2, 3, 0]),
    ],
)
def test_pods_are_counted_by_namespace_and_labels(
    question: tuple[PodMatcher, ...], skip_terminating: bool, counts: list[int]
) -> None:
    cache = three_nodes(
        web("w1", "a").label(tier="front"),
        web("w2", "a").terminating(),
        web("w3", "b"),
        web("w4", "b").namespace("other"),
        pod("plain").on("b"),
    )
    assert cache.nodes.matching_pods(*question, skip_terminating=skip_terminating).tolist() == counts


def test_counts_follow_pods_that_come_change_and_go() -> None:
    cache = three_nodes(web("w1", "a"))

    def counts() -> list[int]:
        return list(cache.nodes.matching_pods(WEB))

    assert counts() == [1, 0, 0]
    cache.assume(web("w2", "b").build())
    assert counts() == [1, 1, 0]
    cache.forget(web("w2", "b").build())
    cache.add_pod(web("w3", "c").build())
    assert counts() == [1, 0, 1]
    cache.add_pod(pod("w3").on("c").label(app="db").build())
    assert counts() == [1, 0, 0]
    cache.add_pod(web("w1", "a").terminating().build())
    assert cache.nodes.matching_pods(WEB, skip_terminating=True).tolist() == [0, 0, 0]
    cache.remove_pod(web("w1", "a").build())
    assert counts() == [0, 0, 0]


def test_counts_move_with_their_rows_and_ghosts_count_when_their_node_comes() -> None:
    cache = three_nodes(web("w1", "a"), web("w2", "c"), web("ghost", "d"))
    assert cache.nodes.matching_pods(WEB).tolist() == [1, 0, 1]
    cache.remove_node("a")
    assert (cache.nodes.names, cache.nodes.matching_pods(WEB).tolist()) == (["c", "b"], [1, 0])
    cache.add_node(node("d").build())
    cache.add_node(node("a").build())
    assert cache.nodes.matching_pods(WEB).tolist() == [1, 0, 1, 1]


def test_the_same_question_in_other_words_is_one_group() -> None:
    cache = three_nodes(web("w1", "a"))
    written = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="In", values=("web",)),))
    again = PodMatcher(frozenset(("default",)), compile_label_selector(written))
    assert cache.nodes.matching_pods(WEB) is cache.nodes.matching_pods(again)


def test_old_questions_make_room_for_new_ones_and_are_counted_again_when_asked(monkeypatch: Any) -> None:
    monkeypatch.setattr(count_groups, "MIN_GROUPS", 2)
    monkeypatch.setattr(count_groups, "MAX_GROUP_BYTES", 0)
    cache = three_nodes(web("w1", "a"))
    cache.nodes.matching_pods(WEB)
    for number in range(4):
        cache.nodes.matching_pods(matcher(app=f"app-{number}"))
        cache.add_pod(web(f"more-{number}", "b").build())
    assert len(cache.nodes.counts._groups) == 2
    assert cache.nodes.matching_pods(WEB).tolist() == [1, 4, 0]
    cache.remove_pod(web("more-0", "b").build())
    assert cache.nodes.matching_pods(WEB).tolist() == [1, 3, 0]
