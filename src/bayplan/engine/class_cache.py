"""
Pods come in classes: what was found for one pod of a template is carried to the next.

Two pods are of one class if every plugin whose answers are kept reads the same of both (``Plugin.signature``).  For
a class the cache keeps, per node, whether it fits and its score so far, as seen by the plugins that promise to
look at that node alone (``Depends.ROW``) or at node objects (``Depends.NODES``).  For the next pod of the class
only the rows that changed since are asked for again.  Plugins that look at domains, or promise nothing, are
run for every pod.  The answer is the one the full pass would give: same seed, same decisions, pod by pod.

``Scheduler.decide`` asks here first; ``None`` means the full pass must say.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

import numpy as np

from bayplan.engine import scoring
from bayplan.engine.blocks import Blocks
from bayplan.engine.cache import ClusterCache
from bayplan.engine.filtering import Filters
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import (
    MAX_SCORE,
    MIN_SCORE,
    UNSIGNED,
    Depends,
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
    Verdicts,
)
from bayplan.framework.snapshot import Mask, Rows, Scores
from bayplan.framework.status import REJECTED, as_status
from bayplan.objects.pod import Pod, PodSpec

MAX_BYTES = 512 * 1024 * 1024
MAX_SEEN = 8192
# With more rows changed than this share of the table, a fresh pass is cheaper than asking row by row.
STALE_SHARE = 64

_KEPT = (Depends.ROW, Depends.NODES)


class NotRememberedError(Exception):
    """This pod's class cannot be carried over now; the full pass decides."""


class NormalizedScores:
    """Raw scores of a plugin whose normalisation looks at all feasible nodes."""

    __slots__ = ("plugin", "weight", "raw", "differ")

    def __init__(self, plugin: ScorePlugin, weight: int, raw: Scores) -> None:
        self.plugin = plugin
        self.weight = weight
        self.raw = raw
        self.differ = bool(raw.min() != raw.max())
        """Equal raw scores stay equal after any normalisation, so they cannot change which node is best."""

    def write(self, row: int, score: int) -> None:
        if self.raw[row] != score:
            self.raw[row] = score
            self.differ = bool(self.raw.min() != self.raw.max())


class ClassEntry:
    """What is known of one class."""

    __slots__ = (
        "blocks", "filters", "layout", "nodes_scores", "normalized", "objects_generation", "position", "scores",
        "state",
    )  # fmt: skip

    def __init__(self) -> None:
        self.state = CycleState()
        self.filters: list[FilterPlugin] = []
        self.scores: list[tuple[ScorePlugin, int]] = []
        self.nodes_scores: list[tuple[ScorePlugin, int, Scores]] = []
        self.normalized: list[NormalizedScores] = []
        self.blocks = Blocks(np.empty(0, np.int64))
        """Per row: -1 where it does not fit, else the sum of the kept scores."""
        self.layout = -1
        self.objects_generation = -1
        self.position = 0


