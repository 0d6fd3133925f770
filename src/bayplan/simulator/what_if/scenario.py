"""
One what-if from beginning to end: a cluster and some changes go in, the document ``kind: WhatIf`` comes out.

The cluster is first let come to rest: pods that wait and have room get it.  Then the changes are played on the very
same world, with the controllers and the engine of ``bayplan simulate``; what is bound stays bound unless it must go.
``bayplan what-if`` calls ``what_if``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.simulator import simulation
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.loading import Given
from bayplan.simulator.report.rollout_report import rollouts
from bayplan.simulator.simulation import Progress
from bayplan.simulator.what_if import checking, difference, new_nodes
from bayplan.simulator.what_if.changes import Change, Reconfigure, in_order
from bayplan.simulator.what_if.checking import Meant
from bayplan.simulator.what_if.condition import condition
from bayplan.simulator.what_if.difference import Difference, Roll
from bayplan.simulator.what_if.drain import Drain
from bayplan.simulator.what_if.reconfiguring import taken_over
from bayplan.simulator.world import Look, World, assemble

BEFORE, AFTER = "before", "after"


@dataclass(frozen=True, slots=True)
class Question:
    """What is asked of a cluster."""

    changes: Sequence[Change]
    coming: Sequence[ApiObject] = ()
    """What is applied."""
    templates: dict[str, Node] | None = None
    """Nodes to add, by the file that describes them."""
    successor: Given | None = None
    """The configuration and the plugins of the scheduler that takes over, where one does."""
    namespace: str = "default"


def what_if(
    given: Given,
    question: Question,
    *,
    seed: int = 0,
    now: float | None = None,
    warn: Callable[[str], None] = lambda warning: None,
    progress: Progress = lambda tried, total: None,
    look: Look | None = None,
) -> dict[str, Any]:
    """The document; ``InputError`` where a change makes no sense in this cluster."""
    keeps_history = look is not None
    world = assemble(given, seed=seed, now=now, prospects=question.coming, keeps_history=keeps_history, warn=warn)
    meant = checking.resolve(world, question.changes, question.templates or {}, question.coming, question.namespace)
    scenario = _Scenario(world, question, meant, look or _nobody_looks)
    if question.successor is not None:
        stopped = simulation.run(world, progress=progress)
        scenario.begin()
        scenario.world = taken_over(world, question.successor, seed, warn)
        stopped = stopped or simulation.run(scenario.world, progress=progress, then=scenario.go_on)
    else:
        stopped = simulation.run(world, progress=progress, then=scenario.go_on)
    scenario.look(AFTER, scenario.world)
    document = scenario.document()
    return {**document, "stopped": stopped} if stopped else document


def _nobody_looks(name: str, world: World) -> None:
    pass


class _Scenario:
    """Plays the changes, a step each time that the world has come to rest."""

    def __init__(self, world: World, question: Question, meant: Meant, look: Look) -> None:
        self.world = world
        self.look = look
        self._question = question
        self._meant = meant
        self._roll: Roll | None = None
        self._before: dict[str, Any] = {}
        self._drain = Drain(world, list(meant.drained))
        self._steps = self._played()

    def begin(self) -> None:
        """As things are before anything changes."""
        self._before = condition(self.world)
        self.look(BEFORE, self.world)
        self._roll = Roll.of(self.world)

    async def go_on(self) -> bool:
        """The next step; False when all have been played."""
        return await anext(self._steps, None) is not None

    async def _played(self) -> AsyncIterator[bool]:
        if self._roll is None:
            self.begin()
        self._drain = Drain(self.world, list(self._meant.drained))
        if self._change():
            yield True
        async for _ in self._drain.rounds():
            yield True

    def _change(self) -> bool:
        """Everything but draining happens in one moment; whether anything did."""
        meant, changes = self._meant, self.world.changes
        coming = [*self._new_nodes(), *self._question.coming]
        changes.play([(False, each) for each in meant.deleted])
        changes.play([(True, each) for each in coming])
        changes.play([(True, each) for each in meant.scaled])
        if meant.removed:
            changes.lose(meant.removed.values())
        return bool(meant.deleted or coming or meant.scaled or meant.removed)

    def _new_nodes(self) -> list[ApiObject]:
        made: list[ApiObject] = []
        taken = set(self.world.workloads.nodes)
        there = self.world.cluster.others() if any(add.like for add, _ in self._meant.added) else []
        for add, like in self._meant.added:
            for name in new_nodes.names(like.name, add.count, taken):
                taken.add(name)
                made.append(new_nodes.fresh(like, name))
                made += new_nodes.belongings(like.name, name, there) if add.like else ()
        return made

    # -- what came of it --

    def document(self) -> dict[str, Any]:
        assert self._roll is not None, "the changes have been played"
        found = difference.compare(self.world, self._roll, self._meant.removed)
        return {
            "apiVersion": API_VERSION,
            "kind": "WhatIf",
            "changes": [each.document() for each in in_order(self._question.changes)],
            "moved": found.moved,
            "pending": found.pending,
            "placed": found.placed,
            "blocked": self._blocked(),
            "lost": found.lost,
            "gone": found.gone,
            "rollouts": rollouts(self.world),
            "drains": [each.document() for each in self._drain.drained],
            "worseOff": _worse_off(found, self._drain),
            "before": self._before,
            "after": condition(self.world),
        }

    def _blocked(self) -> list[dict[str, Any]]:
        blocked = []
        for drained in self._drain.drained:
            for key, message in drained.refused.items():
                pod = self.world.cluster.pod(key)
                if pod is not None:
                    budgets = [each.key for each in self.world.cluster.budgets_of(pod)]
                    blocked.append(
                        {
                            "namespace": pod.namespace,
                            "name": pod.name,
                            "owner": self.world.workloads.owner(pod),
                            "node": drained.node,
                            "budget": ", ".join(budgets),
                            "message": message,
                        }
                    )
        return blocked


def _worse_off(found: Difference, drain: Drain) -> int:
    """How many pods fare worse than before."""
    return len(found.pending) + len(found.lost) + sum(len(each.refused) for each in drain.drained)


def successor_changes(changes: Sequence[Change]) -> Reconfigure | None:
    """All that is said of another scheduler, as one change."""
    said = [each for each in changes if isinstance(each, Reconfigure)]
    if not said:
        return None
    config = next((each.config for each in said if each.config), "")
    return Reconfigure(config, tuple(plugin for each in said for plugin in each.plugins))
