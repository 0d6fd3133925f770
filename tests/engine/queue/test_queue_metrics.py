"""Measuring: the queue's counters, gauges and hint times under kube-scheduler's names."""

from __future__ import annotations

from bayplan.framework.events import Change, On
from tests.engine.queue.support import NODE_ADD, NODE_LABEL, PROFILE, Asked, Gate, Recorded, World, a_pod

INCOMING = "queue_incoming_pods_total"


def test_every_way_into_a_part_is_counted_by_its_cause() -> None:
    metrics, gate = Recorded(), Gate("gated")
    world = World(gates=(gate,), metrics=metrics)
    world.add(a_pod("a"), a_pod("b"), a_pod("gated"))
    first, second = world.pop(), world.pop()
    world.fail(first, "Fit")
    world.fail(second)
    world.queue.move(NODE_ADD, None, object())
    assert world.pop() is first
    world.wait(5)
    world.queue.activate([a_pod("gated")])
    gate.closed_for.clear()
    world.queue.activate([a_pod("gated")])
    world.queue.update(None, a_pod("unknown"))
    assert metrics.counters == {
        (INCOMING, "active", "UnschedulablePodAdd"): 2,
        (INCOMING, "unschedulable", "UnschedulablePodAdd"): 1,
        (INCOMING, "unschedulable", "ScheduleAttemptFailure"): 1,
        (INCOMING, "backoff", "ScheduleAttemptFailure"): 1,
        (INCOMING, "backoff", "NodeAdd"): 1,
        (INCOMING, "active", "PopFromBackoffQ"): 1,
        (INCOMING, "active", "BackoffComplete"): 1,
        (INCOMING, "active", "ForceActivate"): 1,
        (INCOMING, "active", "UnschedulablePodUpdate"): 1,
    }


def test_a_timeout_is_a_cause_of_its_own() -> None:
    metrics = Recorded()
    world = World(metrics=metrics)
    world.park(a_pod(), "Fit")
    world.wait(330)
    assert metrics.counters[INCOMING, "active", "UnschedulableTimeout"] == 1


def test_gauges_are_written_on_demand() -> None:
    metrics = Recorded()
    world = World(gates=(Gate("gated"),), metrics=metrics)
    world.park(a_pod("waiting"), "Fit", "Affinity")
    world.add(a_pod("gated"), a_pod("one"), a_pod("two"))
    world.pop()
    world.queue.move(NODE_LABEL, None, object())
    assert metrics.gauges == {}
    world.queue.publish_gauges()
    assert metrics.gauges == {
        ("pending_pods", "active"): 1,
        ("pending_pods", "backoff"): 1,
        ("pending_pods", "unschedulable"): 0,
        ("pending_pods", "gated"): 1,
        ("unschedulable_pods", "Fit", PROFILE): 1,
        ("unschedulable_pods", "Affinity", PROFILE): 1,
        ("unschedulable_pods", "Gate", PROFILE): 1,
        ("inflight_events", "NodeUpdateNodeLabel"): 1,
        ("inflight_events", "PodPopped"): 1,
    }


def test_gauges_fall_back_to_zero() -> None:
    metrics = Recorded()
    world = World(metrics=metrics)
    world.park(a_pod("waiting"), "Fit")
    world.add(a_pod("flying"))
    flying = world.pop()
    world.queue.move(NODE_LABEL, None, object())
    world.queue.publish_gauges()
    world.queue.done(flying.pod.uid)
    world.queue.delete(a_pod("waiting"))
    world.queue.publish_gauges()
    assert set(metrics.gauges.values()) == {0}


def test_a_pod_is_counted_for_its_rejectors_until_it_is_popped() -> None:
    metrics, gate = Recorded(), Gate()
    world = World(metrics=metrics, gates=(gate,))

    def rejections() -> dict[str, float]:
        world.queue.publish_gauges()
        return {key[1]: value for key, value in metrics.gauges.items() if key[0] == "unschedulable_pods"}

    world.park(a_pod(), "Fit")
    gate.closed_for.add("web")
    world.queue.move(NODE_ADD, None, object())
    assert rejections() == {"Fit": 1, "Gate": 1}
    world.queue.activate([a_pod()])
    assert rejections() == {"Fit": 1, "Gate": 1}
    gate.closed_for.clear()
    world.queue.activate([a_pod()])
    assert rejections() == {"Fit": 1, "Gate": 1}
    world.pop()
    assert rejections() == {"Fit": 0, "Gate": 0}


def test_hints_are_timed_with_their_answer() -> None:
    metrics = Recorded()
    world = World(
        metrics=metrics,
        rules={
            "No": (On("Node", Change.ADDED, Asked(False)),),
            "Broken": (On("Node", Change.ADDED, Asked(KeyError("x"))),),
            "Yes": (On("Node", Change.LABEL, Asked(True)),),
        },
    )
    world.park(a_pod(), "No", "Broken", "Yes")
    world.queue.move(NODE_ADD, None, object())
    world.pop()
    world.park(a_pod("other"), "Yes")
    world.queue.move(NODE_LABEL, None, object())
    name = "queueing_hint_execution_duration_seconds"
    assert metrics.observed == [
        (name, "No", "NodeAdd", "QueueSkip"),
        (name, "Broken", "NodeAdd", "Error"),
        (name, "Yes", "NodeUpdateNodeLabel", "Queue"),
    ]


def test_without_a_sink_publishing_does_nothing() -> None:
    world = World()
    world.add(a_pod())
    world.queue.publish_gauges()
    assert world.queue.pending()["active"] == 1
