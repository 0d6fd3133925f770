"""Count groups and term groups: kept counts say what counting anew would say."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.engine import count_groups
from bayplan.engine.cache import ClusterCache
from bayplan.engine.count_groups import term_matches, terms_of
from bayplan.framework.snapshot import PodMatcher, TermKind
from bayplan.objects.meta import LabelSelector, LabelSelectorRequirement, ObjectMeta
from bayplan.objects.selector import EVERYTHING, compile_label_selector
from bayplan.objects.workload import Namespace
from bayplan.testing import PodBuilder, cluster, node, pod

HOST = "kubernetes.io/hostname"
ANTI = TermKind.REQUIRED_ANTI_AFFINITY


def matcher(*namespaces: str, **labels: str) -> PodMatcher:
    selector = compile_label_selector(LabelSelector(match_labels=labels)) if labels else EVERYTHING
    return PodMatcher(frozenset(namespaces) or None, selector)


WEB = matcher("default", app="web")


def web(name: str, on: str) -> PodBuilder:
    return pod(name).on(on).label(app="web")


def three_nodes(*pods: PodBuilder) -> ClusterCache:
    return cluster([node("a"), node("b"), node("c")], pods)


# -- count groups --


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


# -- term groups --


def terms(cache: ClusterCache, kind: TermKind, made: PodBuilder) -> list[tuple[str, int, list[int]]]:
    return [(t.topology_key, t.weight, t.counts.tolist()) for t in cache.nodes.terms(kind, made.build())]


TARGET = pod("target").label(app="web")
SHY = pod("shy").on("a").anti_affinity({"app": "web"}, HOST)


@pytest.mark.parametrize(
    ("owner", "kind", "expected"),
    [
        (SHY, TermKind.REQUIRED_ANTI_AFFINITY, [(HOST, 0, [1, 0, 0])]),
        (SHY, TermKind.REQUIRED_AFFINITY, []),
        (pod("x").on("b").affinity({"app": "web"}, "zone"), TermKind.REQUIRED_AFFINITY, [("zone", 0, [0, 1, 0])]),
        (pod("x").on("c").prefers_pods(7, {"app": "web"}, HOST), TermKind.PREFERRED_AFFINITY, [(HOST, 7, [0, 0, 1])]),
        (pod("x").on("a").avoids_pods(3, {}, HOST), TermKind.PREFERRED_ANTI_AFFINITY, [(HOST, 3, [1, 0, 0])]),
        (pod("x").on("a").anti_affinity({"app": "db"}, HOST), ANTI, []),
        (pod("x").on("a").anti_affinity(None, HOST), ANTI, []),
        (pod("x").on("a").namespace("other").anti_affinity({"app": "web"}, HOST), ANTI, []),
        (pod("x").on("a").anti_affinity({}, HOST, namespaces=("other",)), ANTI, []),
        (pod("x").on("a").anti_affinity({}, HOST, namespaces=("default", "other")), ANTI, [(HOST, 0, [1, 0, 0])]),
        (pod("x").on("nowhere").anti_affinity({"app": "web"}, HOST), ANTI, []),
    ],
)
def test_terms_that_select_a_pod(owner: PodBuilder, kind: TermKind, expected: list[Any]) -> None:
    assert terms(three_nodes(owner), kind, TARGET) == expected


def test_owners_of_one_term_are_counted_together_and_weights_keep_terms_apart() -> None:
    cache = three_nodes(
        SHY,
        pod("shy-2").on("a").anti_affinity({"app": "web"}, HOST),
        pod("p1").on("b").prefers_pods(1, {"app": "web"}, HOST),
        pod("p2").on("c").prefers_pods(2, {"app": "web"}, HOST),
    )
    assert terms(cache, ANTI, TARGET) == [(HOST, 0, [2, 0, 0])]
    assert terms(cache, TermKind.PREFERRED_AFFINITY, TARGET) == [(HOST, 1, [0, 1, 0]), (HOST, 2, [0, 0, 1])]


def test_terms_go_with_their_last_owner_and_come_back_with_the_next() -> None:
    cache = three_nodes(SHY)
    assert terms(cache, ANTI, TARGET) == [(HOST, 0, [1, 0, 0])]
    cache.remove_pod(SHY.build())
    assert terms(cache, ANTI, TARGET) == []
    cache.add_pod(SHY.on("c").build())
    cache.remove_node("a")
    assert (cache.nodes.names, terms(cache, ANTI, TARGET)) == (["c", "b"], [(HOST, 0, [1, 0])])


def test_terms_nobody_carries_any_more_are_swept_out() -> None:
    cache = three_nodes()
    for number in range(200):
        owner = pod("owner").on("a").anti_affinity({"app": f"app-{number}"}, HOST).build()
        cache.add_pod(owner)
        assert len(cache.nodes.terms(ANTI, pod("t").label(app=f"app-{number}").build())) == 1
    assert len(cache.nodes.term_groups._list) <= 2 * 65


def test_a_namespace_selector_is_asked_about_the_pods_namespace() -> None:
    cache = three_nodes(pod("x").on("a").anti_affinity({"app": "web"}, HOST, ns_selector={"team": "blue"}))

    def relabel(**labels: str) -> None:
        namespace = Namespace(metadata=ObjectMeta(name="default", labels=labels))
        cache.objects.put("Namespace", "", "default", namespace)
        cache.namespaces_changed()

    assert terms(cache, ANTI, TARGET) == [], "a namespace nobody knows has no labels"
    relabel(team="blue")
    assert terms(cache, ANTI, TARGET) == [(HOST, 0, [1, 0, 0])]
    relabel(team="red")
    assert terms(cache, ANTI, TARGET) == []


def test_label_sets_that_were_matched_are_remembered_up_to_a_limit(monkeypatch: Any) -> None:
    monkeypatch.setattr(count_groups, "MAX_REMEMBERED_LABEL_SETS", 3)
    cache = three_nodes(SHY)
    for number in range(10):
        assert terms(cache, ANTI, pod("t").label(app="web", number=str(number))) == [(HOST, 0, [1, 0, 0])]
    assert len(cache.nodes.term_groups._matches) == 3


def test_a_pod_carries_each_of_its_terms() -> None:
    made = (
        pod("p")
        .affinity({"a": "1"}, "zone")
        .anti_affinity({"b": "1"}, HOST)
        .prefers_pods(5, {"c": "1"}, "zone")
        .avoids_pods(6, {"d": "1"}, HOST)
    )
    assert [(kind, term.topology_key, weight) for kind, term, weight in terms_of(made.build())] == [
        (TermKind.REQUIRED_AFFINITY, "zone", 0),
        (TermKind.REQUIRED_ANTI_AFFINITY, HOST, 0),
        (TermKind.PREFERRED_AFFINITY, "zone", 5),
        (TermKind.PREFERRED_ANTI_AFFINITY, HOST, 6),
    ]
    assert list(terms_of(pod("plain").build())) == []


def test_a_selector_that_cannot_be_read_selects_nobody_and_keeps_the_pod_counted() -> None:
    odd = pod("odd").on("a").cpu(1).anti_affinity({"app": "not a value!"}, HOST).affinity({"app": "web"}, HOST)
    cache = three_nodes(odd)
    assert cache.nodes.req_cpu_milli.tolist() == [1000, 0, 0]
    assert terms(cache, ANTI, TARGET) == []
    assert terms(cache, TermKind.REQUIRED_AFFINITY, TARGET) == [(HOST, 0, [1, 0, 0])]
    cache.remove_pod(odd.build())
    assert cache.nodes.req_cpu_milli.tolist() == [0, 0, 0]


def test_a_term_is_asked_with_the_labels_of_the_pods_namespace() -> None:
    owner = pod("x").anti_affinity({"app": "web"}, HOST, ns_selector={"team": "blue"}).build()
    (term,) = owner.required_anti_affinity_terms
    assert term_matches(term, TARGET.build(), {"team": "blue"})
    assert not term_matches(term, TARGET.build(), {})
    assert not term_matches(term, pod("t").build(), {"team": "blue"})
