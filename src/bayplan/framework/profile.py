"""
A profile: the plugins that schedule the pods of one scheduler name, made and in order.

``app`` and the simulator call ``build_profiles`` once at the start; the engine asks a ``Profile`` for the
plugins of an extension point.  Which plugins those are is decided in ``expansion``; here they get their args
and are made, one instance of each plugin a profile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from bayplan.errors import GO_THROUGH, ConfigError, InvalidArgsError, InvalidProfileError
from bayplan.framework.args import read_args
from bayplan.framework.config import expansion
from bayplan.framework.config.expansion import Listed, Plan, Problem
from bayplan.framework.config.mistakes import Mistake, as_lines, did_you_mean, field_path, one_line
from bayplan.framework.config.model import ProfileConfig, SchedulerConfig
from bayplan.framework.config.validation import find_mistakes
from bayplan.framework.handle import Handle
from bayplan.framework.plugin import Plugin
from bayplan.framework.plugin_class import slips
from bayplan.framework.registry import IN_TREE, Registry

HandleSource: TypeAlias = Handle | Callable[[str], Handle] | None
"""A handle for all profiles, a function that gives one for a scheduler name, or nothing at all."""


@dataclass(frozen=True, slots=True)
class DefaultPlugin:
    """A plugin that every profile has at ``multiPoint`` unless it says otherwise."""

    name: str
    weight: int = 1


@dataclass(frozen=True, slots=True)
class Profile:
    """The plugins of one scheduler name."""

    scheduler_name: str
    plugins: Mapping[str, tuple[Plugin, ...]]
    weights: Mapping[str, int]
    """Of the plugins at score, by name."""
    percentage_of_nodes_to_score: int | None = None
    """The profile's own, else the configuration's; None where neither says anything."""
    instances: Mapping[str, Plugin] = field(default_factory=dict)
    """Every plugin that was made, by name, also those that are disabled at all their points."""

    def extension(self, point: str) -> tuple[Any, ...]:
        """The plugins of an extension point, in the order they run."""
        return self.plugins[point]


def build_profiles(
    config: SchedulerConfig,
    registry: Registry,
    defaults: Sequence[DefaultPlugin],
    handle: HandleSource = None,
    extra_enabled: Iterable[str] = (),
) -> tuple[dict[str, Profile], list[str]]:
    """
    The profiles by scheduler name, and warnings.

    ``extra_enabled`` are plugins that were asked for outside the configuration, by ``--plugin``: those that it
    does not name anywhere join every profile at all their points.

    Raises:
        UnknownPluginError, InvalidArgsError, InvalidProfileError: whichever comes first, with all lines.
    """
    mistakes = find_mistakes(config)
    _raise_if([(InvalidProfileError, mistake) for mistake in mistakes], config.source)
    drafts = _drafts(config, registry, defaults, extra_enabled)
    problems = [problem for draft in drafts for problem in draft.problems]
    _raise_if(problems or list(_queue_sorts_differ(drafts)), config.source)
    profiles = [draft.made(config, registry, handle) for draft in drafts]
    _raise_if([problem for draft in drafts for problem in draft.problems], config.source)
    warnings = [warning for draft in drafts for warning in draft.warnings]
    lines = as_lines(dict.fromkeys(warnings), config.source).splitlines()
    return {profile.scheduler_name: profile for profile in profiles}, lines


def find_problems(
    config: SchedulerConfig,
    registry: Registry,
    defaults: Sequence[DefaultPlugin],
    extra_enabled: Iterable[str] = (),
) -> list[Mistake]:
    """What is wrong with the plugins and args of a configuration, also of one that has other mistakes."""
    drafts = _drafts(config, registry, defaults, extra_enabled)
    return [mistake for draft in drafts for _, mistake in draft.problems]


def _drafts(
    config: SchedulerConfig, registry: Registry, defaults: Sequence[DefaultPlugin], extra_enabled: Iterable[str]
) -> list[_Draft]:
    always = [Listed(default.name, default.weight, "default plugins") for default in defaults]
    always += [
        Listed(name, None, "--plugin")
        for name in dict.fromkeys(extra_enabled)
        if not _is_named(config, name) and name not in {entry.name for entry in always}
    ]
    return [
        _Draft(profile, field_path("profiles", index), registry, always)
        for index, profile in enumerate(config.profiles)
    ]


class _Draft:
    """A profile on its way: the plan, then the args, then the plugins."""

    def __init__(self, profile: ProfileConfig, path: str, registry: Registry, always: Sequence[Listed]) -> None:
        self.profile = profile
        self.path = path
        self.plan: Plan = expansion.plan(profile, path, registry, always)
        self.problems: list[Problem] = list(self.plan.problems)
        self.warnings: list[Mistake] = [*self.plan.warnings, *_slips(self.plan.named, registry)]
        self.args: dict[str, Any] = {}
        self._read_args(registry)

    def _read_args(self, registry: Registry) -> None:
        written = {
            config.name: (config.args, field_path(self.path, "pluginConfig", index))
            for index, config in enumerate(self.profile.plugin_config)
        }
        for name, (_, place) in written.items():
            if name not in registry:
                guess = did_you_mean(name, registry.names)
                self.warnings.append(Mistake(f"{place}.name", f'there is no plugin "{name}" to configure{guess}'))
            elif name not in self.plan.named:
                self.warnings.append(Mistake(f"{place}.name", f"{name} is not enabled, so its args have no effect"))
        for name in dict.fromkeys((*self.plan.named, *written)):
            if name in registry:
                raw, place = written.get(name, (None, f"{self.path}.pluginConfig({name})"))
                self.args[name], mistakes = read_args(registry.get(name), raw, f"{place}.args")
                self.problems += [(InvalidArgsError, mistake) for mistake in mistakes]

    def queue_sort(self) -> tuple[str, Any]:
        (name,) = self.plan.points["queue_sort"]
        return name, self.args[name]

    def made(self, config: SchedulerConfig, registry: Registry, handle: HandleSource) -> Profile:
        """The profile with its plugins.  One that cannot be made becomes a problem."""
        own_handle = handle(self.profile.scheduler_name) if callable(handle) else handle
        instances = {
            name: plugin
            for name in self.plan.named
            if (plugin := self._plugin(registry.get(name), own_handle)) is not None
        }
        percentage = self.profile.percentage_of_nodes_to_score
        return Profile(
            scheduler_name=self.profile.scheduler_name,
            plugins={
                point: tuple(instances[name] for name in names if name in instances)
                for point, names in self.plan.points.items()
            },
            weights=self.plan.weights,
            percentage_of_nodes_to_score=config.percentage_of_nodes_to_score if percentage is None else percentage,
            instances=instances,
        )

    def _plugin(self, cls: type[Plugin], handle: Handle | None) -> Plugin | None:
        try:
            return cls(self.args[cls.name], handle)
        except (ConfigError, ValueError) as error:
            self.problems.append((InvalidArgsError, Mistake(self.path, f"plugin {cls.name}: {error}")))
        except GO_THROUGH:
            raise
        except BaseException as error:  # a constructor may do anything, also end the process; say whose it was
            text = f"plugin {cls.name} could not be made: {one_line(error)}"
            self.problems.append((InvalidProfileError, Mistake(self.path, text)))
        return None


def _slips(names: Iterable[str], registry: Registry) -> Iterator[Mistake]:
    for name in names:
        if name in registry and registry.origin(name) != IN_TREE:
            yield from (Mistake(f"plugin {name}", slip) for slip in slips(registry.get(name)))


def _is_named(config: SchedulerConfig, name: str) -> bool:
    return any(
        ref.name == name
        for profile in config.profiles
        for plugins in profile.plugins.sets().values()
        for ref in (*plugins.enabled, *plugins.disabled)
    )


def _queue_sorts_differ(drafts: Sequence[_Draft]) -> Iterable[Problem]:
    """There is one queue, so the profiles must agree how it is sorted."""
    name, args = drafts[0].queue_sort()
    for draft in drafts[1:]:
        other, other_args = draft.queue_sort()
        if other != name:
            text = f"{other} sorts the queue here, but {name} in {drafts[0].path}; there is one queue for all"
            yield InvalidProfileError, Mistake(f"{draft.path}.plugins.queueSort", text)
        elif other_args != args:
            text = f"the args of {name}, which sorts the queue, must be the same as in {drafts[0].path}"
            yield InvalidProfileError, Mistake(f"{draft.path}.pluginConfig", text)


def _raise_if(problems: Sequence[Problem], source: str) -> None:
    """Raise what comes first, with all lines."""
    if problems:
        kind = problems[0][0]
        raise kind(as_lines((mistake for _, mistake in problems), source))
