"""
Which class a pod is of, whose answers are kept for it, and which plugins must be asked about it every time.

Two pods are of one class if every plugin whose answers are kept promises them the same answers: equal keys
(``Promise.key``).  Pods of one template are of one class.  ``engine.kept.memory`` asks.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import NamedTuple

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.cache import ClusterCache
from bayplan.engine.plugin_calls import Calls
from bayplan.engine.plugin_group import PluginGroup
from bayplan.engine.promises import MAX_TEMPLATES, NOTHING, Promised, Promises
from bayplan.framework.plugin import FilterPlugin, Plugin, PreFilterPlugin, PreScorePlugin, ScorePlugin
from bayplan.framework.profile import Profile
from bayplan.framework.promise import Depends
from bayplan.framework.snapshot import TermKind
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate

_OF_OBJECTS = (Depends.OBJECT, Depends.NODES)
_OF_ROWS = (Depends.OBJECT, Depends.AMOUNTS, Depends.ROW)


class Left(NamedTuple):
    """Whom to ask about a pod on top of what is kept."""

    alone: PluginGroup
    """On top of the rows layer."""
    with_rows: PluginGroup
    """On top of the objects layer."""
    skipped: frozenset[str] = frozenset()
    """Names of plugins that are not asked and whose answers are not kept: they skip the pod."""


class Division(NamedTuple):
    """The plugins of a profile by what they promise for some templates."""

    of_objects: PluginGroup
    of_rows: PluginGroup
    left: Left
    """Whom to ask every time."""
    without_terms: Left
    """Whom to ask while no pod on a node carries an affinity term that selects the pod."""

    kept_of_objects: frozenset[str]
    """Names of the plugins whose answers the objects layer has."""
    kept: frozenset[str]
    """Names of the plugins whose answers both layers have."""
    is_promised: bool
    """Does everybody else promise something too?  Not to go by what becomes of pods once they are placed."""


class PodClass(NamedTuple):
    """What is known of a template's pods before any node is looked at."""

    promised: Promised
    division: Division
    objects: int
    """Number of the class as far as plugins tell it apart that look at node objects alone."""
    rows: int
    """Number of the class."""
    reserves: bool
    """May a plugin have something to reserve for them, or to permit?"""
    goes_on: bool
    """May pods that follow one another be placed before anything else happens?  Every plugin promises something."""
    is_plain: bool
    """May they be committed together?  Nobody looks at what happens between two of them."""


