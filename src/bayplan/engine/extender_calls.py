"""
What extenders have to say in a cycle: they narrow the feasible nodes, add to scores, and change victims.

``engine.evaluation`` waits here at the three places where extenders speak, ``binding_cycle`` asks for a binder.  The
calls go through the port ``Extender``, so nothing here knows of HTTP.  A cycle in which no extender is asked never
waits; ``straight_through`` runs it without an event loop.
"""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, TypeVar

import numpy as np

from bayplan.engine.filtering import Rejections
from bayplan.engine.plugin_calls import CycleError, log
from bayplan.errors import ExtenderError
from bayplan.framework.decision import PluginScores
from bayplan.framework.diagnosis import Diagnosis
from bayplan.framework.events import ON_ANYTHING
from bayplan.framework.plugin import MAX_SCORE
from bayplan.framework.ports import Extender
from bayplan.framework.preemption.victims import Candidate
from bayplan.framework.snapshot import NodeTable, Rows
from bayplan.framework.status import Status, failed, unresolvable, unschedulable
from bayplan.objects.extender import VictimIds, Victims
from bayplan.objects.pod import Pod

T = TypeVar("T")

EXTENDER = "Extender"
"""Stands for all extenders among the plugins that rejected a pod."""
REQUEUE_RULES = {EXTENDER: ON_ANYTHING}
"""It is not known what an extender looks at, so anything may change its answer."""

# Extenders score from 0 to 10.
_SCALE = MAX_SCORE // 10


class Extending:
    """The extenders of a scheduler, those whose failures can be ignored last."""

    def __init__(self, extenders: Iterable[Extender]) -> None:
        self._extenders = sorted(extenders, key=lambda extender: extender.is_ignorable)
        self._in_cycles = [e for e in self._extenders if e.filters or e.prioritizes or e.preempts]

    def has_say(self, pod: Pod) -> bool:
        """Must an extender be asked while this pod is scheduled?"""
        return any(extender.is_interested(pod) for extender in self._in_cycles)

    # -- filter --

    async def filter(self, pod: Pod, diagnosis: Diagnosis, feasible: Rows) -> Rows:
        """What the extenders leave of the feasible rows; the others get their reason in the diagnosis."""
        asked = self._asked(pod, "filters")
        if not asked or not len(feasible):
            return feasible
        nodes = diagnosis.nodes
        names = [nodes.names[row] for row in feasible.tolist()]
        passed, told = await self._filtered(asked, pod, names)
        if len(passed) == len(names):
            return feasible
        diagnosis.unschedulable_plugins.add(EXTENDER)
        left = set(passed)
        # An extender may drop a node without a word, and may speak of nodes that it was not asked about.
        reasons = dict.fromkeys(names) | told
        _explain(diagnosis, {name: status for name, status in reasons.items() if name not in left})
        return np.array([row for row in feasible.tolist() if nodes.names[row] in left], np.intp)

    async def lets_in(self, pod: Pod, node_name: str) -> bool:
        """May the pod have its nominated node?  A failure is no answer: then all nodes are looked at."""
        asked = self._asked(pod, "filters")
        try:
            return bool((await self._filtered(asked, pod, [node_name]))[0])
        except CycleError as error:
            log.warning("nominated node not judged", pod=pod.key, node=node_name, error=str(error))
            return False

    async def _filtered(
        self, asked: Sequence[Extender], pod: Pod, names: list[str]
    ) -> tuple[list[str], dict[str, Status]]:
        """One extender after the other: the names that all let pass, and what was said of the others."""
        told: dict[str, Status] = {}
        for extender in asked:
            if not names:
                break
            try:
                answer = await extender.filter(pod, names)
            except Exception as error:
                if not extender.is_ignorable:
                    raise CycleError(failed(error)) from error
                _skip(extender, pod, error)
                continue
            told |= {name: unschedulable(text).by(EXTENDER) for name, text in answer.failed.items()}
            told |= {name: unresolvable(text).by(EXTENDER) for name, text in answer.unresolvable.items()}
            names = list(dict.fromkeys(answer.passed))
        return names, told

    # -- prioritize --

    async def prioritize(self, pod: Pod, nodes: NodeTable, feasible: Rows) -> list[PluginScores]:
        """Every extender's scores, asked side by side; one that fails gives none."""
        asked = self._asked(pod, "prioritizes")
        if not asked:
            return []
        names = [nodes.names[row] for row in feasible.tolist()]
        answers = await asyncio.gather(*(e.prioritize(pod, names) for e in asked), return_exceptions=True)
        results = []
        for extender, answer in zip(asked, answers, strict=True):
            if isinstance(answer, BaseException):
                _skip(extender, pod, answer)
            else:
                results.append(_scores(extender, names, answer))
        return results

    # -- preempt --

    async def preempt(
        self, pod: Pod, nodes: NodeTable, candidates: Sequence[Candidate]
    ) -> Sequence[Candidate] | Status:
        """The candidates that extenders leave, with the victims they name; or the error that ends it."""
        asked = self._asked(pod, "preempts")
        if not asked:
            return candidates
        left = tuple(candidates)
        for extender in asked:
            if not left:
                break
            asked_about = {one.node_name: Victims(one.victims, one.pdb_violations) for one in left}
            try:
                answer = await extender.preempt(pod, asked_about)
                named = tuple(_candidate(extender, nodes, name, ids) for name, ids in answer.items())
            except Exception as error:
                if not extender.is_ignorable:
                    return failed(error)
                _skip(extender, pod, error)
                continue
            empty = [one.node_name for one in named if not one.victims]
            if empty and not extender.is_ignorable:
                return failed(f'expected at least one victim pod on node "{empty[0]}"')
            left = tuple(one for one in named if one.victims)
        return left

    # -- bind --

    async def bind(self, pod: Pod, node_name: str) -> Status | None:
        """Let the extender bind whose business that is; ``None`` if there is none, and plugins must."""
        for extender in self._asked(pod, "binds"):
            try:
                await extender.bind(pod, node_name)
            except Exception as error:
                if not extender.is_ignorable:
                    return failed(error)
                _skip(extender, pod, error)
            else:
                return Status()
        return None

    def _asked(self, pod: Pod, what: str) -> list[Extender]:
        return [each for each in self._extenders if getattr(each, what) and each.is_interested(pod)]


