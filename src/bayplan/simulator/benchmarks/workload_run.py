"""
A workload file run on the engine in memory: its steps become events, and what the engine wants is done at once.

``engine_speed`` makes a ``WorkloadRun`` and asks how long the measured step took.  Time is virtual, so that backoffs
cost nothing; what is measured is work.
"""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import takewhile

from bayplan.engine import gc_tuning
from bayplan.engine.events import (
    Event,
    NodeAdded,
    NodeDeleted,
    ObjectDeleted,
    PodAdded,
    PodDeleted,
    PreemptionDone,
    Tick,
)
from bayplan.engine.intents import Bind, Evict, Intent
from bayplan.engine.scheduler import MANY
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.simulator.benchmarks import workload_rendering as rendering
from bayplan.simulator.benchmarks.workload_file import (
    Action,
    Barrier,
    Churn,
    CreateNodes,
    CreateObjects,
    CreatePods,
    Delete,
    Manifest,
    Measure,
    Sizes,
    Workload,
)
from bayplan.simulator.cluster import added
from bayplan.simulator.loading import Given, documents_of, load
from bayplan.simulator.world import assemble

MAX_VAIN_WAITS = 20
"""So often time may pass without a pod being bound before the rest counts as never bound."""
CLASSES = ("PriorityClass", "RuntimeClass")
"""Kinds that the defaults of a pod come from."""

Tell = Callable[[int, int], None]


@dataclass(slots=True)
class _Recurring:
    """A churn, or a delete that goes on while pods are bound."""

    action: Churn | Delete
    every: int
    number: int = 0
    latest: ApiObject | None = None


