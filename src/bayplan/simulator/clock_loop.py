"""
asyncio in virtual time: a loop whose waiting moves a ``VirtualClock`` instead of taking time.

The simulator runs binding cycles on it, and tests may.  Timers fire in order and at their exact moment, so a run
repeats itself; a ten-minute timeout costs nothing.
"""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

from bayplan.clock import VirtualClock
from bayplan.errors import StateError

T = TypeVar("T")


class _NoWaiting(selectors.SelectSelector):
    """Waits by moving the clock."""

    def __init__(self, clock: VirtualClock) -> None:
        super().__init__()
        self._clock = clock

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if timeout is None:
            raise StateError("everything waits and no timer is set: nothing can ever happen in this simulation")
        if timeout > 0:
            self._clock.advance(timeout)
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop that asks a ``VirtualClock`` for the time.  Sockets and threads have no place in it."""

    def __init__(self, clock: VirtualClock) -> None:
        self._virtual_clock = clock
        super().__init__(_NoWaiting(clock))
        # asyncio adds this to the time to see which timers are due.  Its own nanosecond would be lost in epoch
        # seconds, whose floats are 0.2 microseconds apart, and the loop would turn without ever firing.
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._virtual_clock.now()


def run(main: Coroutine[Any, Any, T], clock: VirtualClock) -> T:
    """Run a coroutine to its end in virtual time; what it left running is ended."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(clock)) as runner:
        return runner.run(main)
