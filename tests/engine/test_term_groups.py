"""Term groups: the terms that pods on nodes carry, with their owners, are what reading all pods anew would give."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.engine import term_groups
from bayplan.engine.cache import ClusterCache
from bayplan.engine.term_groups import term_matches, terms_of
from bayplan.framework.snapshot import TermKind
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.workload import Namespace
from bayplan.testing import PodBuilder, cluster, node, pod

HOST = "kubernetes.io/hostname"
ANTI = TermKind.REQUIRED_ANTI_AFFINITY


def three_nodes(*pods: PodBuilder) -> ClusterCache:
    return cluster([node("a"), node("b"), node("c")], pods)


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
    monkeypatch.setattr(term_groups, "MAX_REMEMBERED_LABEL_SETS", 3)
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
