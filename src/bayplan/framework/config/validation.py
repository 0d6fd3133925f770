"""
What the fields of a configuration must not say together, beyond their types.

``config.load_config`` asks after reading a file, ``profile.build_profiles`` before it makes anything.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from bayplan.framework.config.mistakes import Mistake, field_path, shown
from bayplan.framework.config.model import (
    EVERY_PLUGIN,
    Extender,
    LeaderElection,
    PluginRef,
    ProfileConfig,
    SchedulerConfig,
    in_file,
)
from bayplan.framework.plugin import MAX_WEIGHT
from bayplan.objects.requirement import check_key
from bayplan.objects.resources import is_extended_name

MAX_INT32, MAX_INT64 = 2**31 - 1, 2**63 - 1

REMOVED_PLUGINS = frozenset({"AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits"})
"""In-tree volume limits of older releases; NodeVolumeLimits counts all volumes now."""


def find_mistakes(config: SchedulerConfig, allows_removed: bool = False) -> list[Mistake]:
    """Every mistake there is; ``allows_removed`` lets plugins pass that older versions had."""
    found = [
        *_numbers(config),
        *_leader_election(config.leader_election),
        *_profiles(config.profiles),
        *_common_queue_sort(config.profiles),
        *_extenders(config.extenders),
    ]
    return found if allows_removed else found + list(_removed(config.profiles))


def _numbers(config: SchedulerConfig) -> Iterator[Mistake]:
    if config.parallelism <= 0:
        yield Mistake("parallelism", f"must be greater than 0, not {config.parallelism}")
    yield from _at_most("parallelism", config.parallelism, MAX_INT32)
    yield from _at_most("clientConnection.burst", config.client_connection.burst, MAX_INT32)
    yield from _at_most("podInitialBackoffSeconds", config.pod_initial_backoff_seconds, MAX_INT64)
    yield from _at_most("podMaxBackoffSeconds", config.pod_max_backoff_seconds, MAX_INT64)
    yield from _percentage("percentageOfNodesToScore", config.percentage_of_nodes_to_score)
    if config.client_connection.burst < 0:
        yield Mistake("clientConnection.burst", f"must be 0 or more, not {config.client_connection.burst}")
    first, most = config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds
    if first <= 0:
        yield Mistake("podInitialBackoffSeconds", f"must be greater than 0, not {first}")
    if most < first:
        yield Mistake("podMaxBackoffSeconds", f"must be at least podInitialBackoffSeconds ({first}), not {most}")


def _at_most(path: str, number: int, most: int) -> Iterator[Mistake]:
    """Numbers in the file have as many bits as in kube-scheduler's."""
    if number > most:
        yield Mistake(path, f"must be at most {most}, not {number}")


def _percentage(path: str, value: int | None) -> Iterator[Mistake]:
    if value is not None and not 0 <= value <= 100:
        yield Mistake(path, f"must be from 0 to 100, not {value}")


def _leader_election(election: LeaderElection) -> Iterator[Mistake]:
    if not election.leader_elect:
        return
    for name in ("lease_duration_s", "renew_deadline_s", "retry_period_s"):
        if getattr(election, name) <= 0:
            yield Mistake(f"leaderElection.{in_file(name)}", "must be greater than 0s")
    if election.lease_duration_s <= election.renew_deadline_s:
        yield Mistake("leaderElection.leaseDuration", "must be greater than renewDeadline")
    if election.resource_lock != "leases":
        yield Mistake("leaderElection.resourceLock", f'must be "leases", not {shown(election.resource_lock)}')


def _profiles(profiles: Sequence[ProfileConfig]) -> Iterator[Mistake]:
    seen: dict[str, str] = {}
    for index, profile in enumerate(profiles):
        path = field_path("profiles", index)
        name_path = f"{path}.schedulerName"
        if not profile.scheduler_name:
            yield Mistake(name_path, "is missing, but required: pods choose the profile by it")
        elif profile.scheduler_name in seen:
            first = seen[profile.scheduler_name]
            yield Mistake(name_path, f'"{profile.scheduler_name}" is taken by {first}; names must differ')
        seen.setdefault(profile.scheduler_name, name_path)
        yield from _percentage(f"{path}.percentageOfNodesToScore", profile.percentage_of_nodes_to_score)
        yield from _plugin_sets(path, profile)
        yield from _repeated(f"{path}.pluginConfig", (config.name for config in profile.plugin_config))
        if len(profile.plugins.placement_generate.enabled) > 1:
            yield Mistake(f"{path}.plugins.placementGenerate.enabled", "at most one plugin can generate placements")


