"""
Scheduler: events in through ``handle``, intents out.  Reads as the table of contents of the engine.

It knows no files, flags, sockets or wall clock; ``app`` (live) and ``simulator`` (virtual time) drive it:
they tell it what happened, call ``schedule`` while there is work, and carry the intents out.
"""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping, Sequence
from typing import Any, cast

from bayplan.clock import Clock
from bayplan.engine import committing
from bayplan.engine.binding_cycle import BindingCycle
from bayplan.engine.cache import ClusterCache
from bayplan.engine.evaluation import Evaluator, Settings
from bayplan.engine.event_handlers import EventHandlers
from bayplan.engine.events import BindFailed, Bound, Event, ExtendersAnswered, PreemptionDone, Tick
from bayplan.engine.extender_calls import NOBODY, REQUEUE_RULES, Extending
from bayplan.engine.failures import Failures
from bayplan.engine.intents import AskExtenders, Bind, Emit, Intent, Outcome
from bayplan.engine.node_filters import NodeFilters
from bayplan.engine.plugin_calls import beside, complain, log, queue_key_of
from bayplan.engine.queue.nominations import Nominations
from bayplan.engine.queue.requeueing import QueueProfile, requeue_rules
from bayplan.engine.queue.scheduling_queue import MAX_UNSCHEDULABLE_S, SchedulingQueue
from bayplan.engine.scoring import scramble
from bayplan.engine.store import Shelf
from bayplan.engine.waiting_pods import WaitingPods
from bayplan.engine.what_if import Means, Sight, WhatIf
from bayplan.errors import GO_THROUGH
from bayplan.framework.config.model import INITIAL_BACKOFF_S, MAX_BACKOFF_S
from bayplan.framework.decision import Decision
from bayplan.framework.events import ASSIGNED_POD_DELETE
from bayplan.framework.handle import FilterRunner, Handle
from bayplan.framework.plugin import Plugin, PreEnqueuePlugin, QueuedPod, QueueSortPlugin
from bayplan.framework.ports import ClusterWriter, EventSink, Extender, MetricSink, NoMetrics
from bayplan.framework.profile import Profile
from bayplan.framework.status import failed
from bayplan.objects.pod import Pod

MANY = 128
"""Pods of one template that are placed in one go at most: others wait meanwhile."""

MakeHandle = Callable[[str], Handle]
MakeProfiles = Callable[[MakeHandle], Mapping[str, Profile]]


