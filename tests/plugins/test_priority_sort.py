"""PrioritySort: priority first, then the time a pod last entered the queue."""

from __future__ import annotations

from bayplan.framework import QueuedPod
from bayplan.plugins.priority_sort import PrioritySort
from bayplan.testing import make, pod


def order(*queued: QueuedPod) -> list[str]:
    return [each.pod.name for each in sorted(queued, key=make(PrioritySort).queue_key)]


def test_higher_priority_comes_first_whatever_the_time() -> None:
    late = QueuedPod(pod("late").priority(10).build(), timestamp=9.0)
    early = QueuedPod(pod("early").priority(-5).build(), timestamp=1.0)
    unset = QueuedPod(pod("unset").build(), timestamp=0.0)
    assert order(early, unset, late) == ["late", "unset", "early"]


def test_equal_priority_goes_by_queue_time() -> None:
    first = QueuedPod(pod("first").priority(1).build(), timestamp=1.0, initial_attempt_at=8.0)
    second = QueuedPod(pod("second").priority(1).build(), timestamp=2.0, initial_attempt_at=0.5)
    assert order(second, first) == ["first", "second"]


def test_it_asks_for_no_events() -> None:
    assert make(PrioritySort).requeue_on() == ()
