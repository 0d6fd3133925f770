"""
Variants of a configuration: the same with other weights.

``bayplan compare --weights`` makes them.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping

from bayplan.errors import InputError
from bayplan.objects.mistakes import nearest
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Workload
from bayplan.plugins.defaults import OWN_PLUGINS
from bayplan.plugins.plugin_set import Plugins
from bayplan.simulator.loading import Given
from bayplan.simulator.weights import weighted
from bayplan.simulator.world import default_config

MAX_WEIGHT = 100_000
_DIGITS = re.compile(r"[0-9]{1,9}")


def read_weights(text: str) -> dict[str, int]:
    """``NodeResourcesFit=5,ImageLocality=2``."""
    found: dict[str, int] = {}
    for part in text.split(","):
        name, equals, number = (each.strip() for each in part.partition("="))
        if not (name and equals and _DIGITS.fullmatch(number) and 0 < int(number) <= MAX_WEIGHT):
            fix = f"write such as NodeResourcesFit=5,ImageLocality=2, each of 1 to {MAX_WEIGHT}"
            raise InputError(f'"{part}" is no weight', field="--weights", fix=fix)
        if name in found:
            raise InputError(f"{name} has two weights", field="--weights", fix="leave one of them out")
        found[name] = int(number)
    return found


def reweighted(given: Given, weights: Mapping[str, int]) -> Given:
    """The same with other weights in every profile."""
    known = {entry.name for entry in given.plugins.known}
    for name in weights:
        if name not in known:
            near = nearest(name, known)
            hint = f'; did you mean "{near}"?' if near else ""
            raise InputError(f'there is no plugin "{name}"{hint}', field="--weights")
    config, plugins = given.config, given.plugins
    if config is None:
        config = default_config(_pods(given))
        plugins = Plugins(plugins.known, (*OWN_PLUGINS, *plugins.extra))
    return dataclasses.replace(given, config=weighted(config, weights), plugins=plugins)


def _pods(given: Given) -> list[Pod]:
    pods = [each for each in given.objects if isinstance(each, Pod)]
    made = (each for each in given.objects if isinstance(each, Workload))
    return [*pods, *(Pod(metadata=each.metadata, spec=each.spec.template.spec) for each in made)]