class Scheduler:
    """One scheduler: a cache, a queue, and the profiles that decide."""

    def __init__(
        self,
        make_profiles: MakeProfiles,
        *,
        clock: Clock,
        writer: ClusterWriter,
        events: EventSink,
        metrics: MetricSink | None = None,
        extenders: Sequence[Extender] = (),
        seed: int = 0,
        remember_classes: bool = True,
        initial_backoff_s: float = INITIAL_BACKOFF_S,
        max_backoff_s: float = MAX_BACKOFF_S,
        max_unschedulable_s: float = MAX_UNSCHEDULABLE_S,
    ) -> None:
        self.clock = clock
        self.cache = ClusterCache()
        self.waiting = WaitingPods()
        self._sight = Sight(self.cache, self.waiting)
        self.seed = seed
        self._writer = writer
        self._events = events
        self._metrics = metrics or NoMetrics()
        self._handles: dict[str, Handle] = {}
        self._preempting: set[str] = set()
        self._shelf = Shelf(self.cache.objects)
        nominations = self._nominations = Nominations()
        self.profiles = make_profiles(self._handle_for)
        self._shelf.hold(_kinds_read(self.profiles))
        self.queue = SchedulingQueue(
            clock,
            {name: _queue_profile(profile, bool(extenders)) for name, profile in self.profiles.items()},
            _queue_key(self.profiles),
            initial_backoff_s=initial_backoff_s,
            max_backoff_s=max_backoff_s,
            max_unschedulable_s=max_unschedulable_s,
            metrics=self._metrics,
            nominations=nominations,
        )
        filters = {
            name: NodeFilters(profile, nominations, self.cache.objects) for name, profile in self.profiles.items()
        }
        for name, handle in self._handles.items():
            handle.filters = filters[name]
        self._means = Means(filters, self._sight, clock, seed)
        self._evaluators = {
            name: Evaluator(filters[name], self.cache, remembers=remember_classes, metrics=metrics)
            for name in self.profiles
        }
        self._observers = _observers(self.profiles)
        self._informed = EventHandlers(self.cache, self.queue, self.waiting, self.profiles, self._tell_observers)
        self._failures = Failures(self.queue, self._informed, self._metrics)
        self._extending = Extending(extenders) if extenders else NOBODY
        self._asking = False
        self._held: list[Event] = []
        self._start = 0
        self._cycle = 0

    # -- the door --

    def handle(self, event: Event) -> list[Intent]:
        """Take in one event; give what is to be done about it."""
        match event:
            case Bound():
                return self._bound(event)
            case BindFailed():
                return self._bind_failed(event)
            case ExtendersAnswered():
                return self._answered(event)
            case PreemptionDone():
                self._preempted(event)
            case Tick():
                self.queue.flush()
            case _ if self._asking:
                # A cycle looks at the cluster as it was when it began; later events wait until it is over.
                self._held.append(event)
            case _:
                self._informed.handle(event)
        return []

    def schedule(self, most: int = MANY, is_enough: Callable[[], bool] = lambda: False) -> list[Outcome] | None:
        """
        Schedule the next pod, and those behind it that are of its template: up to so many in all, or until the driver
        says that it is enough for now.  ``None`` when no pod can be scheduled now.
        """
        outcome = self._schedule_next()
        outcomes: list[Outcome] = []
        while outcome is not None:
            outcomes.append(outcome)
            decision = outcome.decision
            if len(outcomes) >= most or decision is None or not (outcome.is_committed and self._goes_on(decision.pod)):
                break
            together = self._batch(decision.pod, most - len(outcomes))
            outcomes += together
            if (together and not (len(outcomes) < most and self._is_next_like(decision.pod))) or is_enough():
                break
            outcome = self._schedule_next()
        return outcomes or None

    def _schedule_next(self) -> Outcome | None:
        queued = None if self._asking else self.queue.pop()
        if queued is None:
            return None
        pod = queued.pod
        profile = self.profiles.get(pod.scheduler_name)
        if profile is None or self.cache.is_assumed(pod.uid):
            self.queue.done(pod.uid)
            return Outcome(None, [])
        if pod.is_terminating:
            self.queue.done(pod.uid)
            note = f"skip schedule deleting pod: {pod.key}"
            told = Emit(pod, "Warning", "FailedScheduling", "Scheduling", note, reporter=profile.scheduler_name)
            return Outcome(None, [told])
        self._cycle += 1
        if self._extending is not NOBODY and self._extending.has_say(pod):
            self._asking = True
            return Outcome(None, [AskExtenders(queued, self._cycle)])
        settings = self._settings(profile, self._cycle)
        decision = self._evaluators[pod.scheduler_name].place(pod, settings)
        if settings.order is not None:
            self._start = settings.start
        return self._act(queued, decision, profile)

    def _is_next_like(self, pod: Pod) -> bool:
        following = self.queue.next_like(pod)
        return following is not None and self.cache.pod(following.uid) is None

    def _goes_on(self, pod: Pod) -> bool:
        """Is the next pod like this one, which was placed just now, and may it be placed right away?"""
        if self._extending is not NOBODY or not self._evaluators[pod.scheduler_name].goes_on(pod):
            return False
        return self._is_next_like(pod)

    def _batch(self, pod: Pod, most: int) -> list[Outcome]:
        """Those behind the pod, which was placed just now, that are like it and can be committed together."""
        outcomes: list[Outcome] = []
        batch = self._evaluators[pod.scheduler_name].batch_after(pod)
        if batch is None:
            return outcomes
        try:
            while len(outcomes) < most and batch.takes_more and self._is_next_like(pod):
                queued = self.queue.pop()
                assert queued is not None, "somebody is next"
                self._cycle += 1
                decision = batch.place(queued.pod, scramble(self.seed, self._cycle))
                outcomes.append(Outcome(decision, [Bind(queued, decision)], queued.attempts))
        finally:
            batch.commit()
        return outcomes

    def decide(self, pod: Pod) -> Decision:
        """What would happen to this pod now, with every reason and score.  Changes nothing, and asks no extender."""
        return self.what_if().decide(pod)

    def what_if(self) -> WhatIf:
        """The cluster as it is now, to be changed and asked about without anything happening."""
        return WhatIf(self.cache, self.waiting, self._means, self._start)

    async def ask(self, intent: AskExtenders) -> ExtendersAnswered:
        """Run the cycle for an ``AskExtenders`` intent; it ends with a decision whatever happens."""
        pod = intent.queued.pod
        profile = self.profiles[pod.scheduler_name]
        settings = self._settings(profile, intent.cycle)
        try:
            decision = await self._evaluators[profile.scheduler_name].deciding(pod, settings, self._extending)
        except Exception as error:
            log.error("scheduling cycle failed", pod=pod.key, error=repr(error), exc_info=True)
            decision = Decision(pod, profile.scheduler_name, status=failed(error))
        if settings.order is not None:
            self._start = settings.start
        return ExtendersAnswered(intent.queued, decision)

    def _settings(self, profile: Profile, cycle: int) -> Settings:
        asked = profile.percentage_of_nodes_to_score
        if asked is None or asked == 100:
            return Settings(self.seed, cycle)
        return Settings(self.seed, cycle, asked, self.cache.node_order, self._start)

    def binding_cycle(self, bind: Bind) -> BindingCycle:
        """The cycle to run for a ``Bind`` intent."""
        profile = self.profiles[bind.decision.profile_name]
        return BindingCycle(bind, profile, self.waiting, self._writer, self.queue.done, self._extending)

    def background(self) -> list[tuple[str, Coroutine[Any, Any, None]]]:
        """What plugins (their names) do beside scheduling; to be run from when all is known and may be written to."""
        plugins = (plugin for profile in self.profiles.values() for plugin in profile.instances.values())
        return [(each.name, beside(each)) for each in plugins if type(each).background is not Plugin.background]

    # -- after a decision --

    def _act(self, queued: QueuedPod, decision: Decision, profile: Profile) -> Outcome:
        if decision.node is None:
            if decision.victims and decision.preemption_node:
                self._preempting.add(decision.pod.uid)
                self._metrics.observe("preemption_victims", len(decision.victims))
            return Outcome(decision, self._failures.undecided(queued, decision), queued.attempts)
        status = committing.commit(decision, profile, self.cache, self.waiting, self.clock)
        if not (status.is_success or status.is_wait):
            return Outcome(decision, self._failures.uncommitted(queued, decision, status), queued.attempts)
        self._nominations.remove(decision.pod.uid)
        return Outcome(decision, [Bind(queued, decision)], queued.attempts)

    def _answered(self, event: ExtendersAnswered) -> list[Intent]:
        """The cycle is over: act on its decision, then handle the events that came meanwhile."""
        outcome = self._act(event.queued, event.decision, self.profiles[event.decision.profile_name])
        self._asking = False
        held, self._held = self._held, []
        for late in held:
            try:
                self._informed.handle(late)
            except Exception as error:  # what one object upsets must not keep the others unheard
                log.error("event refused", event_type=type(late).__name__, error=repr(error), exc_info=True)
        return outcome.intents

    def _bound(self, event: Bound) -> list[Intent]:
        decision, pod = event.decision, event.decision.pod
        self._informed.forget_pending(pod)
        self._metrics.counter("schedule_attempts_total", result="scheduled", profile=decision.profile_name)
        note = f"Successfully assigned {pod.key} to {decision.node}"
        return [Emit(pod, "Normal", "Scheduled", "Binding", note, reporter=decision.profile_name)]

    def _bind_failed(self, event: BindFailed) -> list[Intent]:
        """The room is free again: others are told, before this pod is retried or after (never for itself)."""
        decision = event.decision
        profile = self.profiles[decision.profile_name]
        committing.undo(decision, profile, self.cache, self.waiting)
        assert decision.node is not None
        gone = decision.pod.assigned_to(decision.node)
        if event.status.is_rejected:
            intents = self._failures.unbound(event)
            self.queue.move(ASSIGNED_POD_DELETE, gone, None, only=lambda other: other.uid != gone.uid)
            return intents
        self.queue.move(ASSIGNED_POD_DELETE, gone, None)
        return self._failures.unbound(event)

    def _preempted(self, event: PreemptionDone) -> None:
        self._preempting.discard(event.pod.uid)
        if event.failed or self.queue.where(event.pod.uid) == "gated":
            self.queue.activate([event.pod])

    def _tell_observers(self, kind: str, old: Any, new: Any) -> None:
        for plugin in self._observers.get(kind, ()):
            try:
                plugin.observe(kind, old, new)
            except GO_THROUGH:
                raise
            except BaseException as error:  # what one plugin makes of it is nobody else's trouble
                complain("observe failed", plugin, error, kind=kind)

    # -- wiring --

    def _handle_for(self, profile_name: str) -> Handle:
        handle = self._handles.get(profile_name)
        if handle is None:
            handle = self._handles[profile_name] = Handle(
                clock=self.clock,
                snapshot=self._sight.snapshot,
                objects=self._shelf,
                nominated=self._nominations,
                waiting=self._sight,
                filters=cast(FilterRunner, _NoFiltersYet()),
                is_preempting=self._preempting.__contains__,
                node_changed=self.cache.note_node,
                writer=self._writer,
                events=self._events,
                metrics=self._metrics,
                profile_name=profile_name,
                seed=self.seed,
            )
        return handle


