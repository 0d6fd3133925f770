"""
Two or more schedulers on the same cluster and workload: each in a world of its own, and what differs in the end.

``bayplan compare`` calls ``compare``, which gives the document ``kind: Comparison``.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace

from bayplan.controllers.rebalancer.protection import belongs_to_its_node
from bayplan.engine.intents import Outcome
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodStatus
from bayplan.simulator import simulation
from bayplan.simulator.comparison import measures
from bayplan.simulator.comparison.tipping import Tipping
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.loading import Given
from bayplan.simulator.report.simulation_report import BOUND, PENDING, PREEMPTED, state_of
from bayplan.simulator.simulation import Progress
from bayplan.simulator.world import Look, World, assemble


@dataclass(slots=True)
class Run:
    """One configuration, and what came of it."""

    name: str
    given: Given
    before: dict[str, str] = field(default_factory=dict)
    """Where pods (keys) were, as the files say."""
    world: World | None = None
    order: list[tuple[Pod, str]] = field(default_factory=list)
    """Pods and their nodes, as they were decided."""
    stopped: str = ""

    def note(self, outcome: Outcome) -> bool:
        """Never enough."""
        if outcome.is_committed and outcome.decision is not None and outcome.decision.node is not None:
            self.order.append((outcome.decision.pod, outcome.decision.node))
        return False

    @property
    def ended(self) -> World:
        assert self.world is not None, "it has been run"
        return self.world


def compare(
    runs: Sequence[Run],
    *,
    prices: Mapping[str, float],
    seed: int = 0,
    now: float | None = None,
    warn: Callable[[str], None] = lambda warning: None,
    progress: Progress = lambda tried, total: None,
    look: Look | None = None,
) -> dict[str, Any]:
    """The document."""
    for run in runs:
        keeps_history = look is not None
        run.world = assemble(run.given, seed=seed, now=now, prospects=(), keeps_history=keeps_history, warn=warn)
        run.stopped = simulation.run(run.world, progress=progress, is_enough=run.note)
        if look is not None:
            look(run.name, run.world)
    told = [_measured(run, prices) for run in runs]
    known = measures.kinds_of_nodes(runs[0].ended)
    for kind in (each for each in prices if each not in known):
        there = f"; there are {', '.join(sorted(known))}" if known else ", nor of any other"
        warn(f'--price {kind}: no node is of the instance type "{kind}"{there}')
    document = {
        "apiVersion": API_VERSION,
        "kind": "Comparison",
        "runs": told,
        "better": measures.better(told),
        "differ": _differences(runs),
    }
    stopped = "; ".join(f"{run.name}: {run.stopped}" for run in runs if run.stopped)
    return {**document, "stopped": stopped} if stopped else document


def nodes_of(given: Given) -> dict[str, str]:
    """Where pods (keys) are, as the files say."""
    return {each.key: each.node_name for each in given.objects if isinstance(each, Pod) and each.node_name}


def afresh(given: Given) -> Given:
    """The same cluster with no pod on a node but those that belong to theirs and those that nobody would make again."""
    return dataclasses.replace(given, objects=[_off(each) for each in given.objects])


def _off(thing: ApiObject) -> ApiObject:
    if not isinstance(thing, Pod) or not thing.node_name or thing.is_terminal:
        return thing
    if thing.controller is None or belongs_to_its_node(thing):
        return thing
    return thing.evolve(spec=replace(thing.spec, node_name=""), status=PodStatus())


def _measured(run: Run, prices: Mapping[str, float]) -> dict[str, Any]:
    world = run.ended
    states = [state_of(world, record)[0] for record in world.cluster.records.values()]
    return {
        "name": run.name,
        "bound": states.count(BOUND),
        "pending": states.count(PENDING),
        "preempted": states.count(PREEMPTED),
        "moved": _moved(run),
        **measures.of_nodes(world, prices),
    }


def _moved(run: Run) -> int:
    """Pods that are on another node than the files say, or on none."""
    living = {pod.key: pod.node_name for pod in run.ended.cluster.living()}
    return sum(key in living and living[key] != node for key, node in run.before.items())


def _differences(runs: Sequence[Run]) -> list[dict[str, Any]]:
    """Pods that are not on the same node in all runs, and the plugin that tipped it against the first run."""
    nodes = [{pod.key: pod.node_name or None for pod in run.ended.cluster.living()} for run in runs]
    keys = dict.fromkeys(key for each in nodes for key in each)
    differing = [key for key in keys if len({each.get(key) for each in nodes}) > 1]
    reasons: dict[str, str | None] = {}
    for position in range(1, len(runs)):
        here = [key for key in differing if key not in reasons and nodes[position].get(key) != nodes[0].get(key)]
        if here:
            reasons |= Tipping(runs[0].ended, runs[position].ended, runs[0].order).reasons(here)
    found = []
    for key in differing:
        namespace, _, name = key.partition("/")
        where = {run.name: each.get(key) for run, each in zip(runs, nodes, strict=True)}
        found.append({"namespace": namespace, "name": name, **where, "because": reasons.get(key)})
    return found
