"""The clocks."""

from __future__ import annotations

import time

import pytest

from bayplan.clock import SystemClock, VirtualClock


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
