"""
From what was given to a world in which something can happen: clock, cluster and engine, put together.

``simulation`` lets the world run; ``explanation`` asks its engine about one pod.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

from bayplan.clock import VirtualClock
from bayplan.engine.events import NodeAdded
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.config.model import DEFAULT_SCHEDULER_NAME, ProfileConfig, SchedulerConfig
from bayplan.framework.profile import Profile
from bayplan.framework.registry import IN_TREE, Registry
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget
from bayplan.objects.workload import Workload
from bayplan.plugins.defaults import OWN_PLUGINS
from bayplan.plugins.leaf_node_workload_policy.reading import asks
from bayplan.plugins.plugin_set import make_profiles
from bayplan.simulator.cluster import SimulatedCluster, added
from bayplan.simulator.controllers.device_taint_eviction import DeviceTaintEvictions
from bayplan.simulator.controllers.disruption_budgets import DisruptionController
from bayplan.simulator.controllers.taint_eviction import TaintEvictions
from bayplan.simulator.controllers.volumes import Volumes
from bayplan.simulator.controllers.workloads import Workloads
from bayplan.simulator.explain.subject import Subject
from bayplan.simulator.load.simulated_load import LoadOptions, SimulatedLoad
from bayplan.simulator.load.wiring import is_profiled, loaded, long_running, tell_of_old_loads
from bayplan.simulator.loading import Given
from bayplan.simulator.object_store import StoredObjects
from bayplan.simulator.policy_checking import without_effect
from bayplan.simulator.rebalancer import Rebalancing, wants_rebalancing
from bayplan.simulator.run_history import RunHistory
from bayplan.simulator.sizing import check_size
from bayplan.simulator.timed_changes import Changes
from bayplan.simulator.timetable import Arrivals, Timetable, delays
from bayplan.simulator.traces.arranging import arranged
from bayplan.text_layout import listed

_FEW = 5


@dataclass(frozen=True, slots=True)
class World:
    """A cluster and the scheduler that looks at it, in one virtual time."""

    clock: VirtualClock
    cluster: SimulatedCluster
    scheduler: Scheduler
    workloads: Workloads
    started_at: float
    changes: Changes
    happenings: list[Timetable] = field(default_factory=list)
    """What happens by itself when its time comes."""
    history: RunHistory | None = None
    """What is noted while it runs, where somebody wants to look at it afterwards."""

    @property
    def load(self) -> SimulatedLoad | None:
        """Real use, where it is simulated."""
        return next((each for each in self.happenings if isinstance(each, SimulatedLoad)), None)

    @property
    def rebalancing(self) -> Rebalancing | None:
        """Who looks after workload policies, where one asks for it."""
        return next((each for each in self.happenings if isinstance(each, Rebalancing)), None)

    def deliver(self) -> None:
        """Tell the scheduler what happened.  Events from outside ask for nothing to be done at once."""
        events, handle = self.cluster.events, self.scheduler.handle
        rebalancing = self.rebalancing if events else None
        while events:
            event = events.popleft()
            handle(event)
            if rebalancing is not None:
                rebalancing.observed.note(event)


Look = Callable[[str, World], None]
"""Is given what a world is called, such as before and after, and the world: it came to rest, and will go on."""


def assemble(
    given: Given,
    *,
    seed: int = 0,
    now: float | None = None,
    only: Subject | None = None,
    remember_classes: bool = True,
    keeps_history: bool = False,
    load: LoadOptions | None = None,
    prospects: Sequence[ApiObject] | None = None,
    warn: Callable[[str], None] = lambda warning: None,
) -> World:
    """
    The world at its first moment, with everything in it told to the scheduler.

    Args:
        now: the wall clock (epoch seconds) at which virtual time starts; the real one if it is not given.
        only: the pod or workload all this is about.  Without a configuration its scheduler is then the only one that
            is known, and pods of others, with their nominations, are none of its business.
        remember_classes: whether what was found for a pod is carried to the next of its kind; decisions are the same.
        keeps_history: whether every attempt is noted with its scores; all plugins are asked for each pod then.
        load: simulate real use, if a usage profile is given; without it nothing is measured.
        prospects: what may come beside, where more will be changed than what is given.  Then any pod may have to be
            placed, and every disruption budget goes by the pods, also one whose file says how it stands.
        warn: hears of everything that has no effect.
    """
    for warning in given.warnings:
        warn(warning)
    for arrangement in given.arrangements:
        given = replace(given, objects=arranged(given.objects, arrangement, seed))
    check_size(given)
    clock = VirtualClock(time.time() if now is None else now)
    workloads = Workloads(given.objects, seed)
    # What a live cluster has not made is not there.
    pods = [each for each in given.objects if isinstance(each, Pod)] if given.is_live else list(workloads.begin())
    config = (
        given.config
        if given.config is not None
        else default_config(_concerned(given, pods, workloads, only, prospects))
    )
    volumes = Volumes((*given.objects, *workloads.made), lambda thing: _has_status(given, thing))
    stored = StoredObjects(each for each in (*given.objects, *workloads.made) if not isinstance(each, Node | Pod))
    budgets = _budgets(given, workloads, prospects is not None)
    cluster = SimulatedCluster(clock, workloads, budgets, volumes, stored)
    scheduler = make_scheduler(
        given, config, cluster, clock, seed, warn, remember_classes=remember_classes and not keeps_history
    )
    if only is None:
        _warn_of_nobody(config, pods, warn)
    asked = [pod for pod in pods if only is None or only.covers(pod, workloads)]
    for warning in without_effect(given, asked, is_all=only is None):
        warn(warning)
    _warn_of_left_out(given, _own_plugins(scheduler.profiles.values(), given.plugins.known), warn)
    changes = Changes(cluster, workloads, budgets, volumes, clock)
    changes.plan(given.later, given.ends)
    history = RunHistory(scheduler.queue, clock) if keeps_history else None
    world = World(clock, cluster, scheduler, workloads, clock.now(), changes, history=history)
    world.happenings.extend((changes, changes.rollouts, TaintEvictions(cluster, workloads.nodes, clock)))
    if any(isinstance(each, ResourceSlice) for each in (*given.objects, *(thing for _, thing in given.later))):
        world.happenings.append(DeviceTaintEvictions(cluster, clock))
    if wants_rebalancing(given):
        world.happenings.append(Rebalancing(scheduler, cluster, clock))
    has_load = load is not None and is_profiled((*given.objects, *pods))
    _populate(world, given, volumes, [long_running(pod, clock.now()) for pod in pods] if has_load else pods)
    _miss_nodes(world, given, warn, collect=only is None)
    if load is None or not has_load:
        tell_of_old_loads(scheduler, given.objects, clock.now(), warn)
    else:
        simulated = loaded(world.scheduler, cluster, given.objects, clock.now(), load, warn)
        world.happenings.append(simulated)
        changes.on_node = simulated.node_changed
        later = [each.name for _, each in given.later if isinstance(each, Node) and each.name not in simulated.nodes]
        if later:
            warn(f"the load of nodes that come later is not simulated: {', '.join(dict.fromkeys(later))}")
    if not given.is_live:
        changes.begin()
        world.deliver()
    return world


def make_scheduler(
    given: Given,
    config: SchedulerConfig,
    cluster: SimulatedCluster,
    clock: VirtualClock,
    seed: int,
    warn: Callable[[str], None],
    *,
    remember_classes: bool = True,
) -> Scheduler:
    """A scheduler that knows nothing of the cluster yet; without a configuration of the user's it has our plugins."""
    known, extra = given.plugins
    return Scheduler(
        make_profiles(config, known, extra if given.config is not None else (*OWN_PLUGINS, *extra), warn),
        clock=clock,
        writer=cluster,
        events=cluster,
        seed=seed,
        remember_classes=remember_classes,
        initial_backoff_s=config.pod_initial_backoff_seconds,
        max_backoff_s=config.pod_max_backoff_seconds,
    )


