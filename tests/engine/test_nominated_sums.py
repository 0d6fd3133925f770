"""What nominated pods would take, added up by node and priority, and kept while nominations stand."""

from __future__ import annotations

import pytest

from bayplan.engine import journal
from bayplan.engine.nominated_sums import MAX_PRIORITIES, NominatedSums
from bayplan.engine.queue.nominations import Nominations
from bayplan.objects.pod import Pod
from bayplan.testing import PodBuilder, cluster, node, pod

GPU = "example.com/gpu"
ASKING = pod("asking").priority(5).build()


def expects(name: str, priority: int = 5, cpu: int = 1) -> PodBuilder:
    return pod(name).priority(priority).cpu(cpu)


class World:
    def __init__(self) -> None:
        self.cache = cluster([node(name) for name in ("a", "b", "c")], [])
        self.nominated = Nominations()
        self.expected = NominatedSums(self.nominated)

    def nominate(self, made: PodBuilder, node_name: str) -> None:
        self.nominated.nominate(made.build(), node_name)

    def cpu(self, asking: Pod = ASKING) -> dict[str, int]:
        """By node: what this pod must leave room for."""
        found = self.expected.for_pod(asking, self.cache.nodes)
        if found is None:
            return {}
        names = self.cache.nodes.names
        return {names[row]: cpu for row, cpu in zip(found.rows.tolist(), found.amounts[:, 0].tolist(), strict=True)}


def test_only_pods_of_at_least_the_priority_count() -> None:
    world = World()
    assert world.cpu() == {}
    world.nominate(expects("lower", 4), "a")
    assert world.cpu() == {}
    world.nominate(expects("equal", 5), "b")
    world.nominate(expects("higher", 6, 2), "b")
    assert world.cpu() == {"b": 3000}
    assert world.cpu(pod("humble").build()) == {"a": 1000, "b": 3000}
    assert world.cpu(pod("high").priority(6).build()) == {"b": 2000}


def test_a_pod_is_not_in_its_own_way() -> None:
    world = World()
    own = expects("own")
    world.nominate(own, "a")
    assert world.cpu(own.build()) == {}
    world.nominate(expects("other"), "a")
    assert world.cpu(own.build()) == {"a": 1000}
    assert world.cpu() == {"a": 2000}


def test_sums_follow_nominations() -> None:
    world = World()
    for number in range(40):
        world.nominate(expects(f"p{number}"), "abc"[number % 3])
    assert world.cpu() == {"a": 14000, "b": 13000, "c": 13000}
    for number in range(0, 39, 3):
        world.nominated.remove(expects(f"p{number}").build().uid)
    assert world.cpu() == {"a": 1000, "b": 13000, "c": 13000}
    world.nominate(expects("p39"), "b")
    assert world.cpu() == {"b": 14000, "c": 13000}
    old = expects("p39").build()
    world.nominated.update(old, expects("p39", cpu=2).build())
    assert world.cpu() == {"b": 15000, "c": 13000}


def test_a_reader_that_fell_behind_looks_at_every_node(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal, "MAX_CHANGES", 4)
    world = World()
    world.nominate(expects("p"), "a")
    assert world.cpu() == {"a": 1000}
    world.nominated.remove(expects("p").build().uid)
    for number in range(20):
        world.nominate(expects("q"), "abc"[number % 3])
    assert not world.nominated._journal.reaches(0)
    assert world.cpu() == {"b": 1000}


def test_rows_follow_nodes_that_come_and_go() -> None:
    world = World()
    world.nominate(expects("p"), "c")
    world.nominate(expects("q"), "later")
    assert world.cpu() == {"c": 1000}
    world.cache.remove_node("a")
    assert world.cpu() == {"c": 1000}
    world.cache.add_node(node("later").build())
    assert world.cpu() == {"c": 1000, "later": 1000}
    world.cache.remove_node("c")
    assert world.cpu() == {"later": 1000}


def test_extended_resources_are_told_by_row() -> None:
    world = World()
    world.nominate(expects("p").scalar(GPU, 1), "b")
    world.nominate(expects("q").scalar(GPU, 2), "b")
    found = world.expected.for_pod(ASKING, world.cache.nodes)
    assert found is not None
    assert found.scalars == {1: {GPU: 3}}


def test_sums_of_few_priorities_are_kept() -> None:
    world = World()
    world.nominate(expects("p", priority=1000), "a")
    for priority in range(2 * MAX_PRIORITIES):
        assert world.cpu(pod("asking").priority(priority).build()) == {"a": 1000}
    assert len(world.expected._by_priority) == MAX_PRIORITIES
