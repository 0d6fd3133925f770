"""
What plugins say in the queue: who may enter it, which waiting pods an event brings back, and how soon.

``SchedulingQueue`` asks here for every event: first who is interested at all (``interest``), then for each pod
that an interested plugin rejected whether the event is worth another try (``worth``).  ``requeue_rules`` turns
a profile's plugins into the table this works on; the wiring calls it once per profile.  Before a pod enters active or
backoff the PreEnqueue plugins are asked (``closed_gate``).  The one that says no becomes the pod's gating plugin and
one of its rejectors, so that its events can bring the pod back.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import structlog

from bayplan.clock import Clock
from bayplan.engine.plugin_calls import complain, raised
from bayplan.engine.queue.in_flight import InFlight
from bayplan.errors import GO_THROUGH, InvalidProfileError
from bayplan.framework.config.mistakes import did_you_mean, one_line
from bayplan.framework.events import POD_KINDS, Change, ClusterEvent, Hint, On
from bayplan.framework.plugin import (
    FilterPlugin,
    PermitPlugin,
    Plugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    QueuedPod,
    ReservePlugin,
)
from bayplan.framework.ports import MetricSink
from bayplan.framework.status import Status, as_status, failed
from bayplan.objects import kinds
from bayplan.objects.pod import Pod

log = structlog.get_logger(__name__)

_INSTEAD = 'return a tuple of On, such as (On("Node", Change.ADDED),)'
# Only these can keep a pod from being scheduled, so only their events matter.
_REJECTING = (PreEnqueuePlugin, PreFilterPlugin, FilterPlugin, ReservePlugin, PermitPlugin)


@dataclass(frozen=True)
class QueueProfile:
    """What the queue needs of a profile."""

    pre_enqueue: tuple[PreEnqueuePlugin, ...]
    requeue_on: Mapping[str, tuple[On, ...]]
    """Plugin name to the events that could change its mind, as ``requeue_rules`` makes it."""


class Strategy(IntEnum):
    """How a pod comes back; the larger, the sooner."""

    SKIP = 0
    AFTER_BACKOFF = 1
    IMMEDIATELY = 2


@dataclass(frozen=True, slots=True)
class Interest:
    """Who wants to know of one kind of event."""

    hints: Mapping[str, Mapping[str, tuple[Hint | None, ...]]]
    """Profile to plugin to the hints registered for this event; None stands for "always"."""
    gates: frozenset[str]
    """The same plugins' names over all profiles: gated pods react to these alone."""
    is_wildcard: bool = False

    def __bool__(self) -> bool:
        return self.is_wildcard or bool(self.hints)


def requeue_rules(plugins: Iterable[Plugin]) -> Mapping[str, tuple[On, ...]]:
    """
    The events each plugin that can reject a pod wants to be asked again after.

    Raises:
        InvalidProfileError: a plugin, whether it can reject or not, does not say it in a way that can be understood.
    """
    rules = {plugin.name: (plugin, _asked(plugin)) for plugin in plugins}
    return {name: _with_taint_updates(ons) for name, (plugin, ons) in rules.items() if isinstance(plugin, _REJECTING)}


def _asked(plugin: Plugin) -> tuple[On, ...]:
    try:
        said: Any = plugin.requeue_on()
        ons = tuple(said) if isinstance(said, Iterable) else ()
    except GO_THROUGH:
        raise
    except BaseException as error:
        raise InvalidProfileError(f"plugin {plugin.name}: requeue_on raised {one_line(error)}; {_INSTEAD}") from error
    if not isinstance(said, Iterable) or not all(isinstance(each, On) for each in ons):
        raise InvalidProfileError(f"plugin {plugin.name}: requeue_on returned {said!r}; {_INSTEAD}")
    for problem in filter(None, map(_problem, ons)):
        raise InvalidProfileError(f"plugin {plugin.name}: requeue_on: {problem}")
    return ons


def _problem(on: On) -> str:
    """Why this would never match anything; "" if it may."""
    if on.kind not in POD_KINDS and on.kind != "*" and not kinds.is_known(on.kind):
        known = (*POD_KINDS, *(kind.called for kind in kinds.all_kinds()))
        return f"there is no kind {on.kind!r}{did_you_mean(str(on.kind), known) or '; add a Kind(...) to reads'}"
    if not isinstance(on.change, Change) or not on.change:
        return f"On({on.kind!r}, {on.change!r}) names no change; write Change.ADDED, Change.UPDATED or the like"
    if on.kind not in ("*", "Node", *POD_KINDS) and on.change & Change.UPDATED not in (0, Change.UPDATED):
        return f"of a {on.kind} nobody says what changed in it; write On({on.kind!r}, Change.UPDATED)"
    if on.hint is not None and not callable(on.hint):
        return f"the hint {on.hint!r} of On({on.kind!r}) cannot be called; write a function of (pod, old, new)"
    return ""


def _with_taint_updates(rules: tuple[On, ...]) -> tuple[On, ...]:
    """A plugin that waits for new nodes also waits for taints: a node often joins tainted and opens later."""
    node_changes = Change(0)
    for rule in rules:
        if rule.kind == "Node":
            node_changes |= rule.change
    if node_changes & Change.ADDED and not node_changes & Change.TAINT:
        return (*rules, On("Node", Change.TAINT))
    return rules


