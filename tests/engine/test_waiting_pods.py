"""Pods held by Permit: allowed by all, rejected by one, or out of time; the first signal decides."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from typing import Any

import pytest

from bayplan.clock import VirtualClock
from bayplan.engine.waiting_pods import WaitingPod, WaitingPods
from bayplan.framework.status import Code, Status
from bayplan.simulator import clock_loop
from bayplan.testing import pod

P = pod("p").build()


def waited(timeouts: dict[str, float], *signals: tuple[float, Callable[[WaitingPod], None]]) -> tuple[Status, float]:
    """How the wait ended and how long it took, with signals given at their times."""
    clock = VirtualClock(1000.0)

    async def main() -> Status:
        held = WaitingPod(P, "n", timeouts, clock)
        loop = asyncio.get_running_loop()
        for at, signal in signals:
            loop.call_at(1000.0 + at, signal, held)
        return await held.wait()

    return clock_loop.run(main(), clock), clock.now() - 1000.0


def allow(plugin: str) -> Callable[[WaitingPod], None]:
    return lambda held: held.allow(plugin)


def reject(plugin: str, message: str = "no") -> Callable[[WaitingPod], None]:
    return lambda held: held.reject(plugin, message)


def timeout(waited_for: str, plugin: str) -> Status:
    text = f"rejected due to timeout after waiting {waited_for} at plugin {plugin}"
    return Status(Code.UNSCHEDULABLE, (text,), plugin)


@pytest.mark.parametrize(
    ("timeouts", "signals", "outcome", "seconds"),
    [
        pytest.param({"X": 300}, [(10, allow("X"))], Status(), 10, id="allowed"),
        pytest.param({"X": 300, "Y": 300}, [(10, allow("X")), (20, allow("Y"))], Status(), 20, id="allowed by all"),
        pytest.param({"X": 300, "Y": 60}, [(10, allow("X"))], timeout("1m0s", "Y"), 60, id="allowed by one only"),
        pytest.param({"X": 30, "Y": 60}, [(10, allow("X"))], timeout("1m0s", "Y"), 60, id="a timer that was stopped"),
        pytest.param({"X": 5, "Y": 60}, [(2, allow("X")), (30, allow("Y"))], Status(), 30, id="no timer left but one"),
        pytest.param({"X": 300}, [], timeout("5m0s", "X"), 300, id="timeout"),
        pytest.param({"X": 300, "Y": 1.5}, [], timeout("1.5s", "Y"), 1.5, id="the shortest timeout"),
        pytest.param({"X": 3600}, [], timeout("15m0s", "X"), 900, id="never more than 15 minutes"),
        pytest.param({"X": math.inf}, [], timeout("15m0s", "X"), 900, id="not for ever"),
        pytest.param({"X": 0}, [], timeout("0s", "X"), 0, id="no time at all"),
        pytest.param({"X": -5}, [], timeout("-5s", "X"), 0, id="less than no time"),
        pytest.param(
            {"X": 300}, [(7, reject("X"))], Status(Code.UNSCHEDULABLE, ("no",), "X"), 7, id="rejected by its plugin"
        ),
        pytest.param(
            {"X": 300}, [(7, reject("", "removed"))], Status(Code.UNSCHEDULABLE, ("removed",)), 7, id="removed"
        ),
        pytest.param(
            {"X": 300}, [(7, reject("Z")), (8, allow("X"))], Status(Code.UNSCHEDULABLE, ("no",), "Z"), 7, id="first"
        ),
        pytest.param({"X": 300}, [(7, allow("X")), (7, reject("X"))], Status(), 7, id="a late rejection is ignored"),
        pytest.param({"X": 300}, [(7, allow("Z"))], timeout("5m0s", "X"), 300, id="allowed by a stranger"),
        pytest.param(
            {"X": 300},
            [(7, lambda held: held.preempt("P", "preempted"))],
            Status(Code.ERROR, ("preempted",), "P"),
            7,
            id="preempted",
        ),
    ],
)
def test_how_a_wait_ends(timeouts: Any, signals: Any, outcome: Status, seconds: float) -> None:
    ended, after = waited(timeouts, *signals)
    assert ended == outcome
    assert after == pytest.approx(seconds)


def test_a_signal_before_anybody_waits_is_not_lost() -> None:
    clock = VirtualClock()
    held = WaitingPod(P, "n", {"X": 300}, clock)
    held.allow("X")
    assert clock_loop.run(held.wait(), clock).is_success
    assert clock.now() == 0


def test_time_counts_from_permit_not_from_the_wait() -> None:
    clock = VirtualClock()
    held = WaitingPod(P, "n", {"X": 300}, clock)
    clock.advance(290)
    assert clock_loop.run(held.wait(), clock) == timeout("5m0s", "X")
    assert clock.now() == pytest.approx(300)


def test_who_still_holds_the_pod_can_be_seen() -> None:
    held = WaitingPod(P, "n", {"X": 1, "Y": 1}, VirtualClock())
    held.allow("X")
    assert sorted(held.pending_plugins) == ["Y"]


def test_waiting_pods_are_known_by_uid() -> None:
    pods = WaitingPods()
    held = WaitingPod(P, "n", {"X": 1}, VirtualClock())
    pods[P.uid] = held
    assert pods.get(P.uid) is held
    assert list(pods.list()) == [held]
    assert pods.pop(P.uid) is held
    assert pods.get(P.uid) is None
    assert list(pods.list()) == []
