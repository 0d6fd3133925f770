"""
Which plugins run at which extension point, and in which order: the rules of kube-scheduler, on names alone.

``profile.build_profiles`` calls ``plan`` for each profile of the configuration, and makes the plugins after.
First the profile's ``multiPoint`` set is merged into the default one; then each extension point takes what is
written there and what ``multiPoint`` brings.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from bayplan.errors import ConfigError, InvalidProfileError, UnknownPluginError
from bayplan.framework.config.mistakes import Mistake, did_you_mean, field_path
from bayplan.framework.config.model import EVERY_PLUGIN, PluginSet, ProfileConfig, in_file
from bayplan.framework.plugin import EXTENSION_POINTS, BindPlugin, Plugin, ScorePlugin
from bayplan.framework.plugin_class import points_of
from bayplan.framework.registry import Registry

_POD_GROUP_POINTS = ("placement_generate", "placement_score")


@dataclass(frozen=True, slots=True)
class Listed:
    """A plugin in a list of enabled ones, and where it stands."""

    name: str
    weight: int | None
    path: str


Problem = tuple[type[ConfigError], Mistake]
"""A mistake, and the error it is raised as."""


@dataclass(frozen=True, slots=True)
class Plan:
    """One profile by names: the plugins of each extension point in order, weights, and all that are named."""

    points: dict[str, tuple[str, ...]]
    weights: dict[str, int]
    named: tuple[str, ...]
    problems: tuple[Problem, ...] = ()
    warnings: tuple[Mistake, ...] = ()


def plan(profile: ProfileConfig, path: str, registry: Registry, defaults: Sequence[Listed]) -> Plan:
    """The profile by names.  ``defaults`` are the plugins of ``multiPoint`` that need not be written."""
    multi = merged(defaults, profile.plugins.multi_point, f"{path}.plugins.multiPoint")
    explicit = {
        point: listed(profile.plugins.at(point), f"{path}.plugins.{in_file(point)}") for point in EXTENSION_POINTS
    }
    entries = [*multi, *(entry for written in explicit.values() for entry in written)]
    problems = [*_unknown(registry, entries), *_misplaced(registry, explicit)]
    points = {
        point: expanded(
            [entry.name for entry in explicit[point] if _implements(registry, point, entry.name)],
            [entry.name for entry in multi],
            profile.plugins.at(point).disabled_names,
            partial(_implements, registry, point),
        )
        for point in EXTENSION_POINTS
    }
    weights = score_weights(
        [*explicit["score"], *multi],
        partial(_implements, registry, "score"),
        lambda name: default_weight(registry.get(name)),
    )
    if not problems:
        problems += _incomplete(path, points)
    return Plan(
        points=points,
        weights={name: weights[name] for name in points["score"]},
        named=tuple(dict.fromkeys(entry.name for entry in entries)),
        problems=tuple(problems),
        warnings=(*_without_effect(profile, path, registry), *_never_asked(points["bind"], path, registry)),
    )


def listed(plugins: PluginSet, path: str) -> list[Listed]:
    """The enabled plugins of a set, each with its path."""
    return [
        Listed(ref.name, ref.weight, field_path(path, "enabled", index, "name"))
        for index, ref in enumerate(plugins.enabled)
    ]


def merged(defaults: Sequence[Listed], custom: PluginSet, path: str) -> list[Listed]:
    """
    A set with its defaults: disabled defaults go, a default that is written again keeps its place and takes
    the weight written, and the rest follows in the order written.
    """
    written = {entry.name: entry for entry in listed(custom, path)}
    kept: list[Listed] = []
    if EVERY_PLUGIN not in custom.disabled_names:
        for default in defaults:
            if default.name not in custom.disabled_names:
                kept.append(written.pop(default.name, default))
    return [*kept, *written.values()]


def expanded(
    explicit: Sequence[str], multi: Iterable[str], disabled: frozenset[str], implements: Callable[[str], bool]
) -> tuple[str, ...]:
    """
    The order at one point: what is in both lists, as written at the point; then the other multiPoint plugins;
    then what is written at the point only.  ``*`` under disabled keeps multiPoint away altogether.
    """
    if EVERY_PLUGIN in disabled:
        return tuple(explicit)
    brought = [name for name in multi if implements(name) and name not in disabled]
    overrides = [name for name in explicit if name in brought]
    return (
        *overrides,
        *(name for name in brought if name not in overrides),
        *(name for name in explicit if name not in overrides),
    )


def score_weights(
    entries: Iterable[Listed], is_scorer: Callable[[str], bool], own: Callable[[str], int] = lambda name: 1
) -> dict[str, int]:
    """Weights by name: the first entry counts, and a weight of 0 or none at all is the plugin's own, mostly 1."""
    weights: dict[str, int] = {}
    for entry in entries:
        if is_scorer(entry.name):
            weights.setdefault(entry.name, entry.weight or own(entry.name))
    return weights


