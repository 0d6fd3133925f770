"""
A configuration with other weights of score plugins.

``bayplan compare --weights`` and the weights of a sweep's grid are made here.
"""

from __future__ import annotations

from collections.abc import Mapping

from bayplan.framework.config.model import PluginRef, ProfileConfig, SchedulerConfig


def weighted(config: SchedulerConfig, weights: Mapping[str, int]) -> SchedulerConfig:
    """The same with these weights in every profile; they stand under ``score``, which goes before ``multiPoint``."""
    return config.model_copy(update={"profiles": tuple(_profile(each, weights) for each in config.profiles)})


def _profile(profile: ProfileConfig, weights: Mapping[str, int]) -> ProfileConfig:
    sets = profile.plugins
    others = tuple(each for each in sets.score.enabled if each.name not in weights)
    enabled = (*others, *(PluginRef(name=name, weight=weight) for name, weight in weights.items()))
    score = sets.score.model_copy(update={"enabled": enabled})
    return profile.model_copy(update={"plugins": sets.model_copy(update={"score": score})})
