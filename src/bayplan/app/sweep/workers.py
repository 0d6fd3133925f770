"""
Scenarios run here, or in processes beside this one.  Wherever it is, ``run_scenario`` is what runs.

``running`` takes results as they come.  A process that dies takes its scenario with it and nothing else: the others'
results are kept, and a new pool gets what is left.
"""

from __future__ import annotations

import logging
import multiprocessing
import os
import pickle
import sys
import threading
from collections.abc import Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from typing import Protocol

import structlog

from bayplan.errors import BayplanError
from bayplan.simulator.sweep.payload import Payload
from bayplan.simulator.sweep.scenario_run import Result, run_scenario
from bayplan.simulator.sweep.scenarios import Scenario

MAX_DEATHS = 3
"""So often may workers die while no scenario comes to its end."""


class SweepError(BayplanError):
    """A sweep that cannot go on; what it has written stays."""


class Workers(Protocol):
    """Runs scenarios somewhere."""

    def results(self, scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, Result]]:
        """Each with its result, in the order in which they are done."""


class Here:
    """One after another, in this process."""

    def __init__(self, payload: Payload, resources: list[str]) -> None:
        self._payload = payload
        self._resources = resources

    def results(self, scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, Result]]:
        for each in scenarios:
            yield each, run_scenario(self._payload, each, self._resources)


class Processes:
    """So many processes, each of which gets the payload once."""

    def __init__(self, payload: Payload, resources: list[str], count: int) -> None:
        self._parcel = pickle.dumps((payload, resources))
        self._count = count

    def results(self, scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, Result]]:
        left = {each.number: each for each in scenarios}
        deaths = 0
        while left:
            before = len(left)
            for scenario, result in self._until_broken(list(left.values())):
                del left[scenario.number]
                yield scenario, result
            deaths = 0 if len(left) < before else deaths + 1
            if left and deaths >= MAX_DEATHS:
                first = next(iter(left.values()))
                raise SweepError(
                    f"workers die again and again; {len(left)} scenarios are left, the first is {first.number} "
                    f"({first.told()}); is there memory enough? try --workers 1"
                )

    def _until_broken(self, scenarios: Sequence[Scenario]) -> Iterator[tuple[Scenario, Result]]:
        """Until all are done, or a process has died."""
        spawning = multiprocessing.get_context("spawn")
        pool = ProcessPoolExecutor(min(self._count, len(scenarios)), spawning, _begin, (self._parcel,))
        given: dict[Future[Result], Scenario] = {}
        try:
            given = {pool.submit(_run, each): each for each in scenarios}
            for done in as_completed(given):
                try:
                    result = done.result()
                except BrokenProcessPool:
                    continue  # what others had finished before is still to come
                yield given[done], result
        except BrokenProcessPool:  # before all were handed out
            return
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def quiet_logs() -> None:
    """In a worker only what went wrong is logged, as in a command; unless somebody wants it otherwise."""
    if not structlog.is_configured():
        structlog.configure(
            wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR),
            logger_factory=structlog.PrintLoggerFactory(file=sys.stderr),
        )


_parcel: list[tuple[Payload, list[str]]] = []
"""In a worker process: what it was given when it began."""


def _begin(parcel: bytes) -> None:
    quiet_logs()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    _parcel[:] = [pickle.loads(parcel)]


def _end_with_parent() -> None:
    """A parent that is killed tells nobody, and its workers would wait for work for ever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _run(scenario: Scenario) -> Result:
    payload, resources = _parcel[0]
    return run_scenario(payload, scenario, resources)
