"""
A simulated world as a ``Cluster``: how every pod fares, why those that wait do, what nodes really use, and the scores
of every choice, where they were noted.
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

from bayplan.objects.resources import CPU, MEMORY
from bayplan.simulator.explain.explanation import explain
from bayplan.simulator.pod_records import Record
from bayplan.simulator.rebalance_plan import observed_of
from bayplan.simulator.report.simulation_report import STATES, state_of
from bayplan.simulator.run_history import Attempt, RunHistory
from bayplan.simulator.world import World
from bayplan.view.cluster_view import PodRow, Used, cluster_view
from bayplan.view.node_use import used_by_annotations
from bayplan.view.pod_view import pod_view
from bayplan.view.policies import policy_of


def world_view(world: World, *, name: str = "", command: str = "") -> dict[str, Any]:
    """The document; ``command`` is what to type to be told why pods wait."""
    records = list(world.cluster.records.values())
    nodes = world.scheduler.cache.nodes

    observe = cache(partial(observed_of, world))

    def explained(row: PodRow) -> dict[str, Any]:
        told = explain(world.scheduler, row.pod)
        tried, policy = attempts(world, row.pod.uid), policy_of(row.pod, observe)
        return pod_view(told, row.pod, nodes, owner=row.owner, command=command, attempts=tried, policy=policy)

    rows = [_row(world, record) for record in records]
    view = cluster_view(nodes, rows, name=name, used=_used(world), explained=explained)
    view["summary"] = {**{state.lower(): 0 for state in STATES}, **view["summary"]}
    if world.history is not None:
        view["decisions"] = _decisions(world, world.history, records)
    return view


def _row(world: World, record: Record) -> PodRow:
    state, message = state_of(world, record)
    return PodRow(
        record.pod,
        state,
        message,
        world.workloads.owner(record.pod) or "",
        record.attempts,
        record.bound_at,
        not record.is_gone,
    )


def attempts(world: World, uid: str) -> list[dict[str, Any]]:
    """When a pod was tried and what came of it, where that was noted."""
    return [] if world.history is None else [_attempt(each) for each in world.history.attempts(uid)]


def _attempt(attempt: Attempt) -> dict[str, Any]:
    result = "Scheduled" if not attempt.message and attempt.node else "FailedScheduling"
    return {"at": round(attempt.at, 3), "result": result, "node": attempt.node or None, "message": attempt.message}


def _used(world: World) -> Used | None:
    """What is simulated, else what annotations say."""
    nodes, load = world.scheduler.cache.nodes, world.load
    if load is None:
        return used_by_annotations(nodes)
    shares = dict(zip(load.nodes, load.history.samples[-1].tolist(), strict=True))
    columns: dict[str, list[float | None]] = {CPU: [], MEMORY: []}
    for name, cpu, memory in zip(
        nodes.names, nodes.alloc_cpu_milli.tolist(), nodes.alloc_mem_bytes.tolist(), strict=True
    ):
        share = shares.get(name)
        columns[CPU].append(None if share is None else round(share[0] * cpu))
        columns[MEMORY].append(None if share is None else round(share[1] * memory))
    return columns


def _decisions(world: World, history: RunHistory, records: list[Record]) -> dict[str, Any] | None:
    """A line for each choice among several nodes, of pods that are where they were put then."""
    row_of = world.scheduler.cache.nodes.row_of
    chosen = [
        (number, scored)
        for number, record in enumerate(records)
        if (scored := history.scored.get(record.pod.uid)) is not None and row_of(scored.node) is not None
    ]
    if not chosen:
        return None
    plugins = list(dict.fromkeys(plugin for _, scored in chosen for plugin in scored.scores))
    runners_up = [row_of(scored.runner_up) for _, scored in chosen]
    return {
        "plugins": plugins,
        "pod": [number for number, _ in chosen],
        "node": [row_of(scored.node) for _, scored in chosen],
        "total": [scored.total for _, scored in chosen],
        "scores": [[scored.scores.get(plugin, 0) for plugin in plugins] for _, scored in chosen],
        "runnerUp": [-1 if row is None else row for row in runners_up],
        "runnerUpTotal": [scored.runner_up_total for _, scored in chosen],
        "runnerUpScores": [[scored.runner_up_scores.get(plugin, 0) for plugin in plugins] for _, scored in chosen],
        "ties": [scored.ties for _, scored in chosen],
    }
