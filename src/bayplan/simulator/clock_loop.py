"""
asyncio in virtual time: a loop whose waiting moves a ``VirtualClock`` instead of taking time.

The simulator runs binding cycles on it, and tests may.  Timers fire in order and at their exact moment, so a run
repeats itself; a ten-minute timeout costs nothing.
"""

from __future__ import annotations

import asyncio
import math
import selectors
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any, TypeVar

from bayplan.clock import VirtualClock
from bayplan.errors import BayplanError, InputError, StateError

T = TypeVar("T")

END = 253_402_300_800.0
"""The end of the year 9999: later times cannot be written."""


MAX_TURNS = 100_000
"""How often the loop may turn in one moment while the driver waits for time to pass."""


class Standstill(BayplanError):
    """Time would never move on."""


PATIENCE_S = 60.0
"""Of real time: how long virtual time stands still for a thread that is at work."""


Pace = Callable[[float], None]
"""Told how many seconds of virtual time are about to pass; whoever watches a run may let real time pass here."""


def at_once(seconds: float) -> None:
    """As fast as can be."""


class _NoWaiting(selectors.SelectSelector):
    """Waits by moving the clock, but for threads: what they do takes real time, and none of the clock's."""

    def __init__(self, clock: VirtualClock, pace: Pace) -> None:
        super().__init__()
        self._clock = clock
        self._pace = pace
        self.turns = 0
        """Since time moved, or since the driver had a turn."""
        self.working = 0
        """Threads that are waited for."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        if self.working and timeout != 0:
            heard = super().select(PATIENCE_S)
            if heard:
                self.turns = 0
                return heard
        if timeout is None:
            raise StateError("everything waits and no timer is set: nothing can ever happen in this simulation")
        if self._clock.now() + timeout >= END:
            raise InputError("virtual time would go beyond the year 9999", fix="begin earlier or let less time pass")
        before = self._clock.now()
        if timeout > 0:
            self._pace(timeout)
            self._clock.advance(timeout)
        # A timer shorter than the clock can tell moves nothing either.
        self.turns = self.turns + 1 if self._clock.now() == before else 0
        if self.turns > MAX_TURNS:
            self.turns = 0
            raise Standstill("time cannot move on: something that never waits goes round and round")
        return []


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """
    An event loop that asks a ``VirtualClock`` for the time.  While a thread is at work (``asyncio.to_thread``) time
    stands still; sockets have no place in it.
    """

    def __init__(self, clock: VirtualClock, pace: Pace = at_once) -> None:
        self._virtual_clock = clock
        self._waits = _NoWaiting(clock, pace)
        super().__init__(self._waits)

    def time(self) -> float:
        return self._virtual_clock.now()

    def note_turn(self) -> None:
        """Something came of it that the loop turned."""
        self._waits.turns = 0

    def run_in_executor(  # type: ignore[override]  # the same, for any function
        self, executor: Executor | None, func: Callable[..., Any], *args: Any
    ) -> asyncio.Future[Any]:
        """A thread at work: time stands still until it is done or given up."""
        done: asyncio.Future[Any] = super().run_in_executor(executor, func, *args)
        self._waits.working += 1
        done.add_done_callback(self._one_less)
        return done

    async def shutdown_default_executor(self, *args: Any) -> None:
        """It waits for a thread, too."""
        self._waits.working += 1
        try:
            await super().shutdown_default_executor(*args)
        finally:
            self._waits.working -= 1

    def _one_less(self, done: asyncio.Future[Any]) -> None:
        self._waits.working -= 1

    @property
    def _clock_resolution(self) -> float:
        """
        asyncio adds this to the time to see which timers are due.  Its own nanosecond would be lost in epoch seconds,
        whose floats are 0.2 microseconds apart today and 30 in the year 9999, and the loop would turn without ever
        firing.
        """
        return max(1e-6, 2 * math.ulp(self._virtual_clock.now()))

    @_clock_resolution.setter
    def _clock_resolution(self, seconds: float) -> None:
        """What asyncio finds out about the machine's clock is of no use here."""


def run(main: Coroutine[Any, Any, T], clock: VirtualClock, pace: Pace = at_once) -> T:
    """Run a coroutine to its end in virtual time; what it left running is ended."""
    with asyncio.Runner(loop_factory=lambda: VirtualTimeLoop(clock, pace)) as runner:
        # Not runner.run: at the first Ctrl-C it only cancels the task, and a plugin that never waits goes on.
        return runner.get_loop().run_until_complete(main)