def default_config(pods: Iterable[Pod]) -> SchedulerConfig:
    """A profile of the default plugins for every scheduler that one of the pods asks for."""
    names = dict.fromkeys(pod.scheduler_name for pod in pods)
    profiles = (ProfileConfig(scheduler_name=name) for name in names or (DEFAULT_SCHEDULER_NAME,))
    return SchedulerConfig(profiles=tuple(profiles))


def _concerned(
    given: Given,
    pods: Iterable[Pod],
    workloads: Workloads,
    only: Subject | None,
    prospects: Sequence[ApiObject] | None,
) -> Iterator[Pod]:
    """The pods to be placed: those asked about, or else all that have no node yet or may be moved."""
    nodes = (each for each in given.objects if isinstance(each, Node))
    may_move = (
        prospects is not None
        or bool(given.later or given.ends)
        or any(each.taints or each.conditions for each in nodes)
    )
    for pod in pods:
        if only.covers(pod, workloads) if only is not None else not pod.node_name or may_move or asks(pod.template):
            yield pod
    for thing in (*(each for _, each in given.later), *(prospects or ())) if only is None else ():
        if isinstance(thing, Pod):
            yield thing
        elif isinstance(thing, Workload):
            yield Pod(metadata=thing.metadata, spec=thing.spec.template.spec)


