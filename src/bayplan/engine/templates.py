"""
Templates: which class a pod is of, and which plugins must be asked about it every time.

Two pods are of one class if every plugin whose answers are kept reads the same of both (``Plugin.signature``).  Pods
that share a spec, labels and owner need not be read again while no object changes, but by plugins that do not promise
to go by these (``Plugin.signature_by_template``).  ``engine.class_cache`` asks.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable, Sequence
from typing import NamedTuple, TypeVar

from bayplan.engine.accepting import NotRememberedError
from bayplan.engine.cache import ClusterCache
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
from bayplan.objects.pod import Pod, PodSpec

MAX_TEMPLATES = 8192

P = TypeVar("P", bound=Plugin)

_OF_OBJECTS = (Depends.OBJECT, Depends.NODES)
_OF_ROWS = (Depends.OBJECT, Depends.AMOUNTS, Depends.ROW)


class Plugins:
    """Some of a profile's plugins, by the point at which they are asked."""

    __slots__ = ("all", "pre_filters", "filters", "pre_scores", "scores")

    def __init__(self, plugins: Sequence[Plugin], profile: Profile) -> None:
        names = {plugin.name for plugin in plugins}
        self.all = tuple(plugins)
        self.pre_filters = _among(profile, "pre_filter", PreFilterPlugin, names)
        self.filters = _among(profile, "filter", FilterPlugin, names)
        self.pre_scores = _among(profile, "pre_score", PreScorePlugin, names)
        self.scores = _among(profile, "score", ScorePlugin, names)


def _among(profile: Profile, point: str, kind: type[P], names: set[str]) -> tuple[P, ...]:
    return tuple(each for each in profile.extension(point) if isinstance(each, kind) and each.name in names)


class Template(NamedTuple):
    """What is known of pods that share a spec, labels and owner."""

    spec: PodSpec
    version: int
    objects: int
    """Number of what plugins read of the pod that look at node objects alone."""
    rows: int
    """Number of the class: what all plugins read whose answers are kept."""
    asked: Plugins
    """Asked every time; those that surely sit out are not among them."""
    runs: bool
    """May pods that follow one another be placed in one go?  Nobody looks at what happens between two of them."""


class Templates:
    """The templates of one profile's pods seen lately."""

    def __init__(self, profile: Profile, cache: ClusterCache) -> None:
        self._cache = cache
        self._profile = profile
        points = ("pre_filter", "filter", "pre_score", "score")
        every = {plugin.name: plugin for point in points for plugin in profile.extension(point)}.values()
        self.of_objects = Plugins([each for each in every if _depends_within(each, _OF_OBJECTS)], profile)
        # One that looks at its row and at the objects of all nodes is neither: any object would change all its rows.
        of_rows = [each for each in every if _depends_within(each, _OF_ROWS) and each not in self.of_objects.all]
        self.of_rows = Plugins(of_rows, profile)
        self._every_time = [each for each in every if each not in (*self.of_objects.all, *of_rows)]
        self._is_odd = any(_is_halved(each, profile) for each in self._every_time)
        self._own = tuple(each for each in (*self.of_objects.all, *of_rows) if not each.signature_by_template)
        """They may read what the pods of a template do not share, such as annotations."""
        self._asked: dict[tuple[Plugin, ...], Plugins] = {}
        self._known: OrderedDict[Hashable, Template] = OrderedDict()
        self._objects: dict[Hashable, int] = {}
        self._rows: dict[Hashable, int] = {}
        self._last: tuple[object, Template] | None = None
        """Where the pod before kept what is worked out for it, which pods of its template share."""
        self.generation = 0
        """While it stays, a number stands for the same class."""

    def of(self, pod: Pod) -> Template:
        """The template of a pod.  ``NotRememberedError`` if it is not known what a kept plugin reads of it."""
        version, last = self._cache.objects.version, self._last
        if last is not None and last[0] is pod.__dict__ and last[1].spec is pod.spec and last[1].version == version:
            return last[1]
        owner = pod.controller
        shape: tuple[Hashable, ...] = (id(pod.spec), pod.label_set, owner and (owner.kind, owner.name))
        if self._own:
            shape += tuple(plugin.signature(pod) for plugin in self._own)
        known = self._known.get(shape)
        if known is None or known.version != version or known.spec is not pod.spec:
            known = self._read(pod, shape, version)
        if not self._own:
            self._last = pod.__dict__, known
        return known

    def _read(self, pod: Pod, shape: Hashable, version: int) -> Template:
        if self._is_odd:
            raise NotRememberedError
        of_objects = _signatures(self.of_objects, pod)
        of_rows = _signatures(self.of_rows, pod)
        if len(self._rows) > MAX_TEMPLATES:
            self._forget_all()
        objects = self._objects.setdefault(of_objects, len(self._objects))
        rows = self._rows.setdefault((objects, of_rows), len(self._rows))
        asked = self._left_to_ask(pod)
        template = self._known[shape] = Template(pod.spec, version, objects, rows, asked, self._runs(pod, asked))
        if len(self._known) > MAX_TEMPLATES:
            self._known.popitem(last=False)
        return template

    def _left_to_ask(self, pod: Pod) -> Plugins:
        nodes = self._cache.nodes
        left = tuple(
            plugin for plugin in self._every_time if not (plugin.sits_out_by_template and plugin.sits_out(pod, nodes))
        )
        asked = self._asked.get(left)
        if asked is None:
            asked = self._asked[left] = Plugins(left, self._profile)
        return asked

    def _runs(self, pod: Pod, asked: Plugins) -> bool:
        if self._own or self._profile.extension("permit") or not all(each.sits_out_by_terms for each in asked.all):
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


def _signatures(plugins: Plugins, pod: Pod) -> tuple[Hashable, ...]:
    signatures = tuple(plugin.signature(pod) for plugin in plugins.all)
    if UNSIGNED in signatures:
        raise NotRememberedError
    return signatures


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