def closed_gate(queued: QueuedPod, plugins: Sequence[PreEnqueuePlugin]) -> Status | None:
    """Why the pod must stay out, or None; the pod's gating plugin follows the answer."""
    if queued.gating_plugin:
        # The plugin that gates the pod already goes first, since it most likely still does.
        plugins = sorted(plugins, key=lambda plugin: plugin.name != queued.gating_plugin)
    pod = queued.pod
    for plugin in plugins:
        try:
            verdict = plugin.pre_enqueue(pod)
            if verdict is None:
                continue
            status = as_status(verdict)
        except GO_THROUGH:
            raise
        except BaseException as error:
            complain("pre_enqueue failed, the pod stays gated", plugin, error, pod=pod.key)
            status = failed(raised(plugin, "PreEnqueue", pod, error))
        if not status.is_success:
            queued.gating_plugin = plugin.name
            queued.unschedulable_plugins |= {plugin.name}
            return status.by(plugin.name)
    queued.gating_plugin = ""
    return None


class Requeueing:
    """The requeue rules of all profiles, with the answer of every event kind looked up once."""

    def __init__(self, profiles: Mapping[str, QueueProfile], clock: Clock, metrics: MetricSink) -> None:
        self._rules = {name: profile.requeue_on for name, profile in profiles.items()}
        self._clock = clock
        self._metrics = metrics
        self._interests: dict[tuple[str, int], Interest] = {}
        self._complained: set[tuple[str, str]] = set()

    def interest(self, event: ClusterEvent) -> Interest:
        """Which plugins this event concerns; false when it concerns none."""
        key = (event.kind, int(event.change))
        interest = self._interests.get(key)
        if interest is None:
            interest = self._interests[key] = self._look_up(event)
        return interest

    def worth(self, interest: Interest, queued: QueuedPod, event: ClusterEvent, old: Any, new: Any) -> Strategy:
        """
        Could this event let the pod be scheduled, and may it skip its backoff then?  ``interest`` is the
        event's, which the caller looks up once for all pods.
        """
        rejecting, pending = queued.unschedulable_plugins, queued.pending_plugins
        if not rejecting and not pending:
            return Strategy.AFTER_BACKOFF
        if interest.is_wildcard:
            return Strategy.AFTER_BACKOFF if _is_for(queued.pod, new) else Strategy.SKIP
        best = Strategy.SKIP
        for plugin, hints in interest.hints.get(queued.pod.scheduler_name, {}).items():
            if plugin in pending:
                answer = Strategy.IMMEDIATELY
            elif plugin in rejecting:
                answer = Strategy.AFTER_BACKOFF
            else:
                continue
            if answer > best and self._any_queues(plugin, hints, queued.pod, event, old, new):
                if answer is Strategy.IMMEDIATELY or not pending:
                    return answer
                best = answer
        return best

    def worth_of_missed(self, queued: QueuedPod, in_flight: InFlight) -> Strategy:
        """What the events that came while a failed pod was being scheduled are worth to it."""
        if not queued.unschedulable_plugins and not queued.pending_plugins:
            return Strategy.AFTER_BACKOFF
        if queued.pod.uid not in in_flight:
            # What it missed is not known, so it must not be left waiting for that.
            log.error("failed pod was not in flight, it is tried again", pod=queued.pod.key)
            return Strategy.AFTER_BACKOFF
        most = Strategy.IMMEDIATELY if queued.pending_plugins else Strategy.AFTER_BACKOFF
        best = Strategy.SKIP
        for event, old, new in in_flight.since_pop(queued.pod.uid):
            best = max(best, self.worth(self.interest(event), queued, event, old, new))
            if best is most:
                break
        return best

    def _look_up(self, event: ClusterEvent) -> Interest:
        hints: dict[str, dict[str, tuple[Hint | None, ...]]] = {}
        for profile, rules in self._rules.items():
            for plugin, ons in rules.items():
                matching = tuple(on.hint for on in ons if on.matches(event))
                if matching:
                    hints.setdefault(profile, {})[plugin] = matching
        gates = frozenset(plugin for by_plugin in hints.values() for plugin in by_plugin)
        return Interest(hints, gates, event.is_wildcard)

    def _any_queues(
        self, plugin: str, hints: tuple[Hint | None, ...], pod: Pod, event: ClusterEvent, old: Any, new: Any
    ) -> bool:
        for hint in hints:
            if hint is None:
                return True
            started = self._clock.now()
            answer = self._ask(plugin, hint, pod, event, old, new)
            said = "Error" if answer is None else "Queue" if answer else "QueueSkip"
            took = self._clock.now() - started
            name = "queueing_hint_execution_duration_seconds"
            self._metrics.observe(name, took, plugin=plugin, event=event.label, hint=said)
            if answer is not False:
                return True
        return False

    def _ask(self, plugin: str, hint: Hint, pod: Pod, event: ClusterEvent, old: Any, new: Any) -> bool | None:
        """The hint's answer; ``None`` if it broke: that counts as a yes, or the pod could wait for ever."""
        try:
            return bool(hint(pod, old, new))
        except GO_THROUGH:
            raise
        except BaseException as error:
            complaint = (plugin, event.label)
            # Once is enough: a broken hint is asked again for every waiting pod.
            if complaint not in self._complained:
                self._complained.add(complaint)
                problem = "requeue hint failed, pods are queued as if it had said yes"
                complain(problem, plugin, error, cluster_event=event.label, pod=pod.key)
            return None


def _is_for(pod: Pod, target: Any) -> bool:
    """A wildcard event is for everyone, unless it carries the one pod it is meant for."""
    return target is None or (isinstance(target, Pod) and target.uid == pod.uid)
