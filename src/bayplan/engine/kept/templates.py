"""
Templates: which class a pod is of, and which plugins must be asked about it every time.

Two pods are of one class if every plugin whose answers are kept reads the same of both (``Plugin.signature``).  Pods
that share a spec, labels and owner need not be read again while no object changes, but by plugins that do not promise
to go by these (``Plugin.signature_by_template``).  ``engine.kept.memory`` asks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import NamedTuple

from bayplan.engine.cache import ClusterCache
from bayplan.engine.kept.layer import NotKeptError
from bayplan.engine.plugin_calls import Calls
from bayplan.engine.plugin_group import PluginGroup
from bayplan.framework.plugin import (
    UNSIGNED,
    Depends,
    FilterPlugin,
    Plugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from bayplan.framework.profile import Profile
from bayplan.framework.snapshot import NodeTable
from bayplan.objects.pod import Pod, PodSpec

MAX_TEMPLATES = 8192

_OF_OBJECTS = (Depends.OBJECT, Depends.NODES)
_OF_ROWS = (Depends.OBJECT, Depends.AMOUNTS, Depends.ROW)


class Left(NamedTuple):
    """Whom to ask about a pod on top of what is kept."""

    alone: PluginGroup
    """On top of the rows layer."""
    with_rows: PluginGroup
    """On top of the objects layer."""
    skipped: frozenset[str]
    """Names of plugins that are not asked and whose answers are not kept: they skip the pod."""


class Template(NamedTuple):
    """What is known of pods that share a spec, labels and owner."""

    spec: PodSpec
    version: int
    objects: int
    """Number of what plugins read of the pod that look at node objects alone."""
    rows: int
    """Number of the class: what all plugins read whose answers are kept."""
    asked: tuple[Plugin, ...]
    """Asked every time; those that surely sit out are not among them."""
    runs: bool
    """May pods that follow one another be placed in one go?  Nobody looks at what happens between two of them."""


class Templates:
    """The templates of one profile's pods seen lately."""

    def __init__(self, profile: Profile, cache: ClusterCache) -> None:
        self._cache = cache
        self._profile = profile
        every = PluginGroup.of_all(profile).all
        self.of_objects = PluginGroup([each for each in every if _depends_within(each, _OF_OBJECTS)], profile)
        # One that looks at its row and at the objects of all nodes is neither: any object would change all its rows.
        of_rows = [each for each in every if _depends_within(each, _OF_ROWS) and each not in self.of_objects.all]
        self.of_rows = PluginGroup(of_rows, profile)
        self._every_time = [each for each in every if each not in (*self.of_objects.all, *of_rows)]
        self._is_odd = any(_is_halved(each, profile) for each in self._every_time)
        self._own = tuple(each for each in (*self.of_objects.all, *of_rows) if not each.signature_by_template)
        """They may read what the pods of a template do not share, such as annotations."""
        self._left: dict[tuple[Plugin, ...], Left] = {}
        self._known: OrderedDict[Hashable, Template] = OrderedDict()
        self._objects: dict[Hashable, int] = {}
        self._rows: dict[Hashable, int] = {}
        self._last: tuple[object, Template] | None = None
        """Where the pod before kept what is worked out for it, which pods of its template share."""
        self.generation = 0
        """While it stays, a number stands for the same class."""

    def of(self, calls: Calls) -> Template:
        """The template of a pod.  ``NotKeptError`` if it is not known what a kept plugin reads of it."""
        pod = calls.pod
        version, last = self._cache.objects.version, self._last
        if last is not None and last[0] is pod.template and last[1].spec is pod.spec and last[1].version == version:
            return last[1]
        owner = pod.controller
        shape: tuple[Hashable, ...] = (id(pod.spec), pod.label_set, owner and (owner.kind, owner.name))
        if self._own:
            shape += _signatures(self._own, calls)
        known = self._known.get(shape)
        if known is None or known.version != version or known.spec is not pod.spec:
            known = self._read(calls, shape, version)
        if not self._own:
            self._last = pod.template, known
        return known

    def left(self, calls: Calls, template: Template) -> Left:
        """Whom to ask about a pod of the template now."""
        nodes = self._cache.nodes
        asked = tuple([each for each in template.asked if not _skips(each, calls, nodes)])
        left = self._left.get(asked)
        if left is None:
            kept = (*self.of_objects.all, *self.of_rows.all)
            every = PluginGroup.of_all(self._profile).all
            left = self._left[asked] = Left(
                PluginGroup(asked, self._profile),
                PluginGroup((*self.of_rows.all, *asked), self._profile),
                frozenset(each.name for each in every if each not in kept and each not in asked),
            )
        return left

    def _read(self, calls: Calls, shape: Hashable, version: int) -> Template:
        if self._is_odd:
            raise NotKeptError("a plugin is asked about nodes where its own preparing is disabled")
        pod = calls.pod
        of_objects = _signatures(self.of_objects.all, calls)
        of_rows = _signatures(self.of_rows.all, calls)
        if len(self._rows) > MAX_TEMPLATES:
            self._forget_all()
        objects = self._objects.setdefault(of_objects, len(self._objects))
        rows = self._rows.setdefault((objects, of_rows), len(self._rows))
        nodes = self._cache.nodes
        asked = tuple(
            plugin for plugin in self._every_time if not (plugin.sits_out_by_template and _skips(plugin, calls, nodes))
        )
        template = self._known[shape] = Template(pod.spec, version, objects, rows, asked, self._runs(pod, asked))
        if len(self._known) > MAX_TEMPLATES:
            self._known.popitem(last=False)
        return template

    def _runs(self, pod: Pod, asked: tuple[Plugin, ...]) -> bool:
        if self._own or self._profile.extension("permit") or not all(each.sits_out_by_terms for each in asked):
            return False
        if any(plugin.reserves(pod) for plugin in self._profile.extension("reserve")):
            return False
        affinity, accounted = pod.spec.affinity, pod.accounted
        has_terms = affinity is not None and (affinity.pod_affinity or affinity.pod_anti_affinity)
        takes_more = accounted.ephemeral_bytes or accounted.scalars or pod.host_ports or pod.spec.volumes
        return not has_terms and not takes_more

    def _forget_all(self) -> None:
        """So many classes that numbering them would fill memory: start again."""
        for known in (self._known, self._objects, self._rows):
            known.clear()
        self._last = None
        self.generation += 1


