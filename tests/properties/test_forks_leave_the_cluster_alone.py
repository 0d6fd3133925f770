"""
Whatever is done to a fork, the cluster that it was forked from stays as it was to the last byte, and the fork is what a
cluster is to which the same was done for real.  Forks of forks too; and no plugin can write to any of their columns.
"""

from __future__ import annotations

from copy import deepcopy
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.engine.cache import ClusterCache
from bayplan.framework.snapshot import COLUMNS, PodMatcher, TermKind
from bayplan.objects.selector import EVERYTHING
from bayplan.testing import cluster, node, pod
from tests.properties.test_cache_equals_rebuild import EVENTS, GPU, HOST, TARGETS, ZONE, World, by_name, everything

EDITS = EVENTS.filter(lambda event: event[0] != "namespace_told")
STEPS = st.one_of(EDITS, EDITS, EDITS, st.tuples(st.just("fork")), st.tuples(st.just("drop")))


def forked(world: World) -> World:
    fork = World(0)
    fork.cache = world.cache.fork()
    fork.nodes, fork.pods, fork.assumed, fork.team = (
        dict(world.nodes), dict(world.pods), set(world.assumed), world.team,
    )  # fmt: skip
    return fork


class State:
    """All that a cache holds, taken down."""

    def __init__(self, cache: ClusterCache) -> None:
        self.cols = [(col, col.data.tobytes()) for col in cache.columns._cols.values()]
        self.rest = self._rest(cache)

    def assert_is(self, cache: ClusterCache) -> None:
        """Columns may have been made since, none may have changed."""
        for col, before in self.cols:
            assert col.data.tobytes() == before
        assert self._rest(cache) == self.rest

    @staticmethod
    def _rest(cache: ClusterCache) -> Any:
        table = cache.nodes
        return deepcopy(
            [
                list(table.names),
                [[(uid, id(each)) for uid, each in pods.items()] for pods in table.pods],
                [id(each) for each in table.objects],
                table._rows,
                [repr(taints) for taints in table.taint_sets],
                table._images._images,
                sorted(cache._pods),
                sorted(cache._assumed),
                [sorted(cache._ghosts.of(name)) for name in ("n0", "n1", "n2", "never-there")],
                [(zone, list(names)) for zone, names in cache._zones.items()],
                cache.generation,
                table.objects_generation,
                cache.journal.position,
                everything(cache),
            ]
        )


def in_order(cache: ClusterCache) -> list[Any]:
    """What also has to be in the same rows and places."""
    pods = [[each.name for each in cache.nodes.pods_at(row)] for row in range(len(cache.nodes))]
    return [list(cache.nodes.names), pods, cache.node_order().tolist(), cache.nodes.has_terms]


def assert_same(fork: ClusterCache, real: ClusterCache) -> None:
    assert everything(fork) == everything(real)
    assert in_order(fork) == in_order(real)
    assert {each.uid: each for each in fork.pods()} == {each.uid: each for each in real.pods()}
    assert (fork.pod_count, fork.assumed_count) == (real.pod_count, real.assumed_count)
    assert all(fork.is_assumed(each.uid) == real.is_assumed(each.uid) for each in real.pods())


@given(st.lists(STEPS, max_size=50), st.integers(1, 20))
@settings(max_examples=200, deadline=None)
def test_a_fork_is_what_the_cluster_would_be_and_leaves_it_as_it_is(steps: list[Any], seed: int) -> None:
    line: list[tuple[World, list[Any], State | None]] = [(World(seed), [], None)]
    """Worlds, each forked from the one before: what was done to it, and what the one before was when it was forked."""
    for name, *arguments in [("fork",), *steps, *[("drop",)] * len(steps)]:
        world, done, base = line[-1]
        if name == "fork":
            line.append((forked(world), list(done), State(world.cache)))
        elif len(line) == 1:
            break
        elif name == "drop":
            real = World(seed)
            for edit, *what in done:
                getattr(real, edit)(*what)
            assert_same(world.cache, real.cache)
            line.pop()
            assert base is not None
            base.assert_is(line[-1][0].cache)
        else:
            getattr(world, name)(*arguments)
            done.append((name, *arguments))


@given(st.lists(EDITS, max_size=30), st.lists(EDITS, max_size=30), st.integers(1, 20))
@settings(max_examples=100, deadline=None)
def test_no_two_states_of_a_node_have_the_same_revision(one: list[Any], other: list[Any], seed: int) -> None:
    """Not even in two forks: what a plugin keeps for a node by its revision is never taken for another state."""
    world = World(seed)
    seen: dict[tuple[str, int], Any] = {}
    for edits in ((), one, other):
        fork = forked(world)
        for name, *arguments in edits:
            getattr(fork, name)(*arguments)
            nodes = fork.cache.nodes
            for row, revision in enumerate(nodes.revision.tolist()):
                state = nodes.object_at(row), list(nodes.pods_at(row))
                assert seen.setdefault((nodes.names[row], revision), state) == state


@given(st.lists(EDITS, max_size=30), st.integers(1, 20))
@settings(max_examples=50, deadline=None)
def test_equal_numbers_mean_equal_sums_in_the_cluster_and_its_fork(edits: list[Any], seed: int) -> None:
    world = World(seed)
    fork = forked(world)
    for name, *arguments in edits:
        getattr(fork, name)(*arguments)
    by_number: dict[int, Any] = {}
    for cache in (world.cache, fork.cache):
        for row in range(len(cache.nodes)):
            sums = cache.nodes._sums(row)
            assert by_number.setdefault(cache.nodes.sums.of(row), sums) == sums


# -- columns cannot be written --


def columns_of(cache: ClusterCache) -> dict[str, np.ndarray[Any, Any]]:
    nodes = cache.nodes
    return {
        **{name: getattr(nodes, name) for name in (*COLUMNS, "revision")},
        "label": nodes.label(ZONE).ids,
        "alloc": nodes.scalar_alloc(GPU),
        "req": nodes.scalar_req(GPU),
        "derived": nodes.derive("size", lambda each: len(each.name), np.int64),
        "counts": nodes.matching_pods(PodMatcher(None, EVERYTHING)),
        "terms": nodes.terms(TermKind.REQUIRED_AFFINITY, TARGETS[0])[0].counts,
    }


@pytest.mark.parametrize("depth", [0, 1, 2])
@pytest.mark.parametrize("is_edited", [False, True])
def test_plugins_can_write_to_no_column(depth: int, is_edited: bool) -> None:
    cache = cluster([node("a").zone("z").scalar(GPU, 1)], [pod("p").on("a").affinity({"app": "web"}, HOST)])
    for _ in range(depth):
        cache = cache.fork()
        if is_edited:
            cache.add_pod(pod(f"q{depth}").scalar(GPU, 1).affinity({"app": "web"}, HOST).on("a").build())
            cache.add_node(node("b").scalar(GPU, 1).build())
    for name, column in columns_of(cache).items():
        with pytest.raises(ValueError, match="read-only"):
            column[0] = 1
        assert not column.flags.writeable, name


def test_a_column_that_was_read_before_an_edit_is_not_taken_for_the_one_after_it() -> None:
    cache = cluster([node("a"), node("b")]).fork()
    assert by_name(cache, cache.nodes.pods_count) == {"a": 0, "b": 0}
    cache.add_pod(pod("p").on("b").build())
    assert by_name(cache, cache.nodes.pods_count) == {"a": 0, "b": 1}
