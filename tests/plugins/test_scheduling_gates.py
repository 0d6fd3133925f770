"""SchedulingGates: gated pods stay out of the queue until their own last gate is gone."""

from __future__ import annotations

import pytest

from bayplan.framework import Change, ClusterEvent, unresolvable
from bayplan.plugins.scheduling_gates import SchedulingGates
from bayplan.testing import make, pod


def test_a_pod_without_gates_enters_the_queue() -> None:
    assert make(SchedulingGates).pre_enqueue(pod("a").build()) is None
    assert make(SchedulingGates).pre_enqueue(pod("a").gated().build()) is None


@pytest.mark.parametrize(("gates", "text"), [(("a",), "[a]"), (("b", "a.example/x"), "[b a.example/x]")])
def test_a_gated_pod_is_held_and_its_gates_are_named(gates: tuple[str, ...], text: str) -> None:
    verdict = make(SchedulingGates).pre_enqueue(pod("a").gated(*gates).build())
    assert verdict == unresolvable(f"waiting for scheduling gates: {text}")


def test_only_the_pods_own_gates_bring_it_back() -> None:
    (rule,) = make(SchedulingGates).requeue_on()
    gated, free, other = pod("a").gated("g").build(), pod("a").build(), pod("b").build()
    assert rule.hint is not None
    assert rule.hint(gated, gated, free)
    assert not rule.hint(gated, other, other)
    assert rule.matches(ClusterEvent("UnschedulablePod", Change.POD_GATES_ELIMINATED))
    assert not rule.matches(ClusterEvent("UnschedulablePod", Change.POD_LABEL))