class ClassCache:
    """The classes of one profile."""

    def __init__(self, filters: Filters, cache: ClusterCache) -> None:
        self._filters = filters
        self._cache = cache
        self._nodes = cache.nodes
        profile = filters.profile
        self._weights = profile.weights
        self._pre_filters: tuple[PreFilterPlugin, ...] = profile.extension("pre_filter")
        self._pre_scores: tuple[PreScorePlugin, ...] = profile.extension("pre_score")
        self._all_filters: tuple[FilterPlugin, ...] = profile.extension("filter")
        self._all_scores: tuple[ScorePlugin, ...] = profile.extension("score")
        self._signing = _distinct(self._pre_filters, self._all_filters, self._pre_scores, self._all_scores)
        self._asked_anew = [plugin for plugin in self._signing if not _is_kept(plugin)]
        self._every_time = {plugin.name for plugin in self._asked_anew}
        self._kept = [plugin for plugin in self._signing if plugin.name not in self._every_time]
        self._keys: OrderedDict[Hashable, tuple[PodSpec, int, int]] = OrderedDict()
        self._numbers: dict[Hashable, int] = {}
        self._entries: OrderedDict[int, ClassEntry] = OrderedDict()
        self._seen: OrderedDict[int, None] = OrderedDict()

    def decide(self, pod: Pod, seed: int, cycle: int) -> Decision | None:
        """The decision for a pod whose class is known, or ``None``."""
        if pod.nominated_node_name or not len(self._nodes) or self._is_room_kept(pod):
            # Only the full pass judges a node together with the pods that are expected there.
            return None
        try:
            entry = self._entry(pod)
            if entry is None:
                return None
            return self._decide(entry, pod, scoring.scramble(seed, cycle))
        except Exception:
            # Whatever a plugin does wrong, the full pass finds it again and says which plugin it was.
            return None

    # -- classes --

    def _entry(self, pod: Pod) -> ClassEntry | None:
        """The up-to-date entry of the pod's class; none for the first pod of a class, which may stay the only one."""
        key = self._key(pod)
        entry = self._entries.get(key)
        if entry is None:
            if key not in self._seen:
                self._seen[key] = None
                if len(self._seen) > MAX_SEEN:
                    self._seen.popitem(last=False)
                return None
            entry = self._entries[key] = ClassEntry()
            most = max(2, MAX_BYTES // (32 * len(self._nodes) + 1))
            while len(self._entries) > most:
                self._entries.popitem(last=False)
        else:
            self._entries.move_to_end(key)
        if not self._refreshed(entry, pod):
            self._fill(entry, pod)
        return entry

    def _key(self, pod: Pod) -> int:
        """The number of the pod's class.  Pods that share a spec, labels and owner share it while no object changes."""
        owner = pod.controller
        shape = (id(pod.spec), pod.label_set, owner and (owner.kind, owner.name))
        version = self._cache.objects.version
        known = self._keys.get(shape)
        if known is not None and known[1] == version and known[0] is pod.spec:
            return known[2]
        read = tuple(plugin.signature(pod) for plugin in self._kept)
        if UNSIGNED in read:
            # What a kept plugin reads of this pod is not known, so nobody can tell which pods it treats alike.
            raise NotRememberedError
        if len(self._numbers) > MAX_SEEN:
            self._forget_all()
        number = self._numbers.setdefault(read, len(self._numbers))
        self._keys[shape] = (pod.spec, version, number)
        if len(self._keys) > MAX_SEEN:
            self._keys.popitem(last=False)
        return number

    def _forget_all(self) -> None:
        """So many classes that numbering them would fill memory: start again."""
        for known in (self._numbers, self._keys, self._entries, self._seen):
            known.clear()

    def _fill(self, entry: ClassEntry, pod: Pod) -> None:
        """Ask every kept plugin about every node."""
        nodes, state = self._nodes, CycleState()
        entry.layout = -1
        self._pre_filter(state, pod, self._pre_filters, kept=True)
        entry.state = state
        entry.filters = [p for p in self._all_filters if self._keeps(p) and p.name not in state.skip_filter]
        fits = np.ones(len(nodes), np.bool_)
        for plugin in entry.filters:
            fits &= _passes(plugin, plugin.filter(state, pod, nodes), len(nodes))
        everything = np.arange(len(nodes), dtype=np.intp)
        for pre in self._pre_scores:
            if self._keeps(pre) and _skips(pre.pre_score(state, pod, nodes, everything)):
                state.skip_score.add(pre.name)
        totals = np.zeros(len(nodes), np.int64)
        entry.scores, entry.nodes_scores, entry.normalized = [], [], []
        for scorer in self._all_scores:
            if not self._keeps(scorer) or scorer.name in state.skip_score:
                continue
            raw, weight = _whole(scorer.score(state, pod, nodes), len(nodes)), self._weights.get(scorer.name, 1)
            # Equal scores are not normalised later, so a plugin that cannot do it must be found out here.
            _in_range(scorer.normalize(state, pod, raw[fits], everything[fits]), int(np.count_nonzero(fits)))
            if _normalizes(scorer):
                entry.normalized.append(NormalizedScores(scorer, weight, raw))
            elif scorer.score_depends is Depends.NODES:
                entry.nodes_scores.append((scorer, weight, raw))
                totals += raw * weight
            else:
                entry.scores.append((scorer, weight))
                totals += raw * weight
        entry.blocks = Blocks(np.where(fits, totals, -1))
        entry.position = self._cache.position()
        entry.layout, entry.objects_generation = self._cache.layout, nodes.objects_generation

    def _refreshed(self, entry: ClassEntry, pod: Pod) -> bool:
        """Ask again about the rows that changed; false if everything must be asked again."""
        cache, nodes = self._cache, self._nodes
        if entry.layout != cache.layout:
            return False
        if entry.position == cache.position():
            return True
        dirty = cache.changed_since(entry.position)
        if dirty is None or len(dirty) > 8 + len(nodes) // STALE_SHARE:
            return False
        if entry.objects_generation != nodes.objects_generation and (
            entry.nodes_scores or any(each.plugin.score_depends is Depends.NODES for each in entry.normalized)
        ):
            return False
        for row in dirty:
            self._ask_again(entry, pod, row)
        entry.position = cache.position()
        entry.objects_generation = nodes.objects_generation
        return True

    def _ask_again(self, entry: ClassEntry, pod: Pod, row: int) -> None:
        node, state = self._nodes.node(row), entry.state
        for plugin in entry.filters:
            if _rejects(plugin.filter_node(state, pod, node)):
                entry.blocks.write(row, -1)
                return
        total = 0
        for scorer, weight in entry.scores:
            score = int(scorer.score_node(state, pod, node))
            if not MIN_SCORE <= score <= MAX_SCORE:
                raise NotRememberedError
            total += score * weight
        for _, weight, raw in entry.nodes_scores:
            total += int(raw[row]) * weight
        for each in entry.normalized:
            each.write(row, int(each.plugin.score_node(state, pod, node)))
        entry.blocks.write(row, total)

    # -- one pod --

    def _decide(self, entry: ClassEntry, pod: Pod, number: int) -> Decision | None:
        decision = Decision(pod, self._filters.profile.scheduler_name, state=entry.state.copy())
        nodes = self._nodes
        if not any(each.differ for each in entry.normalized) and all(
            plugin.sits_out(pod, nodes) for plugin in self._asked_anew
        ):
            picked = entry.blocks.pick(number)
            if picked is None:
                return None
            decision.node, decision.ties = self._nodes.names[picked[0]], picked[1]
            return decision
        return self._decide_over_rows(entry, decision, number)

    def _decide_over_rows(self, entry: ClassEntry, decision: Decision, number: int) -> Decision | None:
        """Plugins that must be asked for every pod join the kept answers."""
        pod, state, nodes = decision.pod, decision.state, self._nodes
        fits = entry.blocks.values >= 0
        asked = [plugin for plugin in self._pre_filters if plugin.name in self._every_time]
        self._pre_filter(state, pod, asked, kept=False)
        for plugin in self._all_filters:
            if plugin.name in self._every_time and plugin.name not in state.skip_filter:
                fits = fits & _passes(plugin, plugin.filter(state, pod, nodes), len(nodes))
        feasible = np.flatnonzero(fits)
        if not len(feasible):
            return None
        decision.feasible = feasible
        if len(feasible) == 1:
            decision.node, decision.ties = nodes.names[int(feasible[0])], 1
            return decision
        totals = self._totals(entry, pod, state, feasible)
        best = np.flatnonzero(totals == totals.max())
        decision.ties = len(best)
        decision.node = nodes.names[int(feasible[int(best[number % len(best)])])]
        return decision

    def _totals(self, entry: ClassEntry, pod: Pod, state: CycleState, feasible: Rows) -> Scores:
        totals: Scores = entry.blocks.values[feasible]
        for each in entry.normalized:
            if each.differ:
                normal = each.plugin.normalize(state, pod, each.raw[feasible], feasible)
                totals += _in_range(normal, len(feasible)) * each.weight
        for pre in self._pre_scores:
            if pre.name in self._every_time and _skips(pre.pre_score(state, pod, self._nodes, feasible)):
                state.skip_score.add(pre.name)
        for scorer in self._all_scores:
            if scorer.name in self._every_time and scorer.name not in state.skip_score:
                raw = self._raw(scorer, pod, state, feasible)
                weight = self._weights.get(scorer.name, 1)
                totals += _in_range(scorer.normalize(state, pod, raw, feasible), len(feasible)) * weight
        return totals

    def _raw(self, scorer: ScorePlugin, pod: Pod, state: CycleState, feasible: Rows) -> Scores:
        if scorer._score_derived:
            nodes = self._nodes
            rows = [scorer.score_node(state, pod, nodes.node(row)) for row in feasible.tolist()]
            return _whole(np.array(rows), len(feasible))
        return _whole(scorer.score(state, pod, self._nodes), len(self._nodes))[feasible]

    def _is_room_kept(self, pod: Pod) -> bool:
        """Is a node set aside for a pod that this one must leave room for?"""
        filters, row_of = self._filters, self._nodes.row_of
        names = filters.nominated.nominated_nodes()
        return any(row_of(name) is not None and filters.expected(pod, name) for name in names)

    def _pre_filter(self, state: CycleState, pod: Pod, plugins: Any, *, kept: bool) -> None:
        for plugin in plugins:
            if kept and not self._keeps(plugin):
                continue
            answer = plugin.pre_filter(state, pod, self._nodes)
            if isinstance(answer, PreFilterResult):
                raise NotRememberedError
            status = as_status(answer)
            if status.is_skip:
                state.skip_filter.add(plugin.name)
            elif not status.is_success:
                raise NotRememberedError

    def _keeps(self, plugin: Plugin) -> bool:
        return plugin.name not in self._every_time


def _distinct(*groups: tuple[Plugin, ...]) -> list[Plugin]:
    return list({plugin.name: plugin for group in groups for plugin in group}.values())


def _is_kept(plugin: Plugin) -> bool:
    """Do all answers of the plugin depend on the node's row, or on node objects, alone?"""
    if isinstance(plugin, FilterPlugin) and plugin.filter_depends not in _KEPT:
        return False
    if isinstance(plugin, ScorePlugin) and plugin.score_depends not in _KEPT:
        return False
    return isinstance(plugin, FilterPlugin | ScorePlugin)


def _normalizes(plugin: ScorePlugin) -> bool:
    return type(plugin).normalize is not ScorePlugin.normalize


# What follows accepts the answers that the full pass accepts, and leaves all others for it to complain about.


def _passes(plugin: FilterPlugin, answer: Any, count: int) -> Mask:
    codes, reasons = (answer.codes, answer.statuses) if isinstance(answer, Verdicts) else (answer, plugin.reasons)
    if codes.shape != (count,) or codes.dtype.kind not in "iu" or codes.min() < 0 or codes.max() > len(reasons):
        raise NotRememberedError
    passes: Mask = codes == 0
    if any(reason.code not in REJECTED for reason in reasons) and not passes.all():
        raise NotRememberedError
    return passes


def _rejects(verdict: Any) -> bool:
    if verdict is None:
        return False
    status = as_status(verdict)
    if not status.is_rejected and not status.is_success:
        raise NotRememberedError
    return status.is_rejected


def _skips(verdict: Any) -> bool:
    status = as_status(verdict)
    if not status.is_success and not status.is_skip:
        raise NotRememberedError
    return status.is_skip


def _whole(scores: Any, count: int) -> Scores:
    if scores.shape != (count,) or scores.dtype.kind not in "iufb":
        raise NotRememberedError
    if scores.dtype.kind in "uf" and not (np.abs(scores) < 2.0**63).all():
        raise NotRememberedError
    whole: Scores = scores.astype(np.int64)
    return whole


def _in_range(scores: Any, count: int) -> Scores:
    whole = _whole(scores, count)
    _check_range(whole)
    return whole


def _check_range(scores: Scores) -> None:
    if len(scores) and (scores.min() < MIN_SCORE or scores.max() > MAX_SCORE):
        raise NotRememberedError