class _NoFiltersYet:
    """Stands in while plugins are being made: they may keep the handle, not use its filters."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("a plugin's __init__ must not call the filters: the profile is not complete yet")


def _kinds_read(profiles: Mapping[str, Profile]) -> set[str]:
    instances = (plugin for profile in profiles.values() for plugin in profile.instances.values())
    return {"Namespace", *(kind for plugin in instances for kind in plugin.kinds_read())}


def _observers(profiles: Mapping[str, Profile]) -> dict[str, list[Plugin]]:
    """Who wants to hear of changes, by kind."""
    found: dict[str, list[Plugin]] = {}
    for profile in profiles.values():
        for plugin in profile.instances.values():
            for kind in plugin.kinds_read() if type(plugin).observe is not Plugin.observe else ():
                found.setdefault(kind, []).append(plugin)
    return found


def _queue_profile(profile: Profile, has_extenders: bool) -> QueueProfile:
    pre_enqueue = tuple(p for p in profile.extension("pre_enqueue") if isinstance(p, PreEnqueuePlugin))
    rules = {**requeue_rules(profile.instances.values()), **(REQUEUE_RULES if has_extenders else {})}
    return QueueProfile(pre_enqueue, rules)


def _queue_key(profiles: Mapping[str, Profile]) -> Callable[[QueuedPod], object]:
    """All profiles share one queue sort; configuration checks that."""
    for profile in profiles.values():
        plugin = profile.extension("queue_sort")[0]
        assert isinstance(plugin, QueueSortPlugin)
        return queue_key_of(plugin)
    return lambda queued: (-queued.pod.priority, queued.timestamp)
