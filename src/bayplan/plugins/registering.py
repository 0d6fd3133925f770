"""
Which plugins a run has, and the profiles made of them.

The simulator and ``app`` call ``registry`` once for the plugins (those of Bayplan, those of installed packages, those
that ``--plugin`` names) and hand ``make_profiles`` to the engine, which gives each profile its handle.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from bayplan.errors import ConfigError
from bayplan.framework.config import MoreMistakes
from bayplan.framework.config_model import PluginConfig, ProfileConfig, SchedulerConfig
from bayplan.framework.handle import Handle
from bayplan.framework.mistakes import Mistake
from bayplan.framework.profile import Profile, build_profiles, find_problems
from bayplan.framework.registry import Registry
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from bayplan.plugins.node_resources_fit import NodeResourcesFit

MakeProfiles = Callable[[Callable[[str], Handle]], Mapping[str, Profile]]
"""Given a handle for each scheduler name, the profiles by that name."""


def registry(specs: Sequence[str] = (), discover: bool = True) -> tuple[Registry, tuple[str, ...]]:
    """All plugins there are, and the names of those that ``specs`` (``module:Class``) brought."""
    known = Registry(IN_TREE)
    if discover:
        known.discover()
    return known, tuple(known.load_spec(spec).name for spec in specs)


def mistakes_of(specs: Sequence[str] = ()) -> MoreMistakes:
    """For ``load_config``: what is wrong with the plugins that a configuration names."""

    def find(config: SchedulerConfig) -> Iterable[Mistake]:
        try:
            known, extra = registry(specs)
        except ConfigError:
            return []  # a plugin that cannot be loaded is told by whoever loads it for good
        return find_problems(config, known, DEFAULT_PLUGINS, extra)

    return find


def make_profiles(
    config: SchedulerConfig,
    known: Registry,
    extra: Iterable[str] = (),
    warn: Callable[[str], None] = lambda warning: None,
) -> MakeProfiles:
    """What the engine calls to get its profiles; ``warn`` hears of settings that have no effect."""
    names = tuple(extra)
    settled = leaving_to_extenders(config)

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


def _ignoring(profile: ProfileConfig, names: list[str]) -> ProfileConfig:
    written = list(profile.plugin_config)
    for index, plugin in enumerate(written):
        if plugin.name == NodeResourcesFit.name:
            # Args that are no mapping are left as they are, for whoever reads them to complain.
            if plugin.args is None or isinstance(plugin.args, dict):
                args = {**(plugin.args or {}), "ignoredResources": names}
                written[index] = plugin.model_copy(update={"args": args})
            break
    else:
        written.append(PluginConfig(name=NodeResourcesFit.name, args={"ignoredResources": names}))
    return profile.model_copy(update={"plugin_config": tuple(written)})
