"""Unschedulable: nobody waits for ever; every half minute those who waited over five minutes come back."""

from __future__ import annotations

import pytest

from bayplan.engine.queue.unschedulable import UnschedulablePods
from bayplan.framework.plugin import QueuedPod
from tests.engine.queue.support import NODE_ADD, START, Gate, World, a_pod


def test_a_pod_comes_back_at_the_first_half_minute_after_five_minutes() -> None:
    world = World()
    world.clock.advance(7)
    world.park(a_pod(), "Fit")
    world.wait(301)
    assert world.where(a_pod()) == "unschedulable"
    assert world.queue.next_wakeup() == START + 330
    world.wait(START + 330 - world.clock.now())
    assert world.where(a_pod()) == "active"


def test_exactly_five_minutes_are_not_yet_too_long() -> None:
    world = World()
    world.park(a_pod(), "Fit")
    world.wait(300)
    assert world.where(a_pod()) == "unschedulable"
    world.wait(30)
    assert world.where(a_pod()) == "active"


def test_a_late_flush_judges_by_the_half_minute_it_missed() -> None:
    world = World()
    world.clock.advance(10)
    world.park(a_pod(), "Fit")
    world.clock.advance(305)
    world.queue.flush()
    assert world.where(a_pod()) == "unschedulable"
    world.wait(400)
    assert world.where(a_pod()) == "active"


def test_the_longest_wait_can_be_set() -> None:
    world = World(max_unschedulable_s=60.0)
    world.park(a_pod(), "Fit")
    world.wait(60)
    assert world.where(a_pod()) == "unschedulable"
    world.wait(30)
    assert world.where(a_pod()) == "active"


def test_a_pod_still_backing_off_goes_to_backoff() -> None:
    world = World(initial_backoff_s=500.0, max_backoff_s=500.0)
    world.park(a_pod(), "Fit")
    world.wait(330)
    assert world.where(a_pod()) == "backoff"


def test_the_flush_is_noted_on_the_pod_and_cleared_by_its_next_failure() -> None:
    world = World()
    world.park(a_pod(), "Fit")
    world.wait(330)
    queued = world.pop()
    assert queued.flushed_at == START + 330
    world.fail(queued, "Fit")
    assert queued.flushed_at is None


def test_the_oldest_come_back_first_and_the_young_stay() -> None:
    world = World(max_backoff_s=0.0)
    for name in ("a", "b", "c"):
        world.park(a_pod(name), "Fit")
        world.clock.advance(20)
    world.wait(270)
    assert world.pop_names() == ["a", "b"]
    assert world.where(a_pod("c")) == "unschedulable"


def test_a_pod_that_left_by_an_event_is_no_reason_to_wake_up() -> None:
    world = World(max_backoff_s=0.0)
    world.park(a_pod(), "Fit")
    assert world.queue.next_wakeup() == START + 330
    world.queue.move(NODE_ADD, None, object())
    assert world.queue.next_wakeup() is None


@pytest.mark.parametrize("start", [0.0, 1_753_000_000.1, 1_753_000_000.7, 12345.678901])
def test_waking_up_when_told_always_finds_something_to_do(start: float) -> None:
    gate = Gate("gated")
    world = World(start=start, gates=(gate,))
    world.add(a_pod("gated"))
    world.park(a_pod("waiting"), "Fit")
    for _ in range(20):
        before = world.clock.now()
        wake_at = world.queue.next_wakeup()
        assert wake_at is not None
        assert wake_at > before
        asked = len(gate.asked)
        world.clock.advance_to(wake_at)
        world.queue.flush()
        popped = world.queue.pop()
        assert popped is not None or len(gate.asked) > asked
        if popped is not None:
            world.fail(popped, "Fit")


def test_rounding_does_not_make_a_half_minute_fall_through() -> None:
    started_at, check = 516117.7, 293
    moment = started_at + 30.0 * check
    assert (moment - started_at) / 30.0 < check, "these numbers no longer show the problem"
    part = UnschedulablePods(started_at, 300.0)
    part.add(QueuedPod(a_pod(), moment - 310.0, unschedulable_plugins=frozenset({"Fit"})))
    assert part.next_overdue() == moment
    assert len(part.pop_overdue(moment)) == 1


def test_a_pod_parked_late_with_an_old_time_waits_for_the_next_half_minute() -> None:
    """A clock that was set back can do this; waking up again and again at once would help nobody."""
    part = UnschedulablePods(0.0, 300.0)
    assert part.pop_overdue(1000.0) == []
    part.add(QueuedPod(a_pod(), 10.0, unschedulable_plugins=frozenset({"Fit"})))
    assert part.next_overdue() == 1020.0
    assert part.pop_overdue(1001.0) == []
    assert [queued.pod.name for queued in part.pop_overdue(1020.0)] == ["web"]


def test_a_pod_parked_again_is_there_once() -> None:
    part = UnschedulablePods(0.0, 300.0)
    queued = QueuedPod(a_pod(), 0.0, unschedulable_plugins=frozenset({"Fit"}))
    part.add(queued)
    queued.unschedulable_plugins = frozenset({"Affinity"})
    part.add(queued)
    assert [each.pod.name for each in part] == ["web"]
    assert len(part) == 1
    part.remove("uid-web")
    assert len(part) == 0
    assert part.next_overdue() is None
