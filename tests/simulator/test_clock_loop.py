"""Virtual time: waiting takes none, timers fire in order, and a loop that can never go on says so."""

from __future__ import annotations

import asyncio
import threading

import pytest

from bayplan.clock import VirtualClock
from bayplan.errors import InputError, StateError
from bayplan.simulator import clock_loop

START = 1_750_000_000.0
YEAR_2600, YEAR_9998 = 19_880_899_200.0, 253_339_228_800.0


def test_a_long_sleep_moves_the_clock_and_takes_no_time() -> None:
    clock = VirtualClock(START)
    clock_loop.run(asyncio.sleep(7 * 24 * 3600), clock)
    assert clock.now() == START + 7 * 24 * 3600


def test_a_timeout_fires_at_its_exact_moment() -> None:
    clock = VirtualClock(START)

    async def waits_in_vain() -> float:
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 600)
        return clock.now()

    assert clock_loop.run(waits_in_vain(), clock) == START + 600


def test_timers_fire_in_order_whatever_the_order_they_were_set_in() -> None:
    clock = VirtualClock(START)
    seen: list[tuple[str, float]] = []

    async def after(name: str, seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append((name, clock.now() - START))

    async def all_of_them() -> None:
        await asyncio.gather(after("late", 30), after("early", 0.25), after("between", 1))

    clock_loop.run(all_of_them(), clock)
    assert seen == [("early", 0.25), ("between", 1.0), ("late", 30.0)]


def test_waiting_for_what_nobody_will_do_is_an_error_not_a_hang() -> None:
    async def for_ever() -> None:
        await asyncio.Event().wait()

    with pytest.raises(StateError, match="nothing can ever happen"):
        clock_loop.run(for_ever(), VirtualClock(START))


@pytest.mark.parametrize("start", [YEAR_2600, YEAR_9998, -62_135_596_800.0, 0.0])
def test_timers_fire_also_where_floats_of_the_time_are_far_apart(start: float) -> None:
    clock = VirtualClock(start)

    async def many_short_ones() -> None:
        for _ in range(100):
            await asyncio.sleep(0.1)

    clock_loop.run(many_short_ones(), clock)
    assert clock.now() == pytest.approx(start + 10, abs=0.01, rel=0)


def test_time_ends_with_the_year_9999() -> None:
    with pytest.raises(InputError, match="virtual time would go beyond the year 9999; begin earlier"):
        clock_loop.run(asyncio.sleep(2 * 366 * 24 * 3600), VirtualClock(YEAR_9998))


def test_time_stands_still_while_threads_work() -> None:
    clock = VirtualClock(START)
    seen: list[tuple[str, float]] = []

    async def by_thread(name: str) -> None:
        await asyncio.to_thread(threading.Event().wait, 0.01)
        seen.append((name, clock.now()))

    async def after(seconds: float) -> None:
        await asyncio.sleep(seconds)
        seen.append(("timer", clock.now()))

    async def all_of_them() -> None:
        await asyncio.gather(after(1), by_thread("a"), by_thread("b"))

    clock_loop.run(all_of_them(), clock)
    assert sorted(seen[:2]) == [("a", START), ("b", START)]
    assert seen[2:] == [("timer", START + 1)]


def test_a_thread_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clock_loop, "PATIENCE_S", 0.01)
    clock, ends = VirtualClock(START), threading.Event()

    async def impatient() -> None:
        try:
            async with asyncio.timeout(60):
                await asyncio.to_thread(ends.wait)
        finally:
            ends.set()

    with pytest.raises(TimeoutError):
        clock_loop.run(impatient(), clock)
    assert clock.now() == START + 60
