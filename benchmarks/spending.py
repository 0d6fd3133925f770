"""
What a process spends: CPU and memory, as the kernel counts them.  The live benchmarks ask about servers they run.
"""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

TICKS_S = os.sysconf("SC_CLK_TCK")
PAGE_BYTES = os.sysconf("SC_PAGE_SIZE")
LOOK_EVERY_S = 1.0
MAX_SETTLING_S = 60.0
IDLE = 0.1
"""Less than this share of a core over a while, and a process counts as having nothing to do."""
BEGUN_S = 0.03
"""Less CPU than this, and it has not had its first turn yet."""


def resident_bytes(pid: int) -> int:
    return int(Path(f"/proc/{pid}/statm").read_text().split()[1]) * PAGE_BYTES


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_S


def settled(pid: int) -> tuple[float, int]:
    """Wait until a process that has just started has done what it does at its start; its CPU and memory by then."""
    ends_at = time.monotonic() + MAX_SETTLING_S
    before, calm = 0.0, 0
    while calm < 2 and time.monotonic() < ends_at:
        time.sleep(LOOK_EVERY_S)
        now = cpu_s(pid)
        calm = calm + 1 if now > BEGUN_S and now - before < IDLE * LOOK_EVERY_S else 0
        before = now
    return cpu_s(pid), resident_bytes(pid)


def make_all(count: int, make: Callable[[int], Any]) -> None:
    with ThreadPoolExecutor(8) as workers:
        for _ in workers.map(make, range(count)):
            pass
    gc.collect()


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)