class WorkloadRun:
    """One workload on one engine."""

    def __init__(self, workload: Workload, sizes: Sizes, seed: int, progress: Tell, *, remember: bool) -> None:
        self.wanted = 0
        """How many pods are to be bound in the measured step."""
        self.bound = 0
        """How many of them were."""
        self.seconds = self.cpu_seconds = 0.0
        """What that took.  Where others use the machine too, CPU says more."""
        self._source = workload.source
        self._sizes = sizes
        self._progress = progress
        self._classes: list[Manifest] = []
        self._made: dict[str, list[Pod]] = {}
        self._backlog: list[Pod] = []
        self._awaited: set[str] = set()
        self._recurring: list[_Recurring] = []
        first = list(takewhile(lambda action: isinstance(action, CreateNodes | CreateObjects), workload.actions))
        self._rest = workload.actions[len(first) :]
        given = self._load(manifest for action in first for manifest in self._manifests(action))
        world = assemble(given, seed=seed, now=0.0, remember_classes=remember)
        self._scheduler, self._clock, self._claims = world.scheduler, world.clock, world.cluster.claims

    def run(self) -> None:
        """Take every step; the last one is the measured one."""
        for action in self._rest:
            match action:
                case Barrier():
                    self._run_backlog()
                case Measure():
                    self._measure()
                case _:
                    self._prepare(action)

    @property
    def pods_per_second(self) -> int:
        return round(self.bound / self.seconds)

    # -- before --

    def _prepare(self, action: Action) -> None:
        match action:
            case CreatePods():
                self._create_pods(action)
            case Churn():
                self._recurring.append(_Recurring(action, action.everyPods))
            case Delete(everyPods=None):
                self._delete_now({pod.uid: pod for pod in self._made[action.name]})
            case Delete(everyPods=int(every)):
                self._recurring.append(_Recurring(action, every))
            case _:
                for thing in self._load(self._manifests(action)).objects:
                    self._scheduler.handle(_arrival(thing))

    def _create_pods(self, action: CreatePods) -> None:
        """Those that run already are told of now; the others come when the scheduler begins."""
        manifests = [*self._classes, *rendering.pods(action, self._sizes)]
        made = [self._with_claims(each) for each in self._load(manifests).objects if isinstance(each, Pod)]
        self._made[action.name] = made
        for pod in made:
            if pod.node_name:
                self._scheduler.handle(PodAdded(pod))
            else:
                self._backlog.append(pod)
                if not action.pending:
                    self._awaited.add(pod.uid)

    def _with_claims(self, pod: Pod) -> Pod:
        """The pod with the claims that it wants from templates, which a controller makes before it is scheduled."""
        if not pod.spec.resource_claims:
            return pod
        pod, events = self._claims.pod_added(pod)
        for event in events:
            self._scheduler.handle(event)
        return pod

    def _delete_now(self, gone: dict[str, Pod]) -> None:
        """Wherever they are by now, or nowhere yet."""
        self._awaited -= gone.keys()
        self._backlog = [pod for pod in self._backlog if pod.uid not in gone]
        for pod in gone.values():
            self._scheduler.handle(PodDeleted(pod))

    def _manifests(self, action: Action) -> Iterator[Manifest]:
        if isinstance(action, CreateNodes):
            yield from rendering.nodes(action, self._sizes)
        elif isinstance(action, CreateObjects):
            for manifest in rendering.objects(action, self._sizes):
                if manifest.get("kind") in CLASSES:
                    self._classes.append(manifest)
                yield manifest

    def _load(self, manifests: Iterable[Manifest]) -> Given:
        return load(documents_of(manifests, self._source))

    # -- running --

    def _measure(self) -> None:
        self.wanted = len(self._awaited)
        thresholds = gc.get_threshold()
        gc_tuning.settle()
        try:
            started, cpu = time.perf_counter(), time.process_time()
            self.bound = self._run_backlog()
            self.seconds, self.cpu_seconds = time.perf_counter() - started, time.process_time() - cpu
        finally:
            gc.unfreeze()
            gc.set_threshold(*thresholds)

    def _run_backlog(self) -> int:
        """Schedule until every pod that should be bound is; how many were."""
        scheduler, total = self._scheduler, len(self._awaited)
        backlog, self._backlog = self._backlog, []
        for pod in backlog:
            scheduler.handle(PodAdded(pod))
        bound = vain_waits = 0
        most = 1 if self._recurring else MANY
        while bound < total and vain_waits < MAX_VAIN_WAITS:
            outcomes = scheduler.schedule(most)
            if outcomes is None:
                if not self._let_time_pass():
                    break
                vain_waits += 1
                continue
            for intent in [intent for outcome in outcomes for intent in outcome.intents]:
                if self._is_awaited_bind(intent):
                    bound += 1
                    vain_waits = 0
                    self._progress(bound, total)
                    for recurring in self._recurring:
                        if bound % recurring.every == 0:
                            self._happen(recurring)
        self._awaited.clear()
        return bound

    def _is_awaited_bind(self, intent: Intent) -> bool:
        """Do what the engine wants; whether that was one of the pods that are waited for."""
        scheduler = self._scheduler
        if isinstance(intent, Bind):
            uid = intent.decision.pod.uid
            scheduler.queue.done(uid)
            return uid in self._awaited
        if isinstance(intent, Evict):
            for victim in intent.victims:
                scheduler.handle(PodDeleted(victim))
            scheduler.handle(PreemptionDone(intent.preemptor))
        return False

    def _let_time_pass(self) -> bool:
        moment = self._scheduler.queue.next_wakeup()
        if moment is None:
            return False
        self._clock.advance_to(max(moment, self._clock.now()))
        self._scheduler.handle(Tick())
        return True

    def _happen(self, recurring: _Recurring) -> None:
        number, action = recurring.number, recurring.action
        recurring.number += 1
        if isinstance(action, Delete):
            if number < len(self._made[action.name]):
                self._scheduler.handle(PodDeleted(self._made[action.name][number]))
            return
        before = recurring.latest
        manifest = rendering.churned(action, number, self._sizes)
        loaded = self._load([*self._classes, manifest]).objects
        recurring.latest = loaded[len(self._classes)]
        self._scheduler.handle(_arrival(recurring.latest))
        if action.recreate and before is not None:
            self._scheduler.handle(_departure(before))


def _arrival(thing: ApiObject) -> Event:
    if isinstance(thing, Pod):
        return PodAdded(thing)
    return NodeAdded(thing) if isinstance(thing, Node) else added(thing)


def _departure(thing: ApiObject) -> Event:
    if isinstance(thing, Pod):
        return PodDeleted(thing)
    return NodeDeleted(thing) if isinstance(thing, Node) else ObjectDeleted(kinds.kind_of(thing), thing)
