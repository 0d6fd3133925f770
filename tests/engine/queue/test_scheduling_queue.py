"""The queue as a whole: a pod's own updates, failures, activation, deletion, and pods made again."""

from __future__ import annotations

from dataclasses import replace

import pytest
from structlog.testing import capture_logs

from bayplan.errors import StateError
from bayplan.framework.events import Change, On
from bayplan.objects.pod import Pod
from tests.engine.queue.support import NODE_ADD, START, Asked, Gate, World, a_pod


def own(pod: Pod, old: Pod, new: Pod) -> bool:
    return pod.uid == new.uid


OWN_RULES = {
    "Fit": (On("Node", Change.ADDED), On("Pod", Change.POD_SCALE_DOWN, own)),
    "Taints": (On("Pod", Change.POD_TOLERATION, own),),
    "Anything": (On("Pod", Change.UPDATED, own),),
}


# -- the pod's own updates --


@pytest.mark.parametrize(
    ("newer", "rejectors", "place"),
    [
        (a_pod(cpu="500m"), ("Fit",), "backoff"),
        (a_pod(cpu="2"), ("Fit",), "unschedulable"),
        (a_pod(tolerations=1), ("Fit",), "unschedulable"),
        (a_pod(tolerations=1), ("Taints",), "backoff"),
        (a_pod(tolerations=1), ("Fit", "Taints"), "backoff"),
        (a_pod(annotations={"note": "edited"}), ("Fit", "Taints"), "unschedulable"),
        (a_pod(annotations={"note": "edited"}), ("Anything",), "backoff"),
        (a_pod(labels={"app": "x"}, tolerations=1), ("Taints",), "backoff"),
    ],
)
def test_a_waiting_pod_s_update_counts_if_a_rejector_says_so(
    newer: Pod, rejectors: tuple[str, ...], place: str
) -> None:
    world = World(rules=OWN_RULES)
    queued = world.park(a_pod(), *rejectors)
    world.queue.update(a_pod(), newer)
    assert world.where(newer) == place
    assert queued.pod is newer


def test_an_update_after_the_backoff_goes_straight_to_active() -> None:
    world = World(rules=OWN_RULES)
    world.park(a_pod(), "Taints")
    world.wait(2)
    world.queue.update(a_pod(), a_pod(tolerations=1))
    assert world.where(a_pod()) == "active"


def test_an_update_from_a_pending_plugin_s_point_of_view_skips_the_backoff() -> None:
    world = World(rules=OWN_RULES)
    world.park(a_pod(), pending=("Taints",))
    world.queue.update(a_pod(), a_pod(tolerations=1))
    assert world.where(a_pod()) == "active"


def test_the_first_change_that_brings_a_pod_back_ends_the_asking() -> None:
    world = World(rules=OWN_RULES)
    world.park(a_pod(), "Fit", pending=("Taints",))
    world.queue.update(a_pod(), a_pod(cpu="500m", tolerations=1))
    assert [place for place, _ in world.queue.entries()] == ["backoff"]


def test_an_update_may_find_the_gate_closed() -> None:
    gate = Gate()
    world = World(gates=(gate,), rules=OWN_RULES)
    world.park(a_pod(), "Taints")
    gate.closed_for.add("web")
    world.queue.update(a_pod(), a_pod(tolerations=1))
    assert world.where(a_pod()) == "gated"


def test_an_update_without_the_old_version_is_compared_with_the_known_one() -> None:
    world = World(rules=OWN_RULES)
    world.park(a_pod(), "Taints")
    world.queue.update(None, a_pod(tolerations=1))
    assert world.where(a_pod()) == "backoff"


def test_an_update_of_an_unknown_pod_adds_it() -> None:
    world = World()
    world.queue.update(a_pod(), a_pod(version="2", nominated="n1"))
    assert world.where(a_pod()) == "active"
    assert len(world.queue.nominations.nominated("n1")) == 1


def test_an_update_does_not_ask_about_other_pods() -> None:
    hint = Asked(False)
    world = World(rules={"Spread": (On("Pod", Change.POD_LABEL, hint),)})
    world.park(a_pod("a"), "Spread")
    world.park(a_pod("b"), "Spread")
    world.queue.update(a_pod("a"), a_pod("a", labels={"app": "x"}))
    assert hint.pods == ["a"]


# -- failures --


def test_a_failure_refreshes_the_record() -> None:
    world = World()
    world.add(a_pod())
    queued = world.pop()
    world.clock.advance(3)
    newer = a_pod(version="2")
    world.fail(queued, "Fit", pending=("Held",), pod=newer)
    assert queued == replace(
        queued,
        pod=newer,
        timestamp=START + 3,
        attempts=1,
        unschedulable_count=1,
        consecutive_errors=0,
        initial_attempt_at=START,
        unschedulable_plugins=frozenset({"Fit"}),
        pending_plugins=frozenset({"Held"}),
        gating_plugin="",
        flushed_at=None,
    )


def test_rejectors_are_those_of_the_last_failure_only() -> None:
    world = World()
    world.park(a_pod(), "Fit")
    world.queue.move(NODE_ADD, None, object())
    queued = world.pop()
    world.fail(queued, "Affinity")
    assert queued.unschedulable_plugins == {"Affinity"}
    assert queued.unschedulable_count == 2


def test_failing_a_pod_that_is_in_the_queue_changes_nothing_and_is_reported() -> None:
    world = World()
    queued = world.park(a_pod(), "Fit")
    with capture_logs() as logs:
        world.fail(queued, "Affinity")
    assert queued.unschedulable_plugins == {"Fit"}
    assert world.queue.pending()["unschedulable"] == 1
    assert [entry["place"] for entry in logs] == ["unschedulable"]