class PodClasses:
    """The classes of one profile's pods seen lately."""

    def __init__(self, profile: Profile, cache: ClusterCache, promises: Promises) -> None:
        self._nodes = cache.nodes
        self._profile = profile
        self._promises = promises
        self._every = PluginGroup.of_all(profile).all
        self._halved = frozenset(each.name for each in self._every if _is_halved(each, profile))
        self._committing = (*profile.extension("reserve"), *profile.extension("permit"))
        self._divisions: dict[tuple[tuple[Depends, Depends, bool], ...], Division] = {}
        self._known: BoundedCache[PodTemplate, PodClass] = BoundedCache(MAX_TEMPLATES)
        self._objects: dict[Hashable, int] = {}
        self._rows: dict[Hashable, int] = {}
        self.generation = 0
        """While it stays, a number stands for the same class."""

    def of(self, calls: Calls) -> PodClass:
        """The class of a pod."""
        template, promised = calls.pod.template, self._promises.of(calls)
        known = self._known.get(template)
        if known is None or known.promised is not promised:
            known = self._known[template] = self._read(calls.pod, promised)
        return known

    def left(self, pod: Pod, division: Division) -> Left:
        """Whom to ask about a pod now."""
        nodes = self._nodes
        if not division.without_terms.skipped:
            return division.left
        if nodes.has_terms and any(nodes.terms(kind, pod) for kind in TermKind):
            return division.left
        return division.without_terms

    def _read(self, pod: Pod, promised: Promised) -> PodClass:
        division = self._division_for(promised)
        if len(self._rows) > MAX_TEMPLATES:
            self._forget_all()
        of_objects = _keys(division.of_objects.all, promised)
        of_rows = _keys(division.of_rows.all, promised)
        objects = self._objects.setdefault(of_objects, len(self._objects))
        rows = self._rows.setdefault((objects, of_rows), len(self._rows))
        reserves = any(promised.get(plugin.name, NOTHING).reserves for plugin in self._committing)
        goes_on = division.is_promised and not reserves
        is_plain = goes_on and not division.without_terms.alone.all and _takes_no_more_than_sums(pod.template)
        return PodClass(promised, division, objects, rows, reserves, goes_on, is_plain)

    def _division_for(self, promised: Promised) -> Division:
        of_each = [promised.get(plugin.name, NOTHING) for plugin in self._every]
        key = tuple([(promise.filter, promise.score, bool(promise.keep)) for promise in of_each])
        known = self._divisions.get(key)
        if known is None:
            known = self._divisions[key] = self._divided(promised)
        return known

    def _divided(self, promised: Promised) -> Division:
        of_objects, of_rows, asked, by_terms = [], [], [], []
        for plugin in self._every:
            depends = self._depends(plugin, promised)
            if not promised.get(plugin.name, NOTHING).keep:
                asked.append(plugin)
            elif depends and all(each in _OF_OBJECTS for each in depends):
                of_objects.append(plugin)
            # One that looks at its row and at the objects of all nodes is neither: any object would change all rows.
            elif depends and all(each in _OF_ROWS for each in depends):
                of_rows.append(plugin)
            else:
                asked.append(plugin)
                if depends and all(each is Depends.TERMS for each in depends) and plugin.name not in self._halved:
                    by_terms.append(plugin)
        rest = [each for each in asked if each not in by_terms]
        of_asked = [self._depends(plugin, promised) for plugin in asked]
        return Division(
            self._group(of_objects),
            self._group(of_rows),
            Left(self._group(asked), self._group((*of_rows, *asked))),
            Left(self._group(rest), self._group((*of_rows, *rest)), frozenset(plugin.name for plugin in by_terms)),
            frozenset(each.name for each in of_objects),
            frozenset(each.name for each in (*of_objects, *of_rows)),
            all(each and Depends.ANYTHING not in each for each in of_asked),
        )

    @staticmethod
    def _depends(plugin: Plugin, promised: Promised) -> list[Depends]:
        """What a plugin filters and scores by."""
        promise = promised.get(plugin.name, NOTHING)
        depends = [promise.filter] if isinstance(plugin, FilterPlugin) else []
        return [*depends, promise.score] if isinstance(plugin, ScorePlugin) else depends

    def _group(self, plugins: Sequence[Plugin]) -> PluginGroup:
        return PluginGroup(plugins, self._profile)

    def _forget_all(self) -> None:
        """So many classes that numbering them would fill memory: start again."""
        self._known.clear()
        self._objects.clear()
        self._rows.clear()
        self.generation += 1


def _takes_no_more_than_sums(template: PodTemplate) -> bool:
    """Are CPU, memory and a place all that its pods take, and is there nothing that others see of them but labels?"""
    asked = template.requests
    takes_more = asked.ephemeral_bytes or asked.scalars or template.host_ports or template.volumes
    return not (takes_more or template.has_pod_terms)


def _keys(plugins: Sequence[Plugin], promised: Promised) -> tuple[tuple[str, Hashable], ...]:
    return tuple([(plugin.name, promised[plugin.name].key) for plugin in plugins])


def _is_halved(plugin: Plugin, profile: Profile) -> bool:
    """Is it asked about nodes where its own preparing is disabled?  Then it has no way to say that it skips a pod."""
    pairs = (("pre_filter", PreFilterPlugin, "filter"), ("pre_score", PreScorePlugin, "score"))
    return any(
        isinstance(plugin, kind) and plugin in profile.extension(asked) and plugin not in profile.extension(prepared)
        for prepared, kind, asked in pairs
    )
