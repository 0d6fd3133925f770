"""
The evaluation of one pod by one profile: which nodes fit, which is best, and what would help if none does.

This is the one place that chooses a node.  ``Evaluator.place`` begins with what is kept for pods like this one and asks
only the plugins that are left; ``Evaluator.decide`` is the same evaluation with nothing kept, and tells every reason
and every score.  It changes nothing outside the cycle, so ``explain``, a what-if, the rebalancer's planner and a dry
run are this call with no commit after it.  With extenders the evaluation has to wait for their answers: ``deciding`` is
the same as a coroutine.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from bayplan.engine import filtering, partial_search, post_filtering, scoring
from bayplan.engine.batch import Batch
from bayplan.engine.cache import ClusterCache
from bayplan.engine.extender_calls import NOBODY, Extending, straight_through
from bayplan.engine.filtering import Narrowed, Rejections
from bayplan.engine.kept.layer import Layer, NotKeptError
from bayplan.engine.kept.memory import Known, Memory
from bayplan.engine.node_filters import NodeFilters
from bayplan.engine.plugin_calls import Calls, CycleError, error_status, log
from bayplan.engine.plugin_group import PluginGroup
from bayplan.errors import PluginError
from bayplan.framework.decision import NO_ROWS, Decision, PluginScores
from bayplan.framework.ports import MetricSink, NoMetrics
from bayplan.framework.snapshot import NodeTable, Rows, Scores
from bayplan.framework.status import Code, Status, unresolvable
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate

NO_NODES = "no nodes available to schedule pods"


@dataclass(slots=True)
class Settings:
    """What an evaluation needs beside pod, cluster and profile."""

    seed: int = 0
    cycle: int = 0
    percentage: int = 100
    """percentageOfNodesToScore; 100 looks at every node."""
    order: Callable[[], Rows] | None = None
    """Rows in search order, when fewer than all nodes are looked at."""
    start: int = 0
    is_dry_run: bool = False
    """Will nothing be done about the decision?  See ``CycleState.is_dry_run``."""

    @property
    def number(self) -> int:
        """What chooses among equals."""
        return scoring.scramble(self.seed, self.cycle)


class _Timing:
    """Seconds per extension point."""

    __slots__ = ("_last", "_timings")

    def __init__(self, timings: dict[str, float]) -> None:
        self._timings = timings
        self._last = time.perf_counter()

    def lap(self, point: str) -> None:
        now = time.perf_counter()
        self._timings[point] = now - self._last
        self._last = now


class _Untimed:
    """Stands in where nobody looks at the times."""

    __slots__ = ()

    def lap(self, point: str) -> None:
        pass


_UNTIMED = _Untimed()


class Evaluator:
    """Decides for the pods of one profile."""

    def __init__(
        self, filters: NodeFilters, cache: ClusterCache, *, remembers: bool = True, metrics: MetricSink | None = None
    ) -> None:
        profile = filters.profile
        self._filters = filters
        self._profile = profile
        self._cache = cache
        self._nodes = cache.nodes
        looks_at_all = profile.percentage_of_nodes_to_score in (None, 100)
        self._memory = Memory(profile, cache, filters.promises) if remembers and looks_at_all else None
        self._sampled = metrics
        self._metrics = metrics or NoMetrics()
        self._everybody = PluginGroup.of_all(filters.profile)
        self._last: tuple[Pod, Known] | None = None
        """What the pod before was placed by."""
        self._in_vain: PodTemplate | None = None
        """Pods of this template fit nowhere, as far as is known: why that is takes the whole evaluation anyway."""

    def place(self, pod: Pod, settings: Settings) -> Decision:
        """As ``decide``, from what is kept where a node fits by it: then no reason and no score is told."""
        decision = self._from_memory(pod, settings) if self._memory is not None and len(self._nodes) else None
        if decision is None:
            decision = self.decide(pod, settings)
            self._in_vain = pod.template if decision.node is None else None
        return decision

    def decide(self, pod: Pod, settings: Settings) -> Decision:
        """Find the best node for a pod, or say why there is none and what preemption would do.  Asks no extender."""
        return straight_through(self.deciding(pod, settings, NOBODY))

    async def deciding(self, pod: Pod, settings: Settings, extending: Extending) -> Decision:
        """As ``decide``, with extenders asked where they have a say; waits for them and for nothing else."""
        decision = Decision(pod, self._profile.scheduler_name)
        decision.state.is_dry_run = settings.is_dry_run
        calls = Calls(pod, self._sampled)
        evaluation = _Evaluation(decision, calls, self._filters, self._everybody, None, settings, extending)
        try:
            await evaluation.run(self._nodes, is_told=True)
        except PluginError as error:
            decision.status = error_status(error)
        except CycleError as error:
            decision.status = error.status
        decision.slow_plugins = calls.slow
        return decision

    def batch_after(self, pod: Pod) -> Batch | None:
        """For the pods behind this one, which was placed just now, if pods like it can be committed together."""
        if self._memory is None or self._last is None or self._last[0] is not pod:
            return None
        known = self._last[1]
        if not (known.pod_class.is_plain and known.is_settled) or self._is_room_kept(pod):
            return None
        try:
            known = self._memory.of(Calls(pod, self._sampled))
        except (NotKeptError, PluginError, CycleError):
            return None  # met again, and counted, by whoever evaluates the next pod
        if known.answers is None or not (known.pod_class.is_plain and known.is_settled and known.answers.goes_by_sums):
            return None
        return Batch(known.answers, pod, self._cache, partial(self._begun, known))

    def goes_on(self, pod: Pod) -> bool:
        """May the pod behind this one, of its template, be placed before anything is done about this one?"""
        return self._last is not None and self._last[0] is pod and self._last[1].pod_class.goes_on

    def _from_memory(self, pod: Pod, settings: Settings) -> Decision | None:
        """The decision from what is kept; ``None``, counted by cause, if all plugins must be asked."""
        assert self._memory is not None
        calls = Calls(pod, self._sampled)
        error: Exception | None = None
        try:
            if pod.reports_amounts:
                raise NotKeptError("the pod's status says what it takes")
            if pod.template is self._in_vain and not pod.nominated_node_name:
                raise NotKeptError("no node fitted the pod before, of its template")
            known = self._memory.of(calls)
            self._last = pod, known
            decision = self._with(known, calls, settings)
            cause = "no node fits"
        except NotKeptError as refused:
            cause = str(refused)
        except (PluginError, CycleError) as failed:
            # Asked on its own it meets nodes that other plugins would have rejected before: what counts is what it
            # says in its turn.
            cause, error = "a plugin failed", failed
        else:
            if decision.node is not None:
                decision.slow_plugins = calls.slow
                return decision
        self._metrics.counter("bayplan_full_evaluations_total", cause=cause)
        log.debug("evaluated in full", pod=pod.key, cause=cause, error=error and repr(error))
        return None

    def _with(self, known: Known, calls: Calls, settings: Settings) -> Decision:
        decision = self._begun(known, calls.pod)
        if known.answers is not None and known.is_settled and not self._is_room_kept(calls.pod):
            known.answers.choose(decision, self._nodes, settings.number)
            return decision
        evaluation = _Evaluation(decision, calls, self._filters, known.asked, known.below, settings, NOBODY)
        straight_through(evaluation.run(self._nodes, is_told=False))
        return decision

    def _begun(self, known: Known, pod: Pod) -> Decision:
        """A decision that begins with what is known."""
        decision = Decision(pod, self._profile.scheduler_name, state=known.below.state.copy())
        decision.kept_plugins = known.plugins
        decision.reserves = known.pod_class.reserves
        decision.state.skip_filter |= known.left.skipped
        decision.state.skip_score |= known.left.skipped
        return decision

    def _is_room_kept(self, pod: Pod) -> bool:
        """Is there a node that this pod, or another that it must leave room for, is nominated to?"""
        return bool(pod.nominated_node_name) or any(True for _ in self._filters.nominated.nominated_nodes())


class _Evaluation:
    """One pod, the plugins that are asked about it, and the layer of kept answers below theirs."""

    __slots__ = ("_below", "_calls", "_decision", "_extending", "_filters", "_group", "_settings", "_state")

    def __init__(
        self,
        decision: Decision,
        calls: Calls,
        filters: NodeFilters,
        group: PluginGroup,
        below: Layer | None,
        settings: Settings,
        extending: Extending,
    ) -> None:
        self._decision = decision
        self._state = decision.state
        self._calls = calls
        self._filters = filters
        self._group = group
        self._below = below
        self._settings = settings
        self._extending = extending

    async def run(self, nodes: NodeTable, *, is_told: bool) -> None:
        """Fill in the decision; with the reasons and scores, and what would help, if they are to be told."""
        decision, calls, extending = self._decision, self._calls, self._extending
        if not len(nodes):
            decision.status = unresolvable(NO_NODES)
            return
        timing = _Timing(decision.timings) if is_told or calls.is_sampled else _UNTIMED
        narrowed = filtering.pre_filter(calls, self._group.pre_filters, self._state, nodes)
        timing.lap("PreFilter")
        rejections = self._rejections(nodes, narrowed, is_told)
        feasible: Rows = NO_ROWS
        if narrowed.status.is_success:
            nominated = self._nominated_row(rejections)
            if nominated is None or not await extending.lets_in(calls.pod, nodes.names[nominated]):
                feasible = self._search(rejections, narrowed.rows)
                if extending is not NOBODY and rejections.diagnosis is not None:
                    feasible = await extending.filter(calls.pod, rejections.diagnosis, feasible)
            else:
                feasible = np.array([nominated], np.intp)
            timing.lap("Filter")
        if is_told:
            decision.feasible = feasible
        if len(feasible):
            totals = self._scored(nodes, feasible, is_told) if len(feasible) > 1 else None
            if extending is not NOBODY and totals is not None:
                for scores in await extending.prioritize(calls.pod, nodes, feasible):
                    totals += scores.weighted
                    decision.scores.append(scores)
            self._choose(nodes, feasible, totals, is_told)
            timing.lap("Score")
        elif is_told:
            decision.status = Status(Code.UNSCHEDULABLE, narrowed.status.reasons)
            await post_filtering.post_filter(decision, calls, self._filters.profile, extending)
            timing.lap("PostFilter")

    def _rejections(self, nodes: NodeTable, narrowed: Narrowed, is_told: bool) -> Rejections:
        if is_told:
            self._decision.diagnosis = filtering.new_diagnosis(nodes, narrowed)
            return Rejections.told(self._decision.diagnosis)
        assert self._below is not None, "with nothing kept, everything is told"
        open_rows = self._below.values >= 0
        if narrowed.rows is not None:
            left = np.zeros(len(nodes), np.bool_)
            left[narrowed.rows] = True
            open_rows &= left
        return Rejections(nodes, open_rows)

    def _nominated_row(self, rejections: Rejections) -> int | None:
        """The row of the pod's nominated node if it still fits: then no other is looked at."""
        name = self._calls.pod.nominated_node_name
        return filtering.nominated_row(name, self._calls, self._filters, self._state, rejections) if name else None

    def _search(self, rejections: Rejections, few: list[int] | None) -> Rows:
        """The feasible rows, or as many of them as are looked for."""
        feasible = filtering.search(self._calls, self._filters, self._group.filters, self._state, rejections, few)
        settings, diagnosis = self._settings, rejections.diagnosis
        if diagnosis is not None and settings.percentage < 100 and settings.order is not None:
            total = len(few) if few is not None else len(diagnosis.nodes)
            enough = partial_search.how_many(total, settings.percentage) if self._group.scores else 1
            feasible, settings.start = partial_search.stop_early(diagnosis, settings.order(), settings.start, enough)
        return feasible

    def _scored(self, nodes: NodeTable, feasible: Rows, is_told: bool) -> Scores:
        """The totals of the feasible rows; every plugin's scores go into the decision if they are to be told."""
        calls, state, weights = self._calls, self._state, self._filters.profile.weights
        scoring.pre_score(calls, self._group.pre_scores, state, nodes, feasible)
        totals = self._totals_below(nodes, feasible)
        for plugin in self._group.scores:
            if plugin.name in state.skip_score:
                continue
            raw = scoring.raw_scores(calls, plugin, state, nodes, feasible)
            normal = scoring.normalized(calls, plugin, state, nodes, raw, feasible)
            scores = PluginScores(plugin.name, weights.get(plugin.name, 1), raw, normal)
            totals += scores.weighted
            if is_told:
                self._decision.scores.append(scores)
        return totals

    def _choose(self, nodes: NodeTable, feasible: Rows, totals: Scores | None, is_told: bool) -> None:
        """Pick one of the best; a single feasible node is taken unscored."""
        decision = self._decision
        if totals is not None and is_told:
            # As in kube-scheduler, with no score plugin at all every node is worth 1.
            decision.totals = totals if decision.scores else totals + 1
        position, decision.ties = (0, 1) if totals is None else scoring.pick(totals, self._settings.number)
        decision.node = nodes.names[feasible.item(position)]

    def _totals_below(self, nodes: NodeTable, feasible: Rows) -> Scores:
        """What the feasible rows have from the layer below."""
        if self._below is None:
            return np.zeros(len(feasible), np.int64)
        totals: Scores = self._below.values[feasible]
        for kept in self._below.all_raw:
            if kept.differ:
                raw = kept.values[feasible]
                normal = scoring.normalized(self._calls, kept.plugin, self._state, nodes, raw, feasible)
                totals += normal * kept.weight
        return totals