def _signatures(plugins: Iterable[Plugin], calls: Calls) -> tuple[Hashable, ...]:
    signatures = tuple([calls.run(plugin, "Signature", plugin.signature, calls.pod) for plugin in plugins])
    if UNSIGNED in signatures:
        raise NotKeptError("a plugin does not say what it reads of the pod")
    return signatures


def _skips(plugin: Plugin, calls: Calls, nodes: NodeTable) -> bool:
    return calls.run(plugin, "SitsOut", plugin.sits_out, calls.pod, nodes)


def _is_halved(plugin: Plugin, profile: Profile) -> bool:
    """Is it asked about nodes where its own preparing is disabled?  Then it does not skip what it says it sits out."""
    if type(plugin).sits_out is Plugin.sits_out:
        return False
    pairs = (("pre_filter", PreFilterPlugin, "filter"), ("pre_score", PreScorePlugin, "score"))
    return any(
        isinstance(plugin, kind) and plugin in profile.extension(asked) and plugin not in profile.extension(prepared)
        for prepared, kind, asked in pairs
    )


def _depends_within(plugin: Plugin, these: tuple[Depends, ...]) -> bool:
    """Does all that the plugin filters and scores by depend on no more than these?"""
    if isinstance(plugin, FilterPlugin) and plugin.filter_depends not in these:
        return False
    if isinstance(plugin, ScorePlugin) and plugin.score_depends not in these:
        return False
    return isinstance(plugin, FilterPlugin | ScorePlugin)
