"""
Which plugins a run has, and the profiles made of them.

The simulator and ``app`` call ``registry`` once for the plugins (those of Bayplan, those of installed packages, those
that ``--plugin`` names) and hand ``make_profiles`` to the engine, which gives each profile its handle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from bayplan.framework.config.loading import MoreMistakes
from bayplan.framework.config.model import PluginConfig, ProfileConfig, SchedulerConfig
from bayplan.framework.handle import Handle
from bayplan.framework.profile import Profile, build_profiles, find_problems
from bayplan.framework.registry import Registry
from bayplan.objects import spare
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.plugins.spare_capacity import SpareCapacity

MakeProfiles = Callable[[Callable[[str], Handle]], Mapping[str, Profile]]
"""Given a handle for each scheduler name, the profiles by that name."""


class Plugins(NamedTuple):
    """The plugins of a run: all there are, and the names of those that were asked for beside the configuration."""

    known: Registry
    extra: tuple[str, ...] = ()

    @property
    def reads(self) -> frozenset[str]:
        """The kinds that any of them reads."""
        return frozenset(kind for entry in self.known for kind in entry.cls.kinds_read())


def registry(specs: Sequence[str] = (), discover: bool = True) -> Plugins:
    """
    All plugins there are; ``specs`` (``module:Class``) are asked for.

    Call it before any object is read: plugins bring kinds with them.
    """
    known = Registry(IN_TREE)
    if discover:
        known.discover()
    return Plugins(known, tuple(known.load_spec(spec).name for spec in specs))


def mistakes_of(plugins: Plugins) -> MoreMistakes:
    """For ``load_config``: what is wrong with the plugins that a configuration names."""
    return lambda config: find_problems(config, plugins.known, DEFAULT_PLUGINS, plugins.extra)


def make_profiles(
    config: SchedulerConfig,
    known: Registry,
    extra: Iterable[str] = (),
    warn: Callable[[str], None] = lambda warning: None,
) -> MakeProfiles:
    """What the engine calls to get its profiles; ``warn`` hears of settings that have no effect."""
    names = tuple(extra)
    settled = leaving_spare_capacity(leaving_to_extenders(config))

    def made(handle_for: Callable[[str], Handle]) -> Mapping[str, Profile]:
        profiles, warnings = build_profiles(settled, known, DEFAULT_PLUGINS, handle_for, names)
        for warning in warnings:
            warn(warning)
        return profiles

    return made


def leaving_to_extenders(config: SchedulerConfig) -> SchedulerConfig:
    """
    The configuration in which NodeResourcesFit leaves alone what an extender manages and wants ignored.

    As in kube-scheduler the names replace what a profile's own ``ignoredResources`` says.
    """
    names = [
        resource.name
        for extender in config.extenders
        for resource in extender.managed_resources
        if resource.ignored_by_scheduler
    ]
    if not names:
        return config
    return config.model_copy(update={"profiles": tuple(_ignoring(profile, names) for profile in config.profiles)})


def leaving_spare_capacity(config: SchedulerConfig) -> SchedulerConfig:
    """The configuration in which NodeResourcesFit leaves spare resources to SpareCapacity, where that is enabled."""
    profiles = tuple(
        _with_fit_args(profile, _ignoring_spare) if _enables(profile, SpareCapacity.name) else profile
        for profile in config.profiles
    )
    return config if profiles == config.profiles else config.model_copy(update={"profiles": profiles})


def _enables(profile: ProfileConfig, name: str) -> bool:
    return any(ref.name == name for plugins in profile.plugins.sets().values() for ref in plugins.enabled)


def _ignoring_spare(args: dict[str, Any]) -> dict[str, Any]:
    groups = args.get("ignoredResourceGroups") or []
    if not isinstance(groups, list) or spare.GROUP in groups:
        return args
    return {**args, "ignoredResourceGroups": [*groups, spare.GROUP]}


def _ignoring(profile: ProfileConfig, names: list[str]) -> ProfileConfig:
    return _with_fit_args(profile, lambda args: {**args, "ignoredResources": names})


def _with_fit_args(profile: ProfileConfig, change: Callable[[dict[str, Any]], dict[str, Any]]) -> ProfileConfig:
    """The profile with other args for NodeResourcesFit."""
    written = list(profile.plugin_config)
    for index, plugin in enumerate(written):
        if plugin.name == NodeResourcesFit.name:
            # Args that are no mapping are left as they are, for the plugin to complain.
            if plugin.args is None or isinstance(plugin.args, dict):
                written[index] = plugin.model_copy(update={"args": change(plugin.args or {})})
            break
    else:
        written.append(PluginConfig(name=NodeResourcesFit.name, args=change({})))
    return profile.model_copy(update={"plugin_config": tuple(written)})
