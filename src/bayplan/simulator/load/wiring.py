"""Which load a simulation has: put together from its objects and its profiles by ``world``."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from math import isnan

from msgspec.structs import replace

from bayplan.engine.scheduler import Scheduler
from bayplan.objects.admission.own_keys import USAGE
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy, published_policy
from bayplan.objects.times import format_time
from bayplan.plugins.dynamic import Dynamic
from bayplan.plugins.dynamic.judging import Judge, Rule
from bayplan.plugins.spare_capacity import SpareCapacity
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.load.simulated_load import LoadOptions, SimulatedLoad
from bayplan.simulator.load.usage_history import parse_metric
from bayplan.simulator.load.usage_profiles import profile_of


def is_profiled(things: Iterable[ApiObject]) -> bool:
    """Does any node or pod say what it uses?  A profile that cannot be read is an ``InputError``."""
    profiles = [profile_of(thing) for thing in things if USAGE in thing.annotations]
    return bool(profiles)


def long_running(pod: Pod, now: float) -> Pod:
    """A pod that is on a node from the start, and says nothing of its own start, has been there for a day."""
    if not pod.node_name or pod.status.start_time:
        return pod
    return pod.evolve(status=replace(pod.status, start_time=format_time(now - 86400)))


def loaded(
    scheduler: Scheduler,
    cluster: SimulatedCluster,
    objects: Sequence[ApiObject],
    now: float,
    options: LoadOptions,
    warn: Callable[[str], None],
) -> SimulatedLoad:
    """The load of a world: with metrics if some profile reads them, with ledgers if one has SpareCapacity."""
    plugins = [plugin for profile in scheduler.profiles.values() for plugin in profile.instances.values()]
    keeps_ledgers = any(isinstance(plugin, SpareCapacity) for plugin in plugins)
    policy: Callable[[], DynamicSchedulerPolicy] | None = published_policy if keeps_ledgers else None
    for plugin in plugins:
        if isinstance(plugin, Dynamic):
            policy = _policy_of(plugin)
            break
    if policy is not None:
        for name in policy().metrics:
            if parse_metric(name) is None:
                warn(f"{name} is not simulated; cpu_usage_active, mem_usage_avg_5m, cpu_usage_p95_15m and the like are")
    nodes = [each for each in objects if isinstance(each, Node)]
    return SimulatedLoad(cluster, nodes, now, policy, options, keeps_ledgers=keeps_ledgers)


def tell_of_old_loads(
    scheduler: Scheduler, objects: Iterable[ApiObject], now: float, warn: Callable[[str], None]
) -> None:
    """Loads that are written and do not count keep nobody away: files are read later than they were made."""
    nodes = [each for each in objects if isinstance(each, Node)]
    for profile in scheduler.profiles.values():
        for plugin in profile.instances.values():
            if isinstance(plugin, Dynamic):
                judge = plugin.judge()
                rules = (*judge.limits, *judge.weights)
                old = sum(any(_is_old(judge, node, rule, now) for rule in rules) for node in nodes)
                if old:
                    warn(
                        f"Dynamic: loads of {old} of {len(nodes)} nodes are too old or dated ahead and do not count; "
                        "--now sets the time, and the argument timeZone the zone of the annotations"
                    )
                return


def _is_old(judge: Judge, node: Node, rule: Rule, now: float) -> bool:
    return isnan(judge.load(node, rule, now)) and any(metric.name in node.annotations for metric in rule.metrics)


def _policy_of(plugin: Dynamic) -> Callable[[], DynamicSchedulerPolicy]:
    return lambda: plugin.judge().policy
