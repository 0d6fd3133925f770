"""
Where a thread's time went: computing, ready but without a core, or waiting by its own will.

``engine.plugin_calls`` asks it whether a plugin was slow or only on a machine that is busy.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import NamedTuple

# A reading costs microseconds and a plugin's call often less, so one reading serves for this long.
FRESH_S = 0.01


class ThreadTime(NamedTuple):
    """Readings of one thread, to be compared with later ones."""

    thread: int
    cpu_s: float
    """Computing."""
    starved_s: float
    """Ready to compute, while others had the cores."""
    pauses: int
    """How often it stopped by its own will: to sleep, for a file, for a lock."""


def read() -> ThreadTime:
    """Of the thread that asks."""
    try:
        from resource import RUSAGE_THREAD, getrusage  # not on every system

        usage = getrusage(RUSAGE_THREAD)
        with open("/proc/thread-self/schedstat", "rb", buffering=0) as file:
            starved_ns = int(file.read().split()[1])
    except (ImportError, OSError, LookupError, ValueError):
        # Where nobody tells, code counts as having wanted all the time that it took.
        return ThreadTime(threading.get_ident(), time.thread_time(), 0.0, time.perf_counter_ns())
    return ThreadTime(threading.get_ident(), usage.ru_utime + usage.ru_stime, starved_ns / 1e9, usage.ru_nvcsw)


class ThreadTimes:
    """The latest reading, made anew when it is not fresh any more."""

    __slots__ = ("latest", "stale_at", "_read")

    def __init__(self, read: Callable[[], ThreadTime] = read) -> None:
        self._read = read
        self.latest = ThreadTime(0, 0.0, 0.0, 0)
        self.stale_at = float("-inf")

    def renew(self, now: float) -> ThreadTime:
        self.latest, self.stale_at = self._read(), now + FRESH_S
        return self.latest

    def of_its_own(self, took: float, before: ThreadTime) -> tuple[float, float]:
        """
        How much of the time since ``before`` is the code's own doing, and how much of that was computing.

        The machine has to answer for the rest: another thread or process had the core.
        """
        now = self._read()
        if now.thread != before.thread:
            return took, 0.0
        cpu = min(now.cpu_s - before.cpu_s, took)
        if now.pauses == before.pauses:
            return cpu, cpu  # it never stopped, so whenever it did not compute it was not let
        return max(took - (now.starved_s - before.starved_s), cpu), cpu
