"""
One simulation from beginning to end: what was given goes in, the document ``kind: Simulation`` comes out.

``bayplan simulate`` calls ``simulate``; scripts may, too.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from bayplan.engine.intents import Outcome
from bayplan.simulator import clock_loop
from bayplan.simulator.driver import Driver, Then, nothing_more
from bayplan.simulator.explain.explanation import explain
from bayplan.simulator.load.simulated_load import LoadOptions
from bayplan.simulator.loading import Given
from bayplan.simulator.report import simulation_report
from bayplan.simulator.world import World, assemble

Progress = Callable[[int, int], None]
"""Told how many pods have been tried, and how many there are."""


def simulate(
    given: Given,
    *,
    seed: int = 0,
    now: float | None = None,
    run_for_s: float | None = None,
    with_explanations: bool = False,
    with_summary: bool = False,
    load: LoadOptions | None = None,
    keeps_history: bool = False,
    warn: Callable[[str], None] = lambda warning: None,
    progress: Progress = lambda tried, total: None,
    at_end: Callable[[World], None] = lambda world: None,
) -> dict[str, Any]:
    """
    Schedule everything that was given.

    Args:
        now: the wall clock (epoch seconds) at which virtual time starts; the real one if it is not given.
        run_for_s: let virtual time run on this long; without it the run ends when nothing more can happen.
        with_explanations: explain every pod that is pending in the end.
        with_summary: add sums by workload, by zone and by kind of node.
        load: how real use is simulated, in a run of a given length with usage profiles.
        keeps_history: note every attempt with its scores, for who looks at the world in the end.
        warn: hears of everything that has no effect.
        at_end: gets the world as it is in the end.
    """
    # Whole seconds: a backoff ends with a second, so a fraction would make two runs differ.
    started_at = float(int(time.time())) if now is None else now
    options = None if run_for_s is None else load or LoadOptions()
    world = assemble(given, seed=seed, now=started_at, load=options, keeps_history=keeps_history, warn=warn)
    stopped = run(world, run_for_s, progress)
    document = simulation_report.simulation(world, seed, stopped, with_summary=with_summary)
    if with_explanations:
        _explain(world, document)
    at_end(world)
    return document


def run(
    world: World,
    run_for_s: float | None = None,
    progress: Progress = lambda tried, total: None,
    then: Then = nothing_more,
    is_enough: Callable[[Outcome], bool] = lambda outcome: False,
    pace: clock_loop.Pace = clock_loop.at_once,
) -> str:
    """
    Let things happen in a world; why that ended too early, "" if it did not.

    ``then`` is asked when nothing more can happen: it may change something, and the run goes on while it does.  The run
    also ends with the first outcome that ``is_enough``.  ``pace`` may let real time pass with the virtual one.
    """
    records = world.cluster.records
    tried = 0

    def one_more() -> None:
        nonlocal tried
        tried += 1
        progress(tried, len(records))

    until = None if run_for_s is None else world.started_at + run_for_s
    driver = Driver(world, until=until, progress=one_more, then=then, is_enough=is_enough)
    try:
        clock_loop.run(driver.run(), world.clock, pace)
    except clock_loop.Standstill as error:
        return f"after {world.cluster.elapsed_s:g} s: {error}{_perhaps(driver.others())}"
    return driver.stopped


def _perhaps(names: Sequence[str]) -> str:
    return f" (it may be {', '.join(names)})" if names else ""


def _explain(world: World, document: dict[str, Any]) -> None:
    """
    Give every pending pod its explanation, against the cluster as it is in the end.  Its message is then of that
    moment, too, as the table of nodes is; what it was told when it was tried last stays beside it if that was another.
    """
    shown = document["pods"]
    pending = {(pod["namespace"], pod["name"]): pod for pod in shown if pod["state"] == simulation_report.PENDING}
    for record in world.cluster.records.values():
        pod = record.pod
        told = pending.get((pod.namespace, pod.name))
        if told is None or record.is_gone:
            continue
        told["explanation"] = explain(world.scheduler, pod)
        now = told["explanation"]["message"] or _not_tried_again(told["explanation"])
        if now != told["message"] and world.scheduler.waiting.get(pod.uid) is None:
            told["triedMessage"], told["message"] = told["message"], now


def _not_tried_again(explanation: dict[str, Any]) -> str:
    return f"it would go to {explanation['node']} now, and has not been tried again yet"
