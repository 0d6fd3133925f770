"""The cache: states of a pod, ghosts, rows that move, and every column that follows nodes and pods."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.errors import StateError
from bayplan.framework.snapshot import COLUMNS, PodMatcher, TermKind
from bayplan.objects.node import Node
from bayplan.objects.selector import label_selector_from_map
from bayplan.objects.toleration import DO_NOT_SCHEDULE
from bayplan.testing import NodeBuilder, PodBuilder, cluster, node, pod

GPU = "example.com/gpu"
WEB = pod("web").on("a").cpu("1500m").memory("1Gi").scalar(GPU, 2).port(80)


def req(cache: ClusterCache, name: str) -> tuple[int, int, int]:
    view = cache.nodes.node(cache.nodes.names.index(name))
    return view.pods_count, view.req_cpu_milli, view.scalar_req(GPU)


# -- pods --


def test_a_pod_counts_on_its_node_while_it_is_assumed_and_after() -> None:
    cache = cluster([node("a"), node("b")])
    cache.assume(WEB.build())
    assert req(cache, "a") == (1, 1500, 2)
    assert cache.is_assumed(WEB.build().uid)
    assert (cache.pod_count, cache.assumed_count) == (1, 1)
    cache.add_pod(WEB.build())
    assert req(cache, "a") == (1, 1500, 2)
    assert not cache.is_assumed(WEB.build().uid)
    cache.remove_pod(WEB.build())
    assert req(cache, "a") == (0, 0, 0)
    assert (cache.pod_count, cache.assumed_count) == (0, 0)


def test_a_confirmation_moves_the_pod_to_where_the_api_server_has_it() -> None:
    cache = cluster([node("a"), node("b")])
    cache.assume(WEB.build())
    cache.add_pod(WEB.on("b").build())
    assert (req(cache, "a"), req(cache, "b")) == ((0, 0, 0), (1, 1500, 2))


@pytest.mark.parametrize(
    "told",
    [
        WEB,
        WEB.annotation(told="later"),
        WEB.label(app="other"),
        WEB.cpu("2"),
        WEB.owned_by("ReplicaSet", "other"),
        WEB.terminating(),
        WEB.on("b"),
        WEB.port(81),
        WEB.anti_affinity({"app": "web"}, "zone"),
    ],
)
def test_whatever_is_told_of_a_known_pod_counts_as_if_it_were_told_first(told: PodBuilder) -> None:
    first, second = cluster([node("a").label(zone="z"), node("b")]), cluster([node("a").label(zone="z"), node("b")])
    matcher = PodMatcher(frozenset({"default"}), label_selector_from_map({"app": "web"}))
    first.assume(WEB.label(app="web").build())
    list(first.nodes.pods_of("ReplicaSet", "default", "other"))
    first.nodes.matching_pods(matcher, skip_terminating=True)
    newest = told.build() if told.build().labels else told.label(app="web").build()
    for cache in (first, second):
        cache.add_pod(newest)
    assert seen(first, matcher) == seen(second, matcher)
    assert not first.is_assumed(newest.uid)
    first.remove_pod(newest)
    second.remove_pod(newest)
    assert seen(first, matcher) == seen(second, matcher)


def seen(cache: ClusterCache, matcher: PodMatcher) -> list[Any]:
    nodes = cache.nodes
    columns = [getattr(nodes, name).tolist() for name in COLUMNS]
    counts = [nodes.matching_pods(matcher, skip_terminating=skip).tolist() for skip in (True, False)]
    asking = pod("asks").label(app="web").build()
    terms = [(each.topology_key, each.counts.tolist()) for kind in TermKind for each in nodes.terms(kind, asking)]
    owned = [each for _, each in nodes.pods_of("ReplicaSet", "default", "other")]
    pods = [list(nodes.pods_at(row)) for row in range(len(nodes))]
    ports = [sorted(nodes.port_users("TCP", port)) for port in (80, 81)]
    return [columns, counts, terms, owned, pods, ports, cache.pod_count]


def test_a_forgotten_pod_leaves_no_trace() -> None:
    cache = cluster([node("a")])
    cache.assume(WEB.build())
    cache.forget(WEB.build())
    assert req(cache, "a") == (0, 0, 0)
    assert cache.pod(WEB.build().uid) is None
    cache.forget(WEB.build())  # once more is no error


def test_assumed_pods_never_expire() -> None:
    cache = cluster([node("a")])
    cache.assume(WEB.build())
    for number in range(100):
        cache.add_pod(pod(f"p{number}").on("a").build())
    assert cache.is_assumed(WEB.build().uid)


@pytest.mark.parametrize(
    ("before", "then", "complaint"),
    [
        ("assume", "assume", "is in the cache already and cannot be assumed"),
        ("add_pod", "assume", "is in the cache already and cannot be assumed"),
        ("add_pod", "forget", "is not assumed and cannot be forgotten"),
    ],
)
def test_the_impossible_is_refused_with_the_pods_name(before: str, then: str, complaint: str) -> None:
    cache = cluster([node("a")])
    getattr(cache, before)(WEB.build())
    with pytest.raises(StateError, match=rf"pod default/web \(pod-default-web\) {complaint}"):
        getattr(cache, then)(WEB.build())
    assert req(cache, "a") == (1, 1500, 2)


def test_an_update_replaces_what_was_counted() -> None:
    cache = cluster([node("a")], [WEB])
    cache.add_pod(WEB.cpu("250m").build())
    assert req(cache, "a") == (1, 250, 2)
    cache.add_pod(WEB.build())  # a watch that starts anew tells of it again
    assert req(cache, "a") == (1, 1500, 2)


def test_removing_who_is_not_there_is_no_error() -> None:
    cache = cluster([node("a")])
    cache.remove_pod(WEB.build())
    cache.remove_node("nobody")
    assert cache.nodes.names == ["a"]


# -- ghosts --


def test_pods_of_an_unknown_node_wait_for_it() -> None:
    cache = cluster([node("b")], [WEB])
    assert len(cache.nodes) == 1
    assert req(cache, "b") == (0, 0, 0)
    cache.add_node(node("a").build())
    assert req(cache, "a") == (1, 1500, 2)
    assert list(cache.nodes.port_users("TCP", 80)) == [(1, "0.0.0.0")]


def test_a_ghost_can_leave_and_be_forgotten_like_any_pod() -> None:
    cache = ClusterCache()
    cache.add_pod(WEB.build())
    cache.assume(pod("other").on("a").build())
    cache.remove_pod(WEB.build())
    cache.forget(pod("other").on("a").build())
    cache.add_node(node("a").build())
    assert req(cache, "a") == (0, 0, 0)


def test_pods_of_a_removed_node_are_kept_until_they_go_or_it_returns() -> None:
    cache = cluster([node("a"), node("b")], [WEB, pod("other").on("a").cpu(1)])
    cache.remove_node("a")
    assert cache.nodes.names == ["b"]
    assert cache.pod_count == 2
    assert list(cache.nodes.port_users("TCP", 80)) == []
    cache.remove_pod(pod("other").on("a").build())
    cache.add_node(node("a").build())
    assert req(cache, "a") == (1, 1500, 2)


# -- nodes --


def test_the_last_row_moves_into_the_gap_with_all_it_has() -> None:
    nodes = [node("a"), node("b"), node("c").scalar(GPU, 4).label(disk="ssd").taint("gpu").cordoned()]
    cache = cluster(nodes, [WEB.on("c")])
    disk = cache.nodes.label("disk")
    assert disk.ids.tolist() == [-1, -1, 0]
    cache.remove_node("a")
    table = cache.nodes
    assert table.names == ["c", "b"]
    assert (table.row_of("a"), table.row_of("b"), table.row_of("c")) == (None, 1, 0)
    assert req(cache, "c") == (1, 1500, 2)
    assert table.scalar_alloc(GPU).tolist() == [4, 0]
    assert table.label("disk").ids.tolist() == [0, -1]
    assert table.unschedulable.tolist() == [True, False]
    assert [taint.key for taint in table.taint_sets[table.taints_id[0]]] == ["gpu"]
    assert [each.name for each in table.pods_at(0)] == ["web"]
    assert list(table.port_users("TCP", 80)) == [(0, "0.0.0.0")]
    assert (len(table), table.total_nodes) == (2, 2)


def test_an_updated_node_keeps_its_pods_and_loses_what_it_had_before() -> None:
    cache = cluster([node("a").scalar(GPU, 4).label(disk="ssd").taint("gpu")], [WEB])
    cache.nodes.label("disk")
    cache.update_node(node("a").cpu(8).build())
    view = cache.nodes.node(0)
    assert req(cache, "a") == (1, 1500, 2)
    assert (view.alloc_cpu_milli, view.scalar_alloc(GPU), view.label_id("disk"), view.taints) == (8000, 0, -1, ())
    assert cache.nodes.tolerating((), DO_NOT_SCHEDULE).tolist() == [True]


@pytest.mark.parametrize("column", list(COLUMNS))
def test_columns_cannot_be_written_by_who_reads_them(column: str) -> None:
    cache = cluster([node("a")])
    with pytest.raises(ValueError, match="read-only"):
        getattr(cache.nodes, column)[0] = 1


def test_images_are_known_by_all_their_names_with_the_size_that_was_told_first() -> None:
    table = cluster(
        [node("a").image(["app:1", "app@sha256:0"], "250Mi"), node("b"), node("c").image("app:1", "99Mi")]
    ).nodes
    known = table.image("app:1")
    assert known is not None
    assert (known.size_bytes, known.num_nodes, known.rows.tolist()) == (250 << 20, 2, [0, 2])
    alias = table.image("app@sha256:0")
    assert alias is not None
    assert alias.rows.tolist() == [0]
    assert table.image("app:2") is None


def test_images_follow_nodes_that_change_move_and_go() -> None:
    cache = cluster([node("a"), node("b").image("app:1", "1Mi"), node("c").image("app:1", "1Mi")])
    assert cache.nodes.image("app:1") is not None
    cache.remove_node("a")
    moved = cache.nodes.image("app:1")
    assert moved is not None
    assert moved.rows.tolist() == [0, 1]
    cache.update_node(node("c").build())
    left = cache.nodes.image("app:1")
    assert left is not None
    assert [cache.nodes.names[row] for row in left.rows] == ["b"]
    cache.remove_node("b")
    assert cache.nodes.image("app:1") is None


def test_the_same_port_taken_twice_is_free_only_when_both_are_gone() -> None:
    other = pod("other").on("a").port(80)
    cache = cluster([node("a")], [WEB, other, pod("local").on("a").port(80, ip="10.0.0.1", protocol="UDP")])
    cache.remove_pod(WEB.build())
    assert list(cache.nodes.port_users("TCP", 80)) == [(0, "0.0.0.0")]
    assert list(cache.nodes.port_users("UDP", 80)) == [(0, "10.0.0.1")]
    cache.remove_pod(other.build())
    assert list(cache.nodes.port_users("TCP", 80)) == []


# -- derived columns --


def test_two_plugins_that_choose_one_name_do_not_share_a_column() -> None:
    cache = cluster([node("n1").label(a="1", b="2")])

    def labelled(key: str) -> list[float]:
        return list(cache.nodes.derive("mine", lambda each: float(each.labels[key]), np.float64))

    assert [labelled("a"), labelled("b"), labelled("a")] == [[1.0], [2.0], [1.0]]
    assert list(cache.nodes.derive("mine", lambda each: 7, np.int64)) == [7]


def test_a_function_that_is_made_anew_keeps_its_column() -> None:
    cache = cluster([node("n1")])
    asked: list[str] = []

    class Reader:
        def of(self, each: Node) -> int:
            asked.append(each.name)
            return 1

    reader = Reader()
    for _ in range(20):
        cache.nodes.derive("a", reader.of, np.int64)
        cache.nodes.derive("b", lambda each: reader.of(each), np.int64)
    assert asked == ["n1", "n1"]


def test_a_function_that_is_never_the_same_is_right_each_time() -> None:
    cache = cluster([node("n1")])
    found = [list(cache.nodes.derive("a", lambda each, n=[number]: n[0], np.int64)) for number in range(50)]

    assert found == [[number] for number in range(50)]


def test_a_derived_column_follows_the_nodes() -> None:
    cache = cluster([node("a").annotation(load="0.5"), node("b")])

    def derived() -> list[float]:
        of = lambda each: float(each.annotations.get("load", "-1"))  # noqa: E731
        return list(cache.nodes.derive("load", of, np.float64))

    assert derived() == [0.5, -1.0]
    cache.update_node(node("b").annotation(load="0.9").build())
    cache.add_node(node("c").annotation(load="0.1").build())
    cache.remove_node("a")
    assert (cache.nodes.names, derived()) == (["c", "b"], [0.1, 0.9])


def test_a_derived_column_that_fails_is_the_askers_problem_and_never_half_there() -> None:
    cache = cluster([node("a").annotation(load="1"), node("b").annotation(load="high")])
    for _ in range(2):
        with pytest.raises(ValueError, match="could not convert string to float"):
            cache.nodes.derive("load", lambda each: float(each.annotations["load"]), np.float64)
    cache.update_node(node("b").annotation(load="2").build())
    column = cache.nodes.derive("load", lambda each: float(each.annotations["load"]), np.float64)
    assert column.tolist() == [1.0, 2.0]


def test_a_node_that_a_derived_column_cannot_read_joins_all_the_same() -> None:
    cache = cluster([node("a").annotation(load="1")])
    of = lambda each: float(each.annotations["load"])  # noqa: E731
    cache.nodes.derive("load", of, np.float64)
    cache.add_node(node("b").cpu(7).image("app:1", "1Mi").build())
    assert cache.nodes.alloc_cpu_milli.tolist() == [4000, 7000]
    assert cache.nodes.image("app:1") is not None
    with pytest.raises(KeyError):
        cache.nodes.derive("load", of, np.float64)


# -- order and the journal --


def zoned(name: str, zone: str, region: str = "") -> NodeBuilder:
    made = node(name).zone(zone)
    return made.label({"topology.kubernetes.io/region": region}) if region else made


def order(cache: ClusterCache) -> str:
    return "".join(cache.nodes.names[row] for row in cache.node_order())


def test_zones_take_turns() -> None:
    nodes = [zoned("a", "z1"), zoned("b", "z1"), zoned("c", "z1"), zoned("d", "z2"), zoned("e", "z3"), zoned("f", "z3")]
    assert order(cluster(nodes)) == "adebfc"


@pytest.mark.parametrize(
    ("nodes", "expected"),
    [
        ([zoned("a", "z"), zoned("b", "z"), zoned("c", "z", "r2")], "acb"),
        ([node("a"), node("b"), zoned("c", "z")], "acb"),
        # the old label wins where it is there, even an empty one
        (
            [
                zoned("a", "z1"),
                zoned("b", "z1"),
                zoned("c", "z1").label({"failure-domain.beta.kubernetes.io/zone": ""}),
                node("d"),
            ],
            "acbd",
        ),
    ],
)
def test_what_makes_a_zone(nodes: list[NodeBuilder], expected: str) -> None:
    assert order(cluster(nodes)) == expected


def test_the_order_is_made_anew_only_when_a_node_comes_or_goes() -> None:
    cache = cluster([zoned("a", "z1"), zoned("b", "z1"), zoned("c", "z2")])
    assert order(cache) == "acb"
    cache.update_node(zoned("b", "z2").build())
    assert order(cache) == "acb"
    cache.add_node(zoned("d", "z1").build())
    assert order(cache) == "acdb"
    cache.remove_node("a")
    assert order(cache) == "dcb"
    assert sorted(cache.node_order().tolist()) == [0, 1, 2]


def test_the_journal_is_cut_where_rows_are_numbered_anew() -> None:
    cache = cluster([node("a"), node("b")])
    before = cache.journal.position
    cache.update_node(node("a").cpu(8).build())
    cache.add_pod(WEB.build())
    assert cache.journal.reaches(before)
    cache.remove_node("a")
    assert not cache.journal.reaches(before)
    before = cache.journal.position
    cache.add_node(node("c").build())
    assert not cache.journal.reaches(before)


def test_the_journal_tells_which_rows_changed() -> None:
    cache = cluster([node("a"), node("b"), node("c")])
    start, generation = cache.journal.position, cache.generation
    assert cache.journal.since(start) == []
    cache.add_pod(WEB.on("b").build())
    cache.update_node(node("c").cpu(1).build())
    assert cache.journal.since(start) == [1, 2]
    assert cache.snapshot().generation > generation


def test_generations_of_node_objects_move_with_objects_only() -> None:
    cache = cluster([node("a"), node("b")])
    before = cache.nodes.objects_generation
    cache.add_pod(WEB.build())
    assert cache.nodes.objects_generation == before
    cache.update_node(node("a").build())
    then = cache.nodes.objects_generation
    assert then > before
    cache.remove_node("b")
    assert cache.nodes.objects_generation > then


def test_label_values_of_nodes_long_gone_are_let_go() -> None:
    cache = ClusterCache()
    for number in range(1100):
        cache.add_node(node(f"n{number}").build())
        cache.nodes.label("kubernetes.io/hostname")
        if number:
            cache.remove_node(f"n{number - 1}")
    column = cache.nodes.label("kubernetes.io/hostname")
    assert len(column.values) <= 1026
    assert [column.values[number] for number in column.ids] == ["n1099"]


def test_pods_are_found_by_what_owns_them_before_and_after_the_first_question() -> None:
    cache = ClusterCache()
    cache.add_node(node("n1").build())
    cache.add_node(node("n2").build())
    early, late = (pod(name).owned_by("ReplicaSet", "web").on("n2") for name in ("early", "late"))
    cache.add_pod(early.build())
    assert [(row, each.name) for row, each in cache.nodes.pods_of("ReplicaSet", "default", "web")] == [(1, "early")]
    cache.assume(late.build())
    cache.add_pod(pod("other").owned_by("ReplicaSet", "else").on("n1").build())
    found = [(row, each.name) for row, each in cache.nodes.pods_of("ReplicaSet", "default", "web")]
    assert found == [(1, "early"), (1, "late")]
    one = cache.nodes.node(1).as_table()
    assert [each.name for _, each in one.pods_of("ReplicaSet", "default", "web")] == ["early", "late"]
    cache.forget(late.build())
    cache.remove_pod(early.build())
    assert list(cache.nodes.pods_of("ReplicaSet", "default", "web")) == []


# -- revisions --


def test_a_nodes_revision_moves_with_the_node_and_its_pods_and_with_nothing_else() -> None:
    cache = cluster([node("a"), node("b"), node("c")])

    def revisions() -> dict[str, int]:
        return dict(zip(cache.nodes.names, cache.nodes.revision.tolist(), strict=True))

    first = revisions()
    cache.assume(WEB.build())
    placed = revisions()
    assert {name for name in first if placed[name] != first[name]} == {"a"}
    cache.update_node(node("b").label(x="y").build())
    assert {name for name, at in revisions().items() if placed[name] != at} == {"b"}
    before = revisions()
    cache.remove_node("a")
    assert revisions()["b"] == before["b"]
    cache.add_node(node("a").build())
    assert revisions()["a"] not in (first["a"], placed["a"])
