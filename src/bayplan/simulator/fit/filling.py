"""
How many more pods of a kind fit: they are made and scheduled until one has no room, in virtual time.

Thousands of like pods go through the engine's batches, as they would live.  ``bayplan fit`` calls ``fill``.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from bayplan.engine.intents import Outcome
from bayplan.objects.pod import Pod
from bayplan.objects.quantity import format_resource
from bayplan.simulator import simulation
from bayplan.simulator.explain.explanation import API_VERSION, explain
from bayplan.simulator.fit.more_pods import Kind, MorePods
from bayplan.simulator.loading import Given
from bayplan.simulator.pod_records import Record
from bayplan.simulator.report.simulation_report import state_of
from bayplan.simulator.simulation import Progress
from bayplan.simulator.world import Look, World, assemble

MOST = 100_000
"""Pods that are asked for at most."""
FIRST, LARGEST = 64, 4096
"""Pods that are made at a time: few at first, since few may fit."""


@dataclass(frozen=True, slots=True)
class Wish:
    """How many pods, and whether others may go for them."""

    kind: Kind
    may_preempt: bool = False
    most: int = MOST


def fill(
    given: Given,
    wish: Wish,
    *,
    seed: int = 0,
    now: float | None = None,
    warn: Callable[[str], None] = lambda warning: None,
    progress: Progress = lambda tried, total: None,
    look: Look | None = None,
) -> dict[str, Any]:
    """The document ``kind: Fit``."""
    prospects = wish.kind.thing, *wish.kind.beside
    world = assemble(given, seed=seed, now=now, prospects=prospects, keeps_history=look is not None, warn=warn)
    filling = _Filling(world, wish)
    stopped = simulation.run(world, progress=progress, then=filling.go_on, is_enough=filling.is_full)
    document = filling.document()
    if look is not None:
        look("", world)
    return {**document, "stopped": stopped} if stopped else document


class _Filling:
    def __init__(self, world: World, wish: Wish) -> None:
        self._world = world
        self._wish = wish
        self._pods = MorePods(world, wish.kind, may_preempt=wish.may_preempt)
        self._ours: set[str] = set()
        self._before: set[str] = set()
        self._chunk = FIRST

    async def go_on(self) -> bool:
        """More pods, if all so far have their place."""
        if not self._before:
            self._before = {pod.uid for pod in self._world.cluster.living() if pod.node_name} or {""}
            self._pods.begin()
        elif any(not record.pod.node_name for record in self._records()):
            return False
        room = self._wish.most - len(self._pods.made)
        if room <= 0:
            return False
        known = len(self._pods.made)
        self._pods.make(min(room, self._next_chunk()))
        self._ours.update(self._pods.made[known:])
        return True

    def is_full(self, outcome: Outcome) -> bool:
        """The first that has no place ends it: the others are like it.  Where others may go, room may come yet."""
        decision = outcome.decision
        if self._wish.may_preempt or decision is None or decision.node is not None:
            return False
        return decision.pod.uid in self._ours

    def _next_chunk(self) -> int:
        """No more than could fit by amounts, but for one that shows why not."""
        example = self._pods.example
        if self._wish.may_preempt:
            return FIRST
        chunk, self._chunk = self._chunk, min(LARGEST, self._chunk * 4)
        if example is None:
            return chunk
        return min(chunk, 1 + _by_amounts(self._world, example))

    def _records(self) -> list[Record]:
        return [self._world.cluster.records[uid] for uid in self._pods.made]

    # -- what came of it --

    def document(self) -> dict[str, Any]:
        records = self._records()
        placed = [record.pod.node_name for record in records if record.pod.node_name and not record.is_gone]
        example = self._pods.example
        asked = {} if example is None else example.requests.as_map()
        return {
            "apiVersion": API_VERSION,
            "kind": "Fit",
            "pod": None if example is None else {"namespace": example.namespace, "name": self._wish.kind.thing.name},
            "requests": {name: format_resource(name, amount) for name, amount in asked.items()},
            "preempt": self._wish.may_preempt,
            "fits": len(placed),
            "perNode": dict(sorted(Counter(placed).items(), key=lambda pair: (-pair[1], pair[0]))),
            "limit": self._limit(records),
            "preempted": self._preempted(),
        }

    def _limit(self, records: list[Record]) -> str:
        """What the next one would be told."""
        waiting = next((record for record in records if not record.pod.node_name), None)
        if waiting is None:
            return f"not asked: no more than {self._wish.most} are tried"
        if self._wish.may_preempt:
            return state_of(self._world, waiting)[1]
        told = explain(self._world.scheduler, self._as_written(waiting.pod))
        return str(told["message"]) or state_of(self._world, waiting)[1]

    def _as_written(self, pod: Pod) -> Pod:
        """With the preemption policy that it would really have."""
        example = self._pods.example
        return pod if example is None else pod.evolve(spec=example.spec)

    def _preempted(self) -> list[dict[str, Any]]:
        """Who was there before, and is not any more."""
        gone = (self._world.cluster.records[uid] for uid in self._before if uid)
        return sorted(
            (
                {"namespace": each.pod.namespace, "name": each.pod.name, "from": each.pod.node_name}
                for each in gone
                if each.is_gone
            ),
            key=lambda told: (told["namespace"], told["name"]),
        )


def _by_amounts(world: World, pod: Pod) -> int:
    """How many would fit if only amounts counted: an upper limit, and no decision."""
    nodes, asked = world.scheduler.cache.nodes, pod.requests
    room = nodes.alloc_pods_count - nodes.pods_count
    for need, had, used in (
        (asked.cpu_milli, nodes.alloc_cpu_milli, nodes.req_cpu_milli),
        (asked.memory_bytes, nodes.alloc_mem_bytes, nodes.req_mem_bytes),
    ):
        if need:
            room = np.minimum(room, (had - used) // need)
    return int(np.maximum(room, 0).sum())