def _plugin_sets(path: str, profile: ProfileConfig) -> Iterator[Mistake]:
    for point, plugins in profile.plugins.sets().items():
        here = f"{path}.plugins.{in_file(point)}"
        yield from _repeated(f"{here}.enabled", (ref.name for ref in plugins.enabled))
        for index, ref in enumerate(plugins.enabled):
            yield from _entry(field_path(f"{here}.enabled", index), ref)
        for index, ref in enumerate(plugins.disabled):
            if not ref.name:
                yield Mistake(field_path(f"{here}.disabled", index, "name"), "must not be empty")


def _entry(path: str, ref: PluginRef) -> Iterator[Mistake]:
    if ref.name == EVERY_PLUGIN:
        yield Mistake(f"{path}.name", '"*" stands for all plugins under disabled only; name one plugin here')
    if ref.weight is not None and ref.weight < 0:
        yield Mistake(f"{path}.weight", f"must be 0 or more, not {ref.weight}")
    yield from _at_most(f"{path}.weight", ref.weight or 0, MAX_WEIGHT)


def _repeated(path: str, names: Iterable[str]) -> Iterator[Mistake]:
    seen: set[str] = set()
    for index, name in enumerate(names):
        if not name:
            yield Mistake(field_path(path, index, "name"), "must not be empty")
        elif name in seen:
            yield Mistake(field_path(path, index, "name"), f'"{name}" is listed twice; keep one')
        seen.add(name)


def _removed(profiles: Sequence[ProfileConfig]) -> Iterator[Mistake]:
    for index, profile in enumerate(profiles):
        path = field_path("profiles", index)
        for point, plugins in profile.plugins.sets().items():
            yield from _removed_in(f"{path}.plugins.{in_file(point)}.enabled", (ref.name for ref in plugins.enabled))
        yield from _removed_in(f"{path}.pluginConfig", (config.name for config in profile.plugin_config))


def _removed_in(path: str, names: Iterable[str]) -> Iterator[Mistake]:
    for index, name in enumerate(names):
        if name in REMOVED_PLUGINS:
            yield Mistake(
                field_path(path, index, "name"),
                f'"{name}" is not part of v1; remove it, NodeVolumeLimits does its work',
            )


def _common_queue_sort(profiles: Sequence[ProfileConfig]) -> Iterator[Mistake]:
    """The queue is one for all profiles, so all must sort it the same way."""
    first = profiles[0]
    common = first.plugins.queue_sort
    if len(common.enabled) > 1:
        yield Mistake("profiles[0].plugins.queueSort.enabled", "only one queue sort plugin can be enabled")
    name = common.enabled[0].name if common.enabled else None
    common_args = {config.name: config.args for config in first.plugin_config}.get(name or "")
    for index, profile in enumerate(profiles[1:], start=1):
        path = field_path("profiles", index)
        if profile.plugins.queue_sort != common:
            yield Mistake(f"{path}.plugins.queueSort", "must be the same as in profiles[0]: there is one queue")
        for position, config in enumerate(profile.plugin_config):
            if config.name == name and config.args != common_args:
                here = field_path(f"{path}.pluginConfig", position, "args")
                yield Mistake(here, f"the args of queue sort plugin {name} must be the same as in profiles[0]")


def _extenders(extenders: Sequence[Extender]) -> Iterator[Mistake]:
    binders: list[str] = []
    resources: set[str] = set()
    for index, extender in enumerate(extenders):
        path = field_path("extenders", index)
        if not extender.url_prefix:
            yield Mistake(f"{path}.urlPrefix", 'must not be empty; write the address, such as "http://host:port/path"')
        if extender.prioritize_verb and extender.weight <= 0:
            yield Mistake(f"{path}.weight", f"must be greater than 0 with a prioritizeVerb, not {extender.weight}")
        yield from _at_most(f"{path}.weight", extender.weight, MAX_INT64)
        if extender.bind_verb:
            binders.append(path)
            if len(binders) > 1:
                yield Mistake(f"{path}.bindVerb", f"only one extender can bind, and {binders[0]} does already")
        for position, resource in enumerate(extender.managed_resources):
            name_path = field_path(f"{path}.managedResources", position, "name")
            yield from _managed_name(name_path, resource.name, resources)
            resources.add(resource.name)


def _managed_name(path: str, name: str, seen: set[str]) -> Iterator[Mistake]:
    try:
        check_key(name)
        is_valid = is_extended_name(name)
    except ValueError:
        is_valid = False
    if not is_valid:
        yield Mistake(path, f'"{name}" is not an extended resource; write a name such as "example.com/gpu"')
    elif name in seen:
        yield Mistake(path, f'"{name}" is managed already; name each resource once')
