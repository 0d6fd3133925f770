"""
What the plugins of a profile promise for a pod, asked for once per template and kept while nothing they read changes.

``engine.kept`` keeps answers on the strength of these, and ``engine.node_filters`` knows by them which filters go by
columns alone.  A plugin whose promise cannot be used promises nothing: it is asked every time, which is always right.
"""

from __future__ import annotations

import time
from collections.abc import Hashable, Mapping, Sequence

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.plugin_calls import SLOW_S, Calls, complain
from bayplan.engine.store import Store
from bayplan.errors import GO_THROUGH, PluginError
from bayplan.framework.plugin import Plugin
from bayplan.framework.profile import Profile
from bayplan.framework.promise import Depends, Promise
from bayplan.objects.pod_template import PodTemplate

MAX_TEMPLATES = 8192
MAX_SORTS_OF_PODS = 16
"""So many sorts of pods of one template are told apart by ``Promise.pod_key`` at a time."""

NOTHING = Promise(key=None)
"""Stands for no promise."""

Promised = Mapping[str, Promise]
"""By plugin, those that promise something."""


class _OfTemplate:
    """What is promised for one template, and as of when."""

    __slots__ = ("by_pod", "promised", "stamps", "varying", "version")

    def __init__(self) -> None:
        self.version = -1
        self.stamps: Sequence[int] = ()
        """For each plugin, when what it reads had last changed."""
        self.promised: Promised = {}
        self.varying: Sequence[Plugin] = ()
        """Plugins that promise more for one pod of the template than for another."""
        self.by_pod: BoundedCache[tuple[Hashable, ...], Promised] = BoundedCache(MAX_SORTS_OF_PODS)
        """By the keys of these."""


class Promises:
    """The promises of one profile's plugins."""

    def __init__(self, profile: Profile, objects: Store) -> None:
        self._plugins = [each for each in profile.instances.values() if type(each).promise is not Plugin.promise]
        self._reads = [("Namespace", *each.kinds_read()) for each in self._plugins]
        self._objects = objects
        self._known: BoundedCache[PodTemplate, _OfTemplate] = BoundedCache(MAX_TEMPLATES)
        self._told: set[str] = set()
        self._stamped_at = -1
        self._stamps: Sequence[int] = ()
        """For each plugin, when what it reads changed last, as of then."""

    def of(self, calls: Calls) -> Promised:
        """What is promised for a pod; the same object as before while that is the same."""
        template, version = calls.pod.template, self._objects.version
        known = self._known.get(template)
        if known is None:
            known = self._known[template] = _OfTemplate()
        if known.version != version:
            self._renew(known, calls, version)
        return self._of_pod(known, calls) if known.varying else known.promised

    def _renew(self, known: _OfTemplate, calls: Calls, version: int) -> None:
        """Ask those again for whom something changed."""
        if self._stamped_at != version:
            generation = self._objects.generation
            self._stamps = [max([generation(kind) for kind in reads]) for reads in self._reads]
            self._stamped_at = version
        stamps, before = self._stamps, known.stamps
        known.version, known.stamps = version, stamps
        if stamps == before:
            return
        asked = [
            plugin for number, plugin in enumerate(self._plugins) if not before or stamps[number] != before[number]
        ]
        promised = self._at_once(asked, calls)
        if promised is None:
            promised = {plugin.name: self._promise(plugin, calls) for plugin in asked}
        if before:
            promised = {**known.promised, **promised}
        now = {name: promise for name, promise in promised.items() if promise is not None}
        if now != known.promised:
            known.promised = now
            known.varying = [each for each in self._plugins if now.get(each.name, NOTHING).pod_key is not None]
            known.by_pod.clear()

    def _at_once(self, asked: Sequence[Plugin], calls: Calls) -> dict[str, Promise | None] | None:
        """What plugins promise; ``None`` if one broke, took long or is to be measured: then it must be known who."""
        if calls.is_sampled:
            return None
        started, template = time.perf_counter(), calls.pod.template
        try:
            promised = {plugin.name: plugin.promise(template) for plugin in asked}
            hash(tuple([_usable(promise).key for promise in promised.values() if promise is not None]))
        except GO_THROUGH:
            raise
        except BaseException:
            return None
        return promised if time.perf_counter() - started < SLOW_S else None

    def _of_pod(self, known: _OfTemplate, calls: Calls) -> Promised:
        own = [self._for_pod(plugin, calls, known.promised[plugin.name]) for plugin in known.varying]
        keys = tuple([None if each is None else each.key for each in own])
        found = known.by_pod.get(keys)
        if found is None:
            of_pod = {**known.promised, **{plugin.name: each for plugin, each in zip(known.varying, own, strict=True)}}
            found = known.by_pod[keys] = {name: each for name, each in of_pod.items() if each is not None}
        return found

    def _promise(self, plugin: Plugin, calls: Calls) -> Promise | None:
        try:
            promise = calls.run(plugin, "Promise", plugin.promise, calls.pod.template)
            if promise is not None:
                _check(calls, plugin, promise)
            return promise
        except PluginError as error:
            self._complain(plugin, error)
            return None

    def _for_pod(self, plugin: Plugin, calls: Calls, promise: Promise) -> Promise | None:
        try:
            own = calls.run(plugin, "Promise", promise.for_pod, calls.pod)
            if own is not None:
                _check(calls, plugin, own)
            return own
        except PluginError as error:
            self._complain(plugin, error)
            return None

    def _complain(self, plugin: Plugin, error: PluginError) -> None:
        if plugin.name not in self._told:
            self._told.add(plugin.name)
            complain("promise cannot be used, the plugin is asked for every pod", plugin, error)


def _usable(promise: object) -> Promise:
    """The promise itself; a ``ValueError`` for one that makes no sense."""
    if not isinstance(promise, Promise):
        raise ValueError(f"promise returned {promise!r}; return Promise(key=...) or None")
    if isinstance(promise.filter, Depends) and isinstance(promise.score, Depends):
        return promise
    name, wrong = ("score", promise.score) if isinstance(promise.filter, Depends) else ("filter", promise.filter)
    raise ValueError(f"{name} is {wrong!r}; write Depends.{Depends.ANYTHING.name}")


def _check(calls: Calls, plugin: Plugin, promise: object) -> None:
    try:
        hash(_usable(promise).key)
    except ValueError as error:
        raise calls.refuse(plugin, "Promise", str(error)) from error
    except TypeError as error:
        raise calls.refuse(plugin, "Promise", f"the key of a promise must be hashable: {error}") from error
