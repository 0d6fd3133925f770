"""Backoff: how long pods wait after a failure, in windows of one second, and who may be popped early."""

from __future__ import annotations

import pytest

from bayplan.engine.queue.backoff import BackoffPods
from bayplan.framework.plugin import QueuedPod
from tests.engine.queue.support import NODE_ADD, START, Gate, World, a_pod, by_priority


def backoff(initial_s: float = 1.0, max_s: float = 10.0) -> BackoffPods:
    return BackoffPods(by_priority, initial_s, max_s)


def failed_pod(timestamp: float, *, rejected: int = 0, errors: int = 0) -> QueuedPod:
    return QueuedPod(a_pod(), timestamp, unschedulable_count=rejected, consecutive_errors=errors)


@pytest.mark.parametrize(
    ("initial_s", "max_s", "expected"),
    [
        (1, 10, [0, 1, 2, 4, 8, 10, 10]),
        (1, 1, [0, 1, 1, 1]),
        (3, 100, [0, 3, 6, 12, 24, 48, 96, 100]),
        (1, 0, [0, 0, 0]),
    ],
)
def test_backoff_doubles_up_to_the_limit(initial_s: float, max_s: float, expected: list[float]) -> None:
    assert [backoff(initial_s, max_s).backoff_s(failures) for failures in range(len(expected))] == expected


def test_backoff_of_a_pod_that_failed_ten_thousand_times_is_the_limit() -> None:
    assert backoff().backoff_s(10_000) == 10


def test_expiry_is_cut_to_the_whole_second() -> None:
    assert backoff().expires_at(failed_pod(100.9, rejected=1)) == 101.0
    assert backoff().expires_at(failed_pod(100.0, rejected=2)) == 102.0


def test_a_pod_whose_expiry_lies_in_the_running_second_still_backs_off() -> None:
    part, queued = backoff(), failed_pod(100.9, rejected=1)
    assert part.is_backing_off(queued, 101.0)
    assert part.is_backing_off(queued, 101.99)
    assert not part.is_backing_off(queued, 102.0)


def test_a_pod_that_never_failed_does_not_back_off() -> None:
    assert not backoff().is_backing_off(failed_pod(100.0), 100.0)


def test_errors_count_by_themselves_and_before_rejections() -> None:
    assert backoff().expires_at(failed_pod(100.0, rejected=4, errors=1)) == 101.0
    assert backoff().expires_at(failed_pod(100.0, rejected=4)) == 108.0


def test_a_limit_of_zero_switches_backoff_off() -> None:
    assert not backoff(max_s=0).is_backing_off(failed_pod(100.0, rejected=3), 100.0)
    world = World(max_backoff_s=0.0)
    world.add(a_pod())
    world.fail(world.pop())
    assert world.where(a_pod()) == "active"


def test_rejected_pods_wait_1_2_4_8_10_10_seconds() -> None:
    world = World()
    pod = a_pod()
    world.add(pod)
    waited = []
    for _ in range(6):
        queued = world.pop()
        world.fail(queued, "Fit")
        world.queue.move(NODE_ADD, None, object())
        assert world.where(pod) == "backoff"
        assert queued.backoff_expires_at is not None
        waited.append(queued.backoff_expires_at - queued.timestamp)
        woken_at = world.queue.next_wakeup()
        assert woken_at == queued.backoff_expires_at + 1
        world.wait(woken_at - world.clock.now())
        assert world.where(pod) == "active"
    assert waited == [1, 2, 4, 8, 10, 10]


def test_failed_pods_wait_1_2_4_8_10_10_seconds_and_a_rejection_starts_the_count_anew() -> None:
    world = World()
    world.add(a_pod())
    waited = []
    for _ in range(6):
        queued = world.pop()
        world.fail(queued)
        assert queued.backoff_expires_at is not None
        waited.append(queued.backoff_expires_at - queued.timestamp)
        world.wait(20)
    assert waited == [1, 2, 4, 8, 10, 10]
    queued = world.pop()
    world.fail(queued, "Fit")
    assert (queued.consecutive_errors, queued.unschedulable_count) == (0, 1)
    world.queue.move(NODE_ADD, None, object())
    queued = world.pop()
    world.fail(queued)
    assert queued.backoff_expires_at == queued.timestamp + 1


