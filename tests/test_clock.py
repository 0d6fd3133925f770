"""The clocks."""

from __future__ import annotations

import asyncio
import time

import pytest

from bayplan.clock import SystemClock, VirtualClock, wait_at_most


def test_system_clock_tells_the_time_of_the_machine() -> None:
    before = time.time()
    assert before <= SystemClock().now() <= time.time()


def test_virtual_clock_stands_still_until_it_is_moved() -> None:
    clock = VirtualClock(100)
    assert clock.now() == clock.now() == 100.0
    clock.advance(2.5)
    assert clock.now() == 102.5
    clock.advance_to(200)
    assert clock.now() == 200.0


def test_virtual_clock_never_runs_backwards() -> None:
    clock = VirtualClock(10)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance(-1)
    with pytest.raises(ValueError, match="backwards"):
        clock.advance_to(9)
    assert clock.now() == 10.0


async def test_waiting_ends_with_the_event() -> None:
    event = asyncio.Event()
    waiting = asyncio.ensure_future(wait_at_most(event, None))
    await asyncio.sleep(0)
    assert not waiting.done()
    event.set()
    assert await waiting is True


@pytest.mark.parametrize("seconds", [0.0, -1.0, 1e-6])
async def test_waiting_ends_with_its_time(seconds: float) -> None:
    assert await wait_at_most(asyncio.Event(), seconds) is False


async def test_an_event_that_is_set_already_is_not_waited_for() -> None:
    event = asyncio.Event()
    event.set()
    assert await wait_at_most(event, float("inf")) is True


async def test_a_cancellation_that_comes_together_with_the_event_is_not_forgotten() -> None:
    event = asyncio.Event()
    waiting = asyncio.ensure_future(wait_at_most(event, 60.0))
    await asyncio.sleep(0)
    event.set()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
