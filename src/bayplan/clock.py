"""Time as an argument: whoever needs the hour asks a Clock.

The live services hand out a SystemClock, the simulator and the tests a VirtualClock, so that the same code
runs a week in a second.
"""

from __future__ import annotations

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
