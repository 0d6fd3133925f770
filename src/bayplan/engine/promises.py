"""
What the plugins of a profile promise for a template, asked for once and kept while no API object changes.

``engine.kept`` keeps answers on the strength of these, and ``engine.node_filters`` knows by them which filters go by
columns alone.  A plugin whose promise cannot be used promises nothing: it is asked every time, which is always right.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayplan.bounded_cache import BoundedCache
from bayplan.engine.plugin_calls import Calls, complain
from bayplan.engine.store import Store
from bayplan.errors import PluginError
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
            promised: dict[str, Promise] = {}
            for plugin in self._plugins:
                promise = self._promise(plugin, calls, template)
                if promise is not None:
                    promised[plugin.name] = promise
            known = self._known[template] = version, promised
        return known[1]

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


def _check(calls: Calls, plugin: Plugin, promise: object) -> None:
    if not isinstance(promise, Promise):
        raise calls.refuse(plugin, "Promise", f"promise returned {promise!r}; return Promise(key=...) or None")
    filter_by: object = promise.filter
    score_by: object = promise.score
    if not (isinstance(filter_by, Depends) and isinstance(score_by, Depends)):
        name, depends = ("score", score_by) if isinstance(filter_by, Depends) else ("filter", filter_by)
        raise calls.refuse(plugin, "Promise", f"{name} is {depends!r}; write Depends.{Depends.ANYTHING.name}")
    try:
        hash(promise.key)
    except TypeError as error:
        raise calls.refuse(plugin, "Promise", f"the key of a promise must be hashable: {error}") from error
