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
from typing import Any, NamedTuple

import numpy as np

from bayplan.engine import scoring
from bayplan.engine.accepting import NotRememberedError, in_range, passes, skips, whole
from bayplan.engine.cache import ClusterCache
from bayplan.engine.class_entry import ClassEntry, NormalizedScores, Part
from bayplan.engine.filtering import Filters
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import (
    UNSIGNED,
    Depends,
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    ScorePlugin,
)
from bayplan.framework.snapshot import Rows, Scores
from bayplan.framework.status import as_status
from bayplan.objects.pod import Pod, PodSpec

MAX_BYTES = 512 * 1024 * 1024
MAX_SEEN = 8192
# With more rows changed than this share of the table, a fresh pass is cheaper than asking row by row.
STALE_SHARE = 64

_KEPT = (Depends.OBJECT, Depends.AMOUNTS, Depends.ROW, Depends.NODES)


class Template(NamedTuple):
    """What is known of pods that share a spec, labels and owner."""

    spec: PodSpec
    version: int
    number: int
    """Of the class."""
    left_to_ask: tuple[Plugin, ...] | None
    """Of the plugins that are asked every time, those that may not sit out; None if one of the others does not."""


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
        self._keys: OrderedDict[Hashable, Template] = OrderedDict()
        self._numbers: dict[Hashable, int] = {}
        self._entries: OrderedDict[int, ClassEntry] = OrderedDict()
        self._seen: OrderedDict[int, None] = OrderedDict()

    def decide(self, pod: Pod, seed: int, cycle: int) -> Decision | None:
        """The decision for a pod whose class is known, or ``None``."""
        if pod.nominated_node_name or not len(self._nodes) or self._is_room_kept(pod):
            # Only the full pass judges a node together with the pods that are expected there.
            return None
        try:
            template = self._template(pod)
            entry = self._entry(pod, template.number)
            if entry is None:
                return None
            return self._decide(entry, pod, template, scoring.scramble(seed, cycle))
        except Exception:
            # Whatever a plugin does wrong, the full pass finds it again and says which plugin it was.
            return None

    # -- classes --

    def _entry(self, pod: Pod, key: int) -> ClassEntry | None:
        """The up-to-date entry of the pod's class; none for the first pod of a class, which may stay the only one."""
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

    def _template(self, pod: Pod) -> Template:
        """The class of the pod.  Pods that share a spec, labels and owner share it while no object changes."""
        owner = pod.controller
        shape = (id(pod.spec), pod.label_set, owner and (owner.kind, owner.name))
        version = self._cache.objects.version
        known = self._keys.get(shape)
        if known is not None and known.version == version and known.spec is pod.spec:
            return known
        read = tuple(plugin.signature(pod) for plugin in self._kept)
        if UNSIGNED in read:
            # What a kept plugin reads of this pod is not known, so nobody can tell which pods it treats alike.
            raise NotRememberedError
        if len(self._numbers) > MAX_SEEN:
            self._forget_all()
        number = self._numbers.setdefault(read, len(self._numbers))
        template = self._keys[shape] = Template(pod.spec, version, number, self._left_to_ask(pod))
        if len(self._keys) > MAX_SEEN:
            self._keys.popitem(last=False)
        return template

    def _left_to_ask(self, pod: Pod) -> tuple[Plugin, ...] | None:
        if all(plugin.sits_out(pod, self._nodes) for plugin in self._asked_anew if plugin.sits_out_by_template):
            return tuple(plugin for plugin in self._asked_anew if not plugin.sits_out_by_template)
        return None

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
        of_object, of_row = Part(len(nodes)), Part(len(nodes))
        for plugin in self._all_filters:
            if self._keeps(plugin) and plugin.name not in state.skip_filter:
                part = of_object if plugin.filter_depends is Depends.OBJECT else of_row
                part.filters.append(plugin)
                part.fits &= passes(plugin, plugin.filter(state, pod, nodes), len(nodes))
        self._score_all(entry, pod, of_object, of_row)
        entry.fill(of_object, of_row)
        entry.position = self._cache.position()
        entry.layout, entry.objects_generation = self._cache.layout, nodes.objects_generation

    def _score_all(self, entry: ClassEntry, pod: Pod, of_object: Part, of_row: Part) -> None:
        nodes, state = self._nodes, entry.state
        everything = np.arange(len(nodes), dtype=np.intp)
        for pre in self._pre_scores:
            if self._keeps(pre) and skips(pre.pre_score(state, pod, nodes, everything)):
                state.skip_score.add(pre.name)
        fits = of_object.fits & of_row.fits
        entry.normalized, entry.whole_cluster = [], None
        for scorer in self._all_scores:
            if not self._keeps(scorer) or scorer.name in state.skip_score:
                continue
            raw, weight = whole(scorer.score(state, pod, nodes), len(nodes)), self._weights.get(scorer.name, 1)
            # Equal scores are not normalised later, so a plugin that cannot do it must be found out here.
            in_range(scorer.normalize(state, pod, raw[fits], everything[fits]), int(np.count_nonzero(fits)))
            if _normalizes(scorer):
                entry.normalized.append(NormalizedScores(scorer, weight, raw))
            elif scorer.score_depends is Depends.NODES:
                entry.whole_cluster = raw * weight + (0 if entry.whole_cluster is None else entry.whole_cluster)
            else:
                part = of_object if scorer.score_depends is Depends.OBJECT else of_row
                part.scores.append((scorer, weight))
                part.totals += raw * weight

    def _refreshed(self, entry: ClassEntry, pod: Pod) -> bool:
        """Ask again about the rows that changed; false if everything must be asked again."""
        cache, nodes = self._cache, self._nodes
        if entry.layout != cache.layout:
            return False
        position = cache.position()
        if entry.position == position:
            return True
        dirty = cache.changed_since(entry.position)
        if dirty is None or len(dirty) > 8 + len(nodes) // STALE_SHARE:
            return False
        if entry.objects_generation != nodes.objects_generation and entry.needs_all_objects:
            return False
        entry.refresh(pod, nodes, dirty)
        entry.position = position
        return True

    # -- one pod --

    def _decide(self, entry: ClassEntry, pod: Pod, template: Template, number: int) -> Decision | None:
        decision = Decision(pod, self._filters.profile.scheduler_name, state=entry.state.copy())
        if not self._is_settled(entry, pod, template):
            return self._decide_over_rows(entry, decision, number)
        picked = entry.blocks.pick(number)
        if picked is None:
            return None
        decision.node, decision.ties = self._nodes.names[picked[0]], picked[1]
        return decision

    def _is_settled(self, entry: ClassEntry, pod: Pod, template: Template) -> bool:
        """Do the kept answers say it all?"""
        if template.left_to_ask is None:
            return False
        for each in entry.normalized:
            if each.differ:
                return False
        return all(plugin.sits_out(pod, self._nodes) for plugin in template.left_to_ask)

    def _decide_over_rows(self, entry: ClassEntry, decision: Decision, number: int) -> Decision | None:
        """Plugins that must be asked for every pod join the kept answers."""
        pod, state, nodes = decision.pod, decision.state, self._nodes
        fits = entry.blocks.values >= 0
        asked = [plugin for plugin in self._pre_filters if plugin.name in self._every_time]
        self._pre_filter(state, pod, asked, kept=False)
        for plugin in self._all_filters:
            if plugin.name in self._every_time and plugin.name not in state.skip_filter:
                fits = fits & passes(plugin, plugin.filter(state, pod, nodes), len(nodes))
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
                totals += in_range(normal, len(feasible)) * each.weight
        for pre in self._pre_scores:
            if pre.name in self._every_time and skips(pre.pre_score(state, pod, self._nodes, feasible)):
                state.skip_score.add(pre.name)
        for scorer in self._all_scores:
            if scorer.name in self._every_time and scorer.name not in state.skip_score:
                raw = self._raw(scorer, pod, state, feasible)
                weight = self._weights.get(scorer.name, 1)
                totals += in_range(scorer.normalize(state, pod, raw, feasible), len(feasible)) * weight
        return totals

    def _raw(self, scorer: ScorePlugin, pod: Pod, state: CycleState, feasible: Rows) -> Scores:
        if scorer._score_derived:
            nodes = self._nodes
            rows = [scorer.score_node(state, pod, nodes.node(row)) for row in feasible.tolist()]
            return whole(np.array(rows), len(feasible))
        return whole(scorer.score(state, pod, self._nodes), len(self._nodes))[feasible]

    def _is_room_kept(self, pod: Pod) -> bool:
        """Is a node set aside for a pod that this one must leave room for?"""
        filters, row_of = self._filters, self._nodes.row_of
        names = filters.nominated.nominated_nodes()
        return bool(names) and any(row_of(name) is not None and filters.expected(pod, name) for name in names)

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