def _own_plugins(profiles: Iterable[Profile], known: Registry) -> list[str]:
    """Names of the plugins in use that are not Bayplan's."""
    names = dict.fromkeys(name for profile in profiles for name in profile.instances)
    return [name for name in names if known.origin(name) != IN_TREE]


def _warn_of_nobody(config: SchedulerConfig, pods: Iterable[Pod], warn: Callable[[str], None]) -> None:
    """Pods wait, and the configuration is for none of them."""
    names = [profile.scheduler_name for profile in config.profiles]
    asked = dict.fromkeys(pod.scheduler_name for pod in pods if not (pod.node_name or pod.is_terminal))
    if asked and not asked.keys() & set(names):
        place = f"{config.source}: " if config.source else ""
        warn(
            f"{place}schedulerName: nothing is scheduled: no pod asks for {', '.join(names)}, "
            f"they ask for {', '.join(asked)}; write that name"
        )


def _warn_of_left_out(given: Given, own: Sequence[str], warn: Callable[[str], None]) -> None:
    """What Bayplan's plugins read is in every snapshot; what others read is not known."""
    for source, names in given.left_out.items() if own else ():
        warn(
            f"{source}: this snapshot is without the annotations {listed(names, _FEW)}, which "
            f"{', '.join(own)} may read; take it again with --annotation NAME, or '*' for all"
        )


def _miss_nodes(world: World, given: Given, warn: Callable[[str], None], *, collect: bool) -> None:
    """
    Pods on nodes that are not there.  As on a real cluster they are collected, and their controllers make others; for
    a question about one pod everything stays as it is given.
    """
    there = {each.name for each in given.objects if isinstance(each, Node)}
    missed = Counter(pod.node_name for pod in world.cluster.living() if pod.node_name and pod.node_name not in there)
    if not missed:
        return
    names = [*sorted(missed)[:_FEW], *([f"{len(missed) - _FEW} more"] if len(missed) > _FEW else [])]
    pods = sum(missed.values())
    whose = "a node that is" if len(missed) == 1 else "nodes that are"
    told = "it is lost" if pods == 1 else "they are lost"
    what = f"; {told}, as pods on a deleted node are, and controllers make others" if collect else ""
    warn(f"{pods} {'pod is' if pods == 1 else 'pods are'} on {whose} not among those given: {', '.join(names)}{what}")
    for name in missed if collect else ():
        world.cluster.lose_node(name)
    world.deliver()


def _budgets(given: Given, workloads: Workloads, follows_all: bool) -> DisruptionController:
    """What a file says of a budget's status holds; the others follow the pods."""
    budgets = [each for each in given.objects if isinstance(each, PodDisruptionBudget)]
    kept = [each for each in budgets if not follows_all and _has_status(given, each)]
    own = [each for each in budgets if follows_all or not _has_status(given, each)]
    return DisruptionController(own, workloads.scale, kept)


def _has_status(given: Given, thing: ApiObject) -> bool:
    """Whether its file says how it is doing."""
    document = given.place(thing)
    return document is not None and bool(document.raw.get("status"))


def _populate(world: World, given: Given, volumes: Volumes, pods: Iterable[Pod]) -> None:
    """Objects, then nodes, then pods on them, then pods that wait: each finds there what it depends on."""
    events = world.cluster.events
    for each in (*given.objects, *world.workloads.made):
        if not isinstance(each, Node | Pod):
            events.append(added(each))
    events.extend(volumes.begin())
    events.extend(NodeAdded(each) for each in given.objects if isinstance(each, Node))
    later: list[tuple[float, Pod]] = []
    for pod, delay_s in delays(sorted(pods, key=lambda pod: not pod.node_name)):
        if delay_s:
            later.append((world.started_at + delay_s, pod))
        elif not pod.is_terminal:
            world.cluster.add_pod(pod)
    if later:
        world.happenings.append(Arrivals(later, world.cluster.add_pod))
    world.deliver()
