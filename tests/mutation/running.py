"""Many cases in forked workers with limits; one that dies or hangs is found by the case it had begun."""

from __future__ import annotations

import io
import multiprocessing as mp
import os
import resource
import tempfile
import time
from collections.abc import Callable
from contextlib import redirect_stdout
from multiprocessing.connection import Connection, wait
from pathlib import Path

from tests.mutation import seeds
from tests.mutation.trying import MOST_S, Finding, attempt, case, quicken

MEMORY = 3 * 2**30
"""Of addresses: numpy and its threads take one or two without using them."""
PATIENCE_S = 20 * MOST_S
BATCH = 50


class _Worker:
    def __init__(self, context: mp.context.ForkContext) -> None:
        self.connection, other = context.Pipe()
        self.process = context.Process(target=_work, args=(other,), daemon=True)
        self.process.start()
        other.close()
        self.numbers: list[int] = []
        self.now = -1
        self.heard_at = time.monotonic()
        self.used_s = 0.0


def run(first: int, count: int, workers: int, tell: Callable[[int, list[Finding]], None]) -> list[Finding]:
    """All cases from ``first`` on; ``tell`` hears how far it is."""
    seeds.fixed()  # once, before forking
    context = mp.get_context("fork")
    left = list(range(first + count - 1, first - 1, -1))
    team = [_Worker(context) for _ in range(workers)]
    found: list[Finding] = []
    done = 0
    while left or any(each.numbers for each in team):
        for index, worker in enumerate(team):
            if not worker.numbers and left:
                worker.numbers = [left.pop() for _ in range(min(BATCH, len(left)))]
                worker.heard_at = time.monotonic()
                worker.connection.send(list(worker.numbers))
            if worker.numbers and time.monotonic() - worker.heard_at > PATIENCE_S and not _is_starved(worker):
                worker.process.kill()
                found.append(_died(worker, f"did not end within {PATIENCE_S:g} s"))
                done += 1
                left += reversed(worker.numbers)
                team[index] = _Worker(context)
        for ready in wait([each.connection for each in team], timeout=1):
            worker = next(each for each in team if each.connection is ready)
            try:
                number, finding, is_done, used_s = worker.connection.recv()
            except (EOFError, OSError):
                found.append(_died(worker, "the process died"))
                done += 1
                left += reversed(worker.numbers)
                team[team.index(worker)] = _Worker(context)
                continue
            worker.now, worker.heard_at = number, time.monotonic()
            worker.used_s = used_s
            if is_done:
                worker.numbers.remove(number)
                done += 1
                found += [finding] if finding is not None else []
                if done % 500 == 0:
                    tell(done, found)
    for each in team:
        each.connection.send([])
        each.process.join(5)
    return found


def _is_starved(worker: _Worker) -> bool:
    """Whether it would go on, but the machine has been busy with others."""
    fields = Path(f"/proc/{worker.process.pid}/stat").read_text().rpartition(")")[2].split()
    used_s = (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
    return fields[0] == "R" and used_s - worker.used_s < PATIENCE_S


def _died(worker: _Worker, what: str) -> Finding:
    number = worker.now if worker.now in worker.numbers else worker.numbers[0]
    worker.numbers.remove(number)
    return Finding(number, what, case(number).command, "")


def _work(connection: Connection) -> None:
    with redirect_stdout(io.StringIO()):
        quicken()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    with tempfile.TemporaryDirectory(prefix="bayplan-mutation-") as folder:
        while numbers := connection.recv():
            for number in numbers:
                connection.send((number, None, False, time.process_time()))
                connection.send((number, attempt(number, Path(folder)), True, time.process_time()))