def default_weight(cls: type[Plugin]) -> int:
    """What the scores of a plugin count where no weight is written."""
    return cls.default_weight if issubclass(cls, ScorePlugin) else 1


def _implements(registry: Registry, point: str, name: str) -> bool:
    return name in registry and issubclass(registry.get(name), EXTENSION_POINTS[point])


# -- what can be wrong --


def _unknown(registry: Registry, entries: Iterable[Listed]) -> Iterator[Problem]:
    for entry in entries:
        if entry.name not in registry:
            yield UnknownPluginError, Mistake(entry.path, registry.unknown(entry.name))


def _misplaced(registry: Registry, explicit: dict[str, list[Listed]]) -> Iterator[Problem]:
    for point, entries in explicit.items():
        for entry in entries:
            if entry.name in registry and not _implements(registry, point, entry.name):
                points = ", ".join(in_file(known) for known in points_of(registry.get(entry.name)))
                text = f"{entry.name} does not take part in {in_file(point)}, only in {points}"
                yield InvalidProfileError, Mistake(entry.path, text)


def _incomplete(path: str, points: dict[str, tuple[str, ...]]) -> Iterator[Problem]:
    queue_sort = points["queue_sort"]
    if len(queue_sort) != 1:
        found = f"there are {len(queue_sort)}: {', '.join(queue_sort)}" if queue_sort else "there is none"
        rest = ", ".join(f"{{name: {name}}}" for name in queue_sort[:-1])
        advice = f"; disable all but one: plugins: {{queueSort: {{disabled: [{rest}]}}}}" if rest else ""
        text = f"exactly one plugin must sort the queue, but {found}{advice}"
        yield InvalidProfileError, Mistake(f"{path}.plugins.queueSort", text)
    if not points["bind"]:
        text = "at least one plugin must bind, but there is none; enable DefaultBinder"
        yield InvalidProfileError, Mistake(f"{path}.plugins.bind", text)


def _without_effect(profile: ProfileConfig, path: str, registry: Registry) -> Iterator[Mistake]:
    for point, plugins in profile.plugins.sets().items():
        here = f"{path}.plugins.{in_file(point)}"
        if point in _POD_GROUP_POINTS:
            if plugins.enabled:
                yield Mistake(f"{here}.enabled", "is ignored: pod groups are not scheduled")
            continue
        for index, ref in enumerate(plugins.disabled):
            if ref.name not in registry and ref.name != EVERY_PLUGIN:
                guess = did_you_mean(ref.name, registry.names)
                place = field_path(here, "disabled", index, "name")
                yield Mistake(place, f'there is no plugin "{ref.name}" to disable{guess}')


def _never_asked(binders: Sequence[str], path: str, registry: Registry) -> Iterator[Mistake]:
    for index, first in enumerate(binders):
        cls = registry.get(first)
        if issubclass(cls, BindPlugin) and cls.binds_every_pod:
            for name in binders[index + 1 :]:
                text = (
                    f"{name} never binds a pod: {first} comes before it and binds all of them; "
                    f"write plugins: {{bind: {{disabled: [{{name: {first}}}]}}}}"
                )
                yield Mistake(f"{path}.plugins.bind", text)
            return
