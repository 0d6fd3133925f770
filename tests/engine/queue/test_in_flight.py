"""In flight: events that come while a pod is being scheduled are replayed when it comes back."""

from __future__ import annotations

import pytest

from bayplan.engine.queue.in_flight import InFlight
from bayplan.framework.events import Change, ClusterEvent, On
from bayplan.framework.plugin import QueuedPod
from tests.engine.queue.support import NODE_ADD, NODE_LABEL, NODE_TAINT, POD_DELETE, Asked, World, a_pod, labelled


def popped(world: World, name: str = "web") -> QueuedPod:
    world.add(a_pod(name))
    return world.pop()


@pytest.mark.parametrize(
    ("event", "rejector", "place"),
    [
        (NODE_ADD, "Fit", "backoff"),
        (POD_DELETE, "Fit", "backoff"),
        (POD_DELETE, "Affinity", "unschedulable"),
        (NODE_LABEL, "Fit", "unschedulable"),
        (NODE_LABEL, "Affinity", "backoff"),
    ],
)
def test_a_missed_event_counts_if_the_rejector_cares(event: ClusterEvent, rejector: str, place: str) -> None:
    world = World()
    queued = popped(world)
    world.queue.move(event, None, object())
    world.fail(queued, rejector)
    assert world.where(queued.pod) == place


def test_an_event_before_the_pop_does_not_count() -> None:
    world = World()
    other = popped(world, "other")
    world.add(a_pod())
    world.queue.move(NODE_ADD, None, object())
    queued = world.pop()
    world.fail(queued, "Fit")
    assert world.where(queued.pod) == "unschedulable"
    world.fail(other, "Fit")
    assert world.where(other.pod) == "backoff"


def test_the_hint_is_asked_with_the_objects_of_the_missed_event() -> None:
    seen: list[tuple[object, object]] = []

    def hint(pod: object, old: object, new: object) -> bool:
        seen.append((old, new))
        return new == "big"

    world = World(rules={"Fit": (On("Node", Change.ADDED | Change.ALLOCATABLE, hint),)})
    queued = popped(world)
    world.queue.move(ClusterEvent("Node", Change.ALLOCATABLE), "tiny", "small")
    world.queue.move(NODE_ADD, None, "big")
    world.fail(queued, "Fit")
    assert seen == [("tiny", "small"), (None, "big")]
    assert world.where(queued.pod) == "backoff"


def test_a_pending_plugin_s_missed_event_skips_the_backoff_even_after_a_lesser_one() -> None:
    world = World(rules={"Fit": (On("Node", Change.ADDED),), "Held": (On("Node", Change.LABEL),)})
    queued = popped(world)
    world.queue.move(NODE_ADD, None, object())
    world.queue.move(NODE_LABEL, None, object())
    world.fail(queued, "Fit", pending=("Held",))
    assert world.where(queued.pod) == "active"


def test_replay_stops_at_the_first_event_that_settles_it() -> None:
    hint = Asked(True)
    world = World(rules={"Fit": (On("Node", Change.ADDED, hint),)})
    queued = popped(world)
    for _ in range(3):
        world.queue.move(NODE_ADD, None, object())
    world.fail(queued, "Fit")
    assert hint.pods == ["web"]


def test_a_pod_that_failed_with_an_error_backs_off_whatever_happened() -> None:
    hint = Asked()
    world = World(rules={"Fit": (On("Node", Change.ADDED, hint),)})
    queued = popped(world)
    world.queue.move(NODE_ADD, None, object())
    world.fail(queued)
    assert world.where(queued.pod) == "backoff"
    assert hint.pods == []


def test_the_pod_s_own_update_in_flight_is_replayed() -> None:
    world = World(rules={"Spread": (On("Pod", Change.POD_LABEL, lambda pod, old, new: pod.uid == new.uid),)})
    queued = popped(world)
    newer = labelled(queued.pod, app="web")
    world.queue.update(queued.pod, newer)
    assert world.where(newer) == "in_flight"
    world.fail(queued, "Spread", pod=newer)
    assert world.where(newer) == "backoff"
    assert world.pop().pod is newer


def test_an_update_in_flight_that_no_rejector_cares_for_changes_nothing() -> None:
    world = World()
    queued = popped(world)
    world.queue.update(queued.pod, labelled(queued.pod, app="web"))
    world.fail(queued, "Fit")
    assert world.where(queued.pod) == "unschedulable"


def test_adding_a_pod_in_flight_again_does_not_put_it_in_two_places() -> None:
    world = World()
    queued = popped(world)
    world.add(a_pod(version="2"))
    assert world.where(queued.pod) == "in_flight"
    assert world.queue.pending()["active"] == 0


def test_an_overdue_flush_counts_for_those_in_flight() -> None:
    world = World()
    world.park(a_pod("old"), "Fit")
    world.clock.advance(400)
    queued = popped(world)
    world.queue.flush()
    world.fail(queued, "Affinity")
    assert world.where(queued.pod) == "backoff"


def test_done_forgets_the_pod_and_doing_it_twice_is_no_error() -> None:
    world = World()
    queued = popped(world)
    assert queued.pod.key in world.queue
    for _ in range(2):
        world.queue.done(queued.pod.uid)
        assert world.where(queued.pod) is None
        assert queued.pod.key not in world.queue


def test_events_are_kept_only_while_a_pod_that_saw_them_is_in_flight() -> None:
    in_flight = InFlight()
    pods = [QueuedPod(a_pod(name), 0.0) for name in ("a", "b", "c")]
    in_flight.record(NODE_ADD, None, "nobody sees it")
    for number, queued in enumerate(pods):
        in_flight.start(queued)
        in_flight.record(NODE_ADD, None, number)

    def seen_by(name: str) -> list[object]:
        return [happening.new for happening in in_flight.since_pop(f"uid-{name}")]

    assert (seen_by("a"), seen_by("b"), seen_by("c")) == ([0, 1, 2], [1, 2], [2])
    in_flight.finish("uid-b")
    assert in_flight.event_counts() == {"NodeAdd": 3}
    in_flight.finish("uid-a")
    assert in_flight.event_counts() == {"NodeAdd": 1}
    assert seen_by("c") == [2]
    in_flight.record(NODE_TAINT, None, 3)
    assert seen_by("c") == [2, 3]
    in_flight.finish("uid-c")
    assert not in_flight.event_counts()
    assert len(in_flight) == 0
