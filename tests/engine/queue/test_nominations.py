"""Nominating: pods that wait for room on a node, from their status, from preemption, and across updates."""

from __future__ import annotations

from bayplan.engine.queue.scheduling_queue import SchedulingQueue
from tests.engine.queue.support import Gate, World, a_pod


def names(queue: SchedulingQueue, node: str = "n1") -> list[str]:
    return [pod.name for pod in queue.nominations.nominated(node)]


def test_a_pod_added_with_a_nominated_node_is_nominated() -> None:
    world = World()
    world.add(a_pod("a", nominated="n1"), a_pod("b"), a_pod("c", nominated="n1"))
    assert names(world.queue) == ["a", "c"]
    assert list(world.queue.nominations.nominated_nodes()) == ["n1"]
    assert world.queue.nominations.nominated("n2") == ()


def test_a_gated_pod_is_not_nominated_on_arrival() -> None:
    world = World(gates=(Gate("a"),))
    world.add(a_pod("a", nominated="n1"))
    assert not world.queue.nominations.nominated_nodes()


def test_nominating_again_moves_the_pod() -> None:
    world = World()
    world.queue.nominations.nominate(a_pod("a"), "n1")
    world.queue.nominations.nominate(a_pod("a"), "n2")
    assert (names(world.queue), names(world.queue, "n2")) == ([], ["a"])
    assert list(world.queue.nominations.nominated_nodes()) == ["n2"]


def test_an_empty_name_takes_the_nomination_back() -> None:
    world = World()
    world.queue.nominations.nominate(a_pod("a"), "n1")
    world.queue.nominations.nominate(a_pod("a"), "")
    assert not world.queue.nominations.nominated_nodes()


def test_unnominate_forgets_the_pod_and_only_that() -> None:
    world = World()
    for name in ("a", "b"):
        world.queue.nominations.nominate(a_pod(name), "n1")
    world.queue.nominations.remove(a_pod("a").uid)
    world.queue.nominations.remove(a_pod("never").uid)
    assert names(world.queue) == ["b"]


def test_a_nomination_made_here_outlives_updates_that_know_nothing_of_it() -> None:
    world = World()
    world.add(a_pod())
    world.queue.nominations.nominate(a_pod(), "n1")
    newer = a_pod(labels={"app": "web"}, version="2")
    world.queue.update(a_pod(), newer)
    assert list(world.queue.nominations.nominated("n1")) == [newer]


def test_an_update_can_add_change_and_clear_the_nomination() -> None:
    world = World()
    plain, first, second = a_pod(), a_pod(nominated="n1"), a_pod(nominated="n2")
    world.add(plain)
    world.queue.update(plain, first)
    assert list(world.queue.nominations.nominated_nodes()) == ["n1"]
    world.queue.update(first, second)
    assert list(world.queue.nominations.nominated_nodes()) == ["n2"]
    world.queue.update(second, plain)
    assert not world.queue.nominations.nominated_nodes()


def test_updates_in_backoff_and_unschedulable_are_followed_too() -> None:
    world = World()
    world.park(a_pod("waiting"), "Fit")
    world.queue.update(a_pod("waiting"), a_pod("waiting", nominated="n1"))
    world.add(a_pod("error"))
    world.fail(world.pop())
    world.queue.update(a_pod("error"), a_pod("error", nominated="n1"))
    assert world.where(a_pod("error")) == "backoff"
    assert names(world.queue) == ["waiting", "error"]


def test_a_nomination_stays_while_the_pod_is_in_flight_or_waiting() -> None:
    world = World()
    world.add(a_pod())
    queued = world.pop()
    world.queue.nominations.nominate(queued.pod, "n1")
    world.fail(queued, "Fit")
    assert names(world.queue) == ["web"]


def test_deleting_a_pod_ends_its_nomination_wherever_it_is() -> None:
    world = World()
    world.add(a_pod("a", nominated="n1"), a_pod("b", nominated="n1"))
    flying = world.pop()
    for name in ("a", "b"):
        world.queue.delete(a_pod(name))
    assert flying.pod.name == "a"
    assert not world.queue.nominations.nominated_nodes()