def test_failing_a_pod_that_was_not_in_flight_retries_it() -> None:
    world = World()
    world.add(a_pod())
    queued = world.pop()
    world.queue.done(queued.pod.uid)
    with capture_logs() as logs:
        world.fail(queued, "Fit")
    assert len(logs) == 1
    assert world.where(a_pod()) == "backoff"
    assert "default/web" in world.queue


# -- activate --


def test_activate_brings_waiting_and_backing_off_pods_to_active() -> None:
    world = World()
    world.add(a_pod("failed"))
    world.fail(world.pop())
    world.park(a_pod("waiting"), "Fit")
    world.queue.activate([a_pod("failed"), a_pod("waiting"), a_pod("unknown")])
    assert world.queue.pending() == {"active": 2, "backoff": 0, "unschedulable": 0, "gated": 0}
    assert world.where(a_pod("unknown")) is None


def test_activate_asks_pre_enqueue_except_for_pods_in_backoff() -> None:
    gate = Gate()
    world = World(gates=(gate,))
    world.add(a_pod("failed"))
    world.fail(world.pop())
    world.park(a_pod("waiting"), "Fit")
    gate.closed_for.update(("failed", "waiting"))
    world.queue.activate([a_pod("failed"), a_pod("waiting")])
    assert world.where(a_pod("failed")) == "active"
    assert world.where(a_pod("waiting")) == "gated"


def test_activating_a_pod_in_flight_makes_it_come_back_and_no_other() -> None:
    world = World()
    world.add(a_pod("meant"), a_pod("other"))
    meant, other = world.pop(), world.pop()
    world.queue.activate([meant.pod])
    world.fail(meant, "Fit")
    world.fail(other, "Fit")
    assert world.where(meant.pod) == "backoff"
    assert world.where(other.pod) == "unschedulable"


def test_activating_an_active_pod_leaves_it_there() -> None:
    world = World()
    world.add(a_pod())
    world.queue.activate([a_pod()])
    assert world.pop_names() == ["web"]


# -- coming and going --


def test_a_pod_added_twice_is_there_once_in_its_newest_version() -> None:
    world = World()
    newer = a_pod(version="2")
    world.add(a_pod(), newer)
    assert world.pop().pod is newer
    assert world.queue.pop() is None


@pytest.mark.parametrize("place", ["active", "backoff", "unschedulable", "gated"])
def test_a_deleted_pod_is_gone_from_every_place(place: str) -> None:
    gate = Gate("web") if place == "gated" else Gate()
    world = World(gates=(gate,))
    world.add(a_pod())
    if place == "backoff":
        world.fail(world.pop())
    if place == "unschedulable":
        world.fail(world.pop(), "Fit")
    assert world.where(a_pod()) == place
    world.queue.delete(a_pod())
    assert world.where(a_pod()) is None
    assert "default/web" not in world.queue
    assert not any(world.queue.pending().values())
    assert world.queue.next_wakeup() is None


def test_a_pod_deleted_in_flight_stays_there_until_its_cycle_ends() -> None:
    world = World()
    world.add(a_pod())
    queued = world.pop()
    world.queue.delete(queued.pod)
    assert world.where(queued.pod) == "in_flight"
    world.queue.done(queued.pod.uid)
    assert world.where(queued.pod) is None


def test_a_pod_made_again_while_the_first_is_in_flight_replaces_it() -> None:
    world = World()
    first, second = a_pod(uid="one"), a_pod(uid="two")
    world.add(first)
    queued = world.pop()
    world.queue.delete(first)
    world.add(second)
    world.fail(queued, "Fit")
    assert (world.where(first), world.where(second)) == (None, "active")
    assert "default/web" in world.queue


def test_a_failed_pod_whose_newest_version_is_another_pod_is_dropped() -> None:
    world = World()
    world.add(a_pod(uid="one"))
    queued = world.pop()
    world.fail(queued, "Fit", pod=a_pod(uid="two"))
    assert world.where(a_pod(uid="one")) is None
    assert "default/web" not in world.queue


@pytest.mark.parametrize("told", ["as an update", "as an addition"])
def test_a_waiting_pod_made_again_starts_from_scratch(told: str) -> None:
    world = World()
    first, second = a_pod(uid="one"), a_pod(uid="two")
    world.park(first, "Fit")
    if told == "as an update":
        world.queue.update(first, second)
    else:
        world.add(second)
    assert (world.where(first), world.where(second)) == (None, "active")
    assert world.pop().attempts == 1


def test_a_pod_of_an_unknown_scheduler_is_refused() -> None:
    world = World()
    with pytest.raises(StateError, match="default/web names scheduler 'other', profiles are: default-scheduler"):
        world.add(a_pod(scheduler="other"))
    assert world.where(a_pod()) is None


def test_entries_tell_everyone_s_place() -> None:
    world = World(gates=(Gate("gated"),))
    world.add(a_pod("flying"))
    world.pop()
    world.add(a_pod("failed"))
    world.fail(world.pop())
    world.park(a_pod("waiting"), "Fit")
    world.add(a_pod("low"), a_pod("gated"), a_pod("high", priority=5))
    assert [(place, queued.pod.name) for place, queued in world.queue.entries()] == [
        ("active", "high"),
        ("active", "low"),
        ("backoff", "failed"),
        ("unschedulable", "waiting"),
        ("gated", "gated"),
        ("in_flight", "flying"),
    ]