def test_the_wait_is_longer_than_the_backoff_by_up_to_a_second() -> None:
    world = World(start=START + 0.25)
    pod = a_pod()
    world.add(pod)
    world.fail(world.pop())
    for wait in (1.0, 0.5, 0.24):
        world.wait(wait)
        assert world.where(pod) == "backoff"
    world.wait(0.01)
    assert world.clock.now() == START + 2
    assert world.where(pod) == "active"


def test_flush_brings_back_a_whole_window_in_queue_order() -> None:
    world = World()
    pods = [a_pod("low", priority=1), a_pod("high", priority=9), a_pod("middle", priority=5)]
    world.add(*pods)
    for queued in [world.pop() for _ in pods]:
        world.fail(queued)
        world.clock.advance(0.1)
    world.wait(5)
    assert world.pop_names() == ["high", "middle", "low"]


def test_flush_does_not_ask_pre_enqueue_again() -> None:
    gate = Gate()
    world = World(gates=(gate,))
    world.add(a_pod())
    world.fail(world.pop())
    asked = len(gate.asked)
    gate.closed_for.add("web")
    world.wait(5)
    assert world.where(a_pod()) == "active"
    assert len(gate.asked) == asked


def test_pop_takes_rejected_pods_early_when_active_is_empty() -> None:
    world = World()
    pod = a_pod()
    world.park(pod, "Fit")
    world.queue.move(NODE_ADD, None, object())
    assert world.where(pod) == "backoff"
    assert world.pop().pod is pod
    assert world.where(pod) == "in_flight"


def test_pop_prefers_active_to_backoff() -> None:
    world = World()
    world.park(a_pod("waiting", priority=9), "Fit")
    world.queue.move(NODE_ADD, None, object())
    world.add(a_pod("fresh"))
    assert world.pop_names() == ["fresh", "waiting"]


def test_pop_never_takes_failed_pods_early() -> None:
    world = World()
    pod = a_pod()
    world.add(pod)
    world.fail(world.pop())
    assert world.where(pod) == "backoff"
    assert world.queue.pop() is None
    world.wait(3)
    assert world.pop().pod is pod


def test_early_pops_go_by_expiry_and_then_by_queue_order() -> None:
    world = World()
    for name, priority in (("low", 1), ("high", 9)):
        world.park(a_pod(name, priority=priority), "Fit")
    world.clock.advance(1)
    world.park(a_pod("later", priority=100), "Fit")
    world.queue.move(NODE_ADD, None, object())
    assert world.pop_names() == ["high", "low", "later"]


def test_an_update_that_raises_the_priority_moves_a_pod_ahead_in_its_window() -> None:
    world = World()
    for name in ("first", "second"):
        world.park(a_pod(name), "Fit")
    world.queue.move(NODE_ADD, None, object())
    world.queue.update(a_pod("second"), a_pod("second", priority=5))
    assert world.where(a_pod("second")) == "backoff"
    assert world.pop_names() == ["second", "first"]


def test_nothing_to_wake_up_for_in_an_empty_queue() -> None:
    world = World()
    assert world.queue.next_wakeup() is None
    world.add(a_pod())
    assert world.queue.next_wakeup() is None


def test_wake_up_is_at_the_earliest_end_of_either_kind_of_backoff() -> None:
    world = World()
    world.add(a_pod("error"))
    for _ in range(2):
        world.fail(world.pop())
        world.wait(4)
    world.fail(world.pop())
    world.park(a_pod("rejected"), "Fit")
    world.queue.move(NODE_ADD, None, object())
    now = world.clock.now()
    assert world.queue.next_wakeup() == now + 2
    world.wait(2)
    assert world.where(a_pod("rejected")) == "active"
    assert world.queue.next_wakeup() == now + 5
