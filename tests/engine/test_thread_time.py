"""Where a thread's time went, on the real machine: computing, waiting, or beside others that have the core."""

from __future__ import annotations

import os
import subprocess
import threading
import time
from collections.abc import Callable, Iterator

import pytest

from bayplan.engine import thread_time
from bayplan.engine.thread_time import FRESH_S, ThreadTimes

TOOK_S = 0.3
RIVALS = 9


def measured(work: Callable[[], None]) -> tuple[float, float, float]:
    """The time on the clock, the time of its own, and how much of that was computing."""
    times = ThreadTimes()
    started = time.perf_counter()
    before = times.renew(started)
    work()
    took = time.perf_counter() - started
    return took, *times.of_its_own(took, before)


def spin() -> None:
    ends_at = time.perf_counter() + TOOK_S
    while time.perf_counter() < ends_at:
        pass


@pytest.fixture
def crowded() -> Iterator[None]:
    """This thread shares one core with many others."""
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    rivals = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(RIVALS)]
    try:
        yield
    finally:
        for rival in rivals:
            rival.kill()
            rival.wait()
        os.sched_setaffinity(0, cores)


def test_sleeping_is_time_of_its_own_without_computing() -> None:
    took, own, cpu = measured(lambda: time.sleep(TOOK_S))
    assert cpu < TOOK_S / 2
    assert TOOK_S / 2 < own <= took


def test_computing_is_time_of_its_own() -> None:
    _, own, cpu = measured(lambda: sum(range(3_000_000)))
    assert 0 < cpu <= own


def test_without_a_core_there_is_little_time_of_its_own(crowded: None) -> None:
    took, own, cpu = measured(spin)
    assert took >= TOOK_S
    assert own < TOOK_S / 2, "the others had most of it"
    assert cpu <= own


def test_a_reading_serves_until_it_is_stale() -> None:
    times = ThreadTimes()
    first = times.renew(5.0)
    assert times.latest is first
    assert times.stale_at == 5.0 + FRESH_S


def test_the_readings_of_another_thread_tell_nothing() -> None:
    times = ThreadTimes()
    other = threading.Thread(target=lambda: times.renew(0.0))
    other.start()
    other.join()
    assert times.of_its_own(0.5, times.latest) == (0.5, 0.0)


def test_where_the_system_tells_nothing_all_time_is_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("resource.RUSAGE_THREAD")
    times = ThreadTimes(thread_time.read)
    before = times.renew(0.0)
    assert times.of_its_own(0.5, before)[0] == 0.5
