"""
Reads a KubeSchedulerConfiguration: a mapping from YAML in, a checked ``SchedulerConfig`` and warnings out.

The commands and the simulator call ``load_config``.  Every mistake in a file is reported at once, one line
each, with its path.  Versions before v1 are brought into v1's shape first; ``model`` holds the shape.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

from pydantic import ValidationError

from bayplan.errors import ConfigError
from bayplan.framework.args import without_nulls
from bayplan.framework.config import legacy, legacy_plugins
from bayplan.framework.config.mistakes import Mistake, as_lines, found_by_pydantic, shown
from bayplan.framework.config.model import SchedulerConfig
from bayplan.framework.config.validation import find_mistakes

KIND = "KubeSchedulerConfiguration"
GROUP = "kubescheduler.config.k8s.io"
API_VERSION = f"{GROUP}/v1"


MoreMistakes: TypeAlias = "Callable[[SchedulerConfig], Iterable[Mistake]]"
"""Finds what is wrong beyond the shape of the file: unknown plugins, args that make no sense."""


def load_config(
    raw: Any, source: str, more_mistakes: MoreMistakes = lambda config: ()
) -> tuple[SchedulerConfig, list[str]]:
    """
    The configuration in a document, and warnings about what was converted or left out.  If there are mistakes,
    ``more_mistakes`` is asked too, so that all of them are told at once.

    Raises:
        ConfigError: one line for each mistake, with the file and the path in front.
    """
    if not isinstance(raw, dict):
        raise ConfigError(f"{source}: must be a {KIND} (a mapping), not {shown(raw)}")
    version, mistakes = _version(raw)
    body = _tidy({key: value for key, value in raw.items() if key not in ("apiVersion", "kind")})
    warnings: list[Mistake] = []
    is_legacy = version in legacy.VERSIONS
    if is_legacy:
        body, warnings = legacy.converted(body, version)
    config, found = _read(body)
    mistakes += found
    mistakes += _elsewhere(find_mistakes(config, allows_removed=is_legacy), mistakes)
    if is_legacy and not mistakes:
        config, more, mistakes = legacy_plugins.converted(config, version)
        warnings += more
    if mistakes:
        mistakes += _elsewhere(more_mistakes(config), mistakes)
        raise ConfigError(as_lines(mistakes, source))
    return config.read_from(source), [f"{source}: {warning}" for warning in warnings]


def _version(raw: dict[str, Any]) -> tuple[str, list[Mistake]]:
    """The part of ``apiVersion`` behind the group, and what is wrong with the head of the document."""
    mistakes = []
    if raw.get("kind") != KIND:
        mistakes.append(Mistake("kind", f'must be "{KIND}", not {shown(raw.get("kind"))}'))
    api_version = raw.get("apiVersion")
    known = [f"{GROUP}/{version}" for version in ("v1", *legacy.VERSIONS)]
    if api_version not in known:
        mistakes.append(Mistake("apiVersion", f'must be "{API_VERSION}", not {shown(api_version)}'))
        return "v1", mistakes
    return str(api_version).rpartition("/")[2], mistakes


def _tidy(body: dict[str, Any]) -> dict[str, Any]:
    """A copy to work on, as JSON has it and without nulls.  Plugin args keep theirs: the plugin may mind."""
    given: dict[str, Any] = json.loads(json.dumps(body, default=str))
    tidy: dict[str, Any] = without_nulls(given)
    for before, after in zip(_plugin_configs(given), _plugin_configs(tidy), strict=True):
        if "args" in before:
            after["args"] = before["args"]
    return tidy


def _plugin_configs(body: dict[str, Any]) -> Iterable[dict[str, Any]]:
    """Every well-formed ``pluginConfig`` entry; v1alpha1 has them at the top."""
    profiles = body.get("profiles")
    for holder in (body, *(profiles if isinstance(profiles, list) else ())):
        configs = holder.get("pluginConfig") if isinstance(holder, dict) else None
        if isinstance(configs, list):
            yield from (config for config in configs if isinstance(config, dict))


def _read(body: dict[str, Any]) -> tuple[SchedulerConfig, list[Mistake]]:
    """The configuration, and mistakes in its shape; what is wrong is left out, to judge the rest."""
    mistakes: list[Mistake] = []
    while True:
        text = json.dumps(body)
        try:
            return SchedulerConfig.model_validate_json(text, strict=True, by_alias=True, by_name=False), mistakes
        except ValidationError as error:
            mistakes += _elsewhere(found_by_pydantic(error, SchedulerConfig), mistakes)
            for detail in error.errors(include_url=False):
                _leave_out(body, detail["loc"], is_missing=detail["type"] == "missing")


def _leave_out(body: dict[str, Any], loc: tuple[str | int, ...], is_missing: bool) -> None:
    """Take a wrong value out.  A wrong list item takes its list along: positions of others must not shift."""
    *way, last = loc
    while isinstance(last, int):
        *way, last = way
    holder: Any = body
    for step in way:
        try:
            holder = holder[step]
        except (KeyError, IndexError, TypeError):
            return
    if is_missing:
        holder[last] = ""  # only texts are required
    else:
        holder.pop(last, None)


def _elsewhere(found: Iterable[Mistake], known: Iterable[Mistake]) -> list[Mistake]:
    """Those at a path that has no complaint yet: one mistake gets one line."""
    paths = {mistake.path for mistake in known}
    return [mistake for mistake in found if mistake.path not in paths]
