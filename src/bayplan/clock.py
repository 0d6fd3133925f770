"""Time as an argument: code that needs the time asks a Clock.

The live services hand out a SystemClock, the simulator and the tests a VirtualClock, so that the same code
runs a week in a second.
"""

from __future__ import annotations

import asyncio
import time
from typing import Protocol


class Clock(Protocol):
    """Tells the time in epoch seconds."""

    def now(self) -> float:
        """The current time, in seconds since 1970-01-01T00:00:00Z."""
        ...


class SystemClock:
    """The wall clock of the machine."""

    __slots__ = ()

    def now(self) -> float:
        return time.time()


class VirtualClock:
    """A clock that stands still until it is told to move, and never moves back."""

    __slots__ = ("_now",)

    def __init__(self, start: float = 0.0) -> None:
        self._now = float(start)

    def now(self) -> float:
        return self._now

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        if seconds < 0:
            raise ValueError(f"a clock does not run backwards: advance({seconds})")
        self._now += seconds

    def advance_to(self, moment: float) -> None:
        """Let time pass until `moment` (epoch seconds)."""
        if moment < self._now:
            raise ValueError(f"a clock does not run backwards: it is {self._now}, not yet {moment}")
        self._now = float(moment)


async def wait_at_most(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until an event is set, but not longer than this on the loop's clock; whether it was set.

    ``None`` and infinity wait for as long as it takes.
    """
    # Not wait_for: until Python 3.12 it forgets a cancellation that comes together with the event.
    try:
        async with asyncio.timeout(None if seconds is None or seconds == float("inf") else max(0.0, seconds)):
            await event.wait()
    except TimeoutError:
        return False
    return True
