"""Active: who is popped next, and what popping does to a pod's record."""

from __future__ import annotations

from bayplan.engine.queue.scheduling_queue import SchedulingQueue
from tests.engine.queue.support import START, World, a_pod


def test_higher_priority_is_popped_first_and_equals_by_time() -> None:
    world = World()
    world.add(a_pod("a"), a_pod("b", priority=5))
    world.clock.advance(1)
    world.add(a_pod("c", priority=5), a_pod("d", priority=7))
    assert world.pop_names() == ["d", "b", "c", "a"]


def test_equal_keys_are_popped_in_the_order_they_were_added() -> None:
    world = World()
    names = [f"pod-{number:02}" for number in (7, 3, 9, 1, 5, 0, 8)]
    world.add(*(a_pod(name) for name in names))
    assert world.pop_names() == names


def test_the_queue_key_is_the_profile_s_own() -> None:
    world = World()
    queue = SchedulingQueue(world.clock, world.profiles, lambda queued: queued.pod.name)
    for name in ("c", "a", "b"):
        queue.add(a_pod(name))
    popped = [queue.pop() for _ in range(3)]
    assert [queued.pod.name for queued in popped if queued] == ["a", "b", "c"]


def test_pop_of_an_empty_queue_is_none() -> None:
    assert World().queue.pop() is None


def test_pop_counts_the_attempt_and_puts_the_pod_in_flight() -> None:
    world = World()
    world.add(a_pod())
    queued = world.pop()
    assert queued.attempts == 1
    assert world.where(a_pod()) == "in_flight"
    world.fail(queued)
    world.wait(5)
    assert world.pop().attempts == 2


def test_the_first_admission_is_remembered_over_all_attempts() -> None:
    world = World()
    world.add(a_pod())
    for _ in range(3):
        queued = world.pop()
        assert queued.initial_attempt_at == START
        world.fail(queued)
        world.wait(20)


def test_a_failed_pod_queues_behind_equals_that_came_before_its_failure() -> None:
    world = World()
    world.add(a_pod("old"))
    queued = world.pop()
    world.clock.advance(1)
    world.add(a_pod("young"))
    world.clock.advance(1)
    world.fail(queued)
    assert queued.timestamp == START + 2
    world.wait(5)
    assert world.pop_names() == ["young", "old"]


def test_an_update_replaces_the_pod_in_place() -> None:
    world = World()
    world.add(a_pod("a"), a_pod("b"))
    newer = a_pod("a", labels={"app": "web"}, version="2")
    world.queue.update(a_pod("a"), newer)
    assert world.queue.pending()["active"] == 2
    assert world.pop().pod is newer


def test_an_update_of_the_priority_moves_the_pod() -> None:
    world = World()
    world.add(a_pod("a"), a_pod("b"))
    world.queue.update(a_pod("b"), a_pod("b", priority=3))
    assert world.pop_names() == ["b", "a"]


def test_a_deleted_pod_is_not_popped() -> None:
    world = World()
    world.add(a_pod("a"), a_pod("b"))
    world.queue.delete(a_pod("a"))
    assert world.where(a_pod("a")) is None
    assert world.pop_names() == ["b"]