NOBODY = Extending(())


def straight_through(work: Coroutine[Any, Any, T]) -> T:
    """The result of work that has nothing to wait for."""
    try:
        work.send(None)
    except StopIteration as end:
        result: T = end.value
        return result
    work.close()
    raise RuntimeError("a cycle in which no extender is asked must not wait")


def _explain(diagnosis: Diagnosis, told: Mapping[str, Status | None]) -> None:
    """Write the reasons of nodes; one without a reason gets that of nodes nobody looked at, which says nothing."""
    rejections = Rejections.told(diagnosis)
    for name, status in told.items():
        row = diagnosis.nodes.row_of(name)
        if row is None:
            continue
        if status is None and diagnosis.implicit:
            diagnosis.first_no[row] = min(diagnosis.implicit)
        else:
            rejections.reject(row, status or unresolvable().by(EXTENDER))


def _scores(extender: Extender, names: Sequence[str], answer: Iterable[tuple[str, int]]) -> PluginScores:
    sums = dict.fromkeys(names, 0)
    for name, score in answer:
        if name in sums:
            sums[name] += score
    scores = np.array([sums[name] for name in names], np.int64)
    return PluginScores(extender.name, extender.weight * _SCALE, scores, scores)


def _candidate(extender: Extender, nodes: NodeTable, node_name: str, ids: VictimIds) -> Candidate:
    """The pods behind the UIDs; an extender with a picture of its own may name some that are not there."""
    row = nodes.row_of(node_name)
    if row is None:
        raise ExtenderError(f'nodeinfo not found for node name "{node_name}"')
    there = {pod.uid: pod for pod in nodes.pods_at(row)}
    return Candidate(node_name, tuple(_victims(extender, node_name, there, ids)), ids.pdb_violations)


def _victims(extender: Extender, node_name: str, there: Mapping[str, Pod], ids: VictimIds) -> Iterator[Pod]:
    for uid in ids.uids:
        if uid not in there:
            raise ExtenderError(
                f"extender: {extender.name} claims to preempt pod (UID: &{{{uid}}}) on node: {node_name}, "
                "but the pod is not found on that node"
            )
        yield there[uid]


def _skip(extender: Extender, pod: Pod, error: BaseException) -> None:
    log.warning("extender skipped", extender=extender.name, pod=pod.key, error=str(error))
