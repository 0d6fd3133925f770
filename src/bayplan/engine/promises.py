"""
What the plugins of a profile promise for a template, asked for once and kept while no API object changes.

``engine.kept`` keeps answers on the strength of these, and ``engine.node_filters`` knows by them which filters go by
columns alone.  A plugin whose promise cannot be used promises nothing: it is asked every time, which is always right.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.plugin_calls import SLOW_S, Calls, complain
from bayplan.engine.store import Store
from bayplan.errors import GO_THROUGH, PluginError
from bayplan.framework.plugin import Plugin
from bayplan.framework.profile import Profile
from bayplan.framework.promise import Depends, Promise
from bayplan.objects.pod_template import PodTemplate

MAX_TEMPLATES = 8192

NOTHING = Promise(key=None)
"""Stands for no promise."""

Promised = Mapping[str, Promise]
"""By plugin, those that promise something."""


class Promises:
    """The promises of one profile's plugins."""

    def __init__(self, profile: Profile, objects: Store) -> None:
        self._plugins = [each for each in profile.instances.values() if type(each).promise is not Plugin.promise]
        self._objects = objects
        self._known: BoundedCache[PodTemplate, tuple[int, Promised]] = BoundedCache(MAX_TEMPLATES)
        self._told: set[str] = set()

    def of(self, calls: Calls) -> Promised:
        """What is promised for the template of a pod."""
        template, version = calls.pod.template, self._objects.version
        known = self._known.get(template)
        if known is None or known[0] != version:
            promised = self._at_once(calls, template)
            known = self._known[template] = version, self._one_by_one(calls, template) if promised is None else promised
        return known[1]

    def _at_once(self, calls: Calls, template: PodTemplate) -> Promised | None:
        """What everybody promises; ``None`` if one broke, took long or is to be measured: then it must be known who."""
        if calls.is_sampled:
            return None
        started = time.perf_counter()
        try:
            answers = [(plugin.name, plugin.promise(template)) for plugin in self._plugins]
            promised = {name: promise for name, promise in answers if promise is not None}
            hash(tuple([_usable(promise).key for promise in promised.values()]))
        except GO_THROUGH:
            raise
        except BaseException:
            return None
        return promised if time.perf_counter() - started < SLOW_S else None

    def _one_by_one(self, calls: Calls, template: PodTemplate) -> Promised:
        answers = [(plugin.name, self._promise(plugin, calls, template)) for plugin in self._plugins]
        return {name: promise for name, promise in answers if promise is not None}

    def _promise(self, plugin: Plugin, calls: Calls, template: PodTemplate) -> Promise | None:
        try:
            promise = calls.run(plugin, "Promise", plugin.promise, template)
            if promise is not None:
                _check(calls, plugin, promise)
            return promise
        except PluginError as error:
            if plugin.name not in self._told:
                self._told.add(plugin.name)
                complain("promise cannot be used, the plugin is asked for every pod", plugin, error)
            return None


def _usable(promise: object) -> Promise:
    """The promise itself; a ``ValueError`` for one that makes no sense."""
    if not isinstance(promise, Promise):
        raise ValueError(f"promise returned {promise!r}; return Promise(key=...) or None")
    for name, depends in (("filter", promise.filter), ("score", promise.score)):
        if not isinstance(depends, Depends):
            raise ValueError(f"{name} is {depends!r}; write Depends.{Depends.ANYTHING.name}")
    return promise


def _check(calls: Calls, plugin: Plugin, promise: object) -> None:
    try:
        hash(_usable(promise).key)
    except ValueError as error:
        raise calls.refuse(plugin, "Promise", str(error)) from error
    except TypeError as error:
        raise calls.refuse(plugin, "Promise", f"the key of a promise must be hashable: {error}") from error
