"""
A configuration with other weights of score plugins.

``bayplan compare --weights`` and the weights of a sweep's grid are made here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from bayplan.errors import InputError
from bayplan.framework.config.model import PluginRef, ProfileConfig, SchedulerConfig
from bayplan.objects.mistakes import nearest
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Workload
from bayplan.plugins.defaults import OWN_PLUGINS
from bayplan.plugins.plugin_set import Plugins
from bayplan.simulator.loading import Given
from bayplan.simulator.world import default_config


def reweighted(given: Given, weights: Mapping[str, int], field: str) -> Given:
    """A cluster whose scheduler has these weights in every profile; ``field`` is where they are written."""
    known = {entry.name for entry in given.plugins.known}
    for name in weights:
        if name not in known:
            near = nearest(name, known)
            hint = f'; did you mean "{near}"?' if near else ""
            raise InputError(f'there is no plugin "{name}"{hint}', field=field)
    config, plugins = given.config, given.plugins
    if config is None:
        config = default_config(_pods(given))
        plugins = Plugins(plugins.known, (*OWN_PLUGINS, *plugins.extra))
    return dataclasses.replace(given, config=_weighted(config, weights), plugins=plugins)


def _pods(given: Given) -> list[Pod]:
    pods = [each for each in given.objects if isinstance(each, Pod)]
    made = (each for each in given.objects if isinstance(each, Workload))
    return [*pods, *(Pod(metadata=each.metadata, spec=each.spec.template.spec) for each in made)]


def _weighted(config: SchedulerConfig, weights: Mapping[str, int]) -> SchedulerConfig:
    """The same with these weights in every profile; they stand under ``score``, which goes before ``multiPoint``."""
    return config.model_copy(update={"profiles": tuple(_profile(each, weights) for each in config.profiles)})


def _profile(profile: ProfileConfig, weights: Mapping[str, int]) -> ProfileConfig:
    sets = profile.plugins
    others = tuple(each for each in sets.score.enabled if each.name not in weights)
    enabled = (*others, *(PluginRef(name=name, weight=weight) for name, weight in weights.items()))
    score = sets.score.model_copy(update={"enabled": enabled})
    return profile.model_copy(update={"plugins": sets.model_copy(update={"score": score})})
