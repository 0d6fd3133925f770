"""
Reserve, Permit and waiting pods, without an engine around them: for tests of plugins that hold pods back.

``holding(Gang, cache)`` makes the plugin with waiting pods that are real; ``place`` takes a pod through Reserve and
Permit as the engine does, and the lists say what has become of those that were placed before.
"""

from __future__ import annotations

from typing import Any

from bayplan.clock import VirtualClock
from bayplan.engine import committing
from bayplan.engine.cache import ClusterCache
from bayplan.engine.waiting_pods import WaitingPod, WaitingPods
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import EXTENSION_POINTS, Plugin
from bayplan.framework.profile import Profile
from bayplan.framework.status import Status
from bayplan.objects.pod import Pod
from bayplan.testing.builders import PodBuilder
from bayplan.testing.harness import built_pod, make

PROFILE = "default-scheduler"


class Holding:
    """One plugin, the pods it let pass, and those it holds."""

    def __init__(self, plugin: Plugin, cache: ClusterCache, waiting: WaitingPods, clock: VirtualClock) -> None:
        self.plugin = plugin
        self.clock = clock
        self._cache = cache
        self._waiting = waiting
        points = {point: (plugin,) if isinstance(plugin, kind) else () for point, kind in EXTENSION_POINTS.items()}
        self._profile = Profile(PROFILE, points, {}, instances={plugin.name: plugin})
        self._placed: dict[str, Decision] = {}
        self._held: dict[str, WaitingPod] = {}

    def place(self, pod: Pod | PodBuilder, node_name: str, state: CycleState | None = None) -> Status:
        """
        Reserve, then Permit, for a pod on this node.  The status says success, ``is_wait``, or who said no; after a no
        everything is undone, as in the engine.
        """
        built = built_pod(pod)
        decision = Decision(built, PROFILE, node=node_name, state=state or CycleState())
        status = committing.commit(decision, self._profile, self._cache, self._waiting, self.clock)
        if status.is_success or status.is_wait:
            self._placed[built.key] = decision
        held = self._waiting.get(built.uid)
        if held is not None:
            self._held[built.key] = held
        return status

    def undo(self, pod: Pod | PodBuilder) -> None:
        """Binding the pod failed: Unreserve, and its room is free again."""
        key = built_pod(pod).key
        committing.undo(self._placed.pop(key), self._profile, self._cache, self._waiting)
        self._held.pop(key, None)

    def advance(self, seconds: float) -> None:
        """Time passes; who has waited long enough is rejected."""
        self.clock.advance(seconds)
        for held in self._held.values():
            held.expire()

    @property
    def waiting(self) -> list[str]:
        """Pods that are held, as ``namespace/name``."""
        return [key for key, held in self._held.items() if held.outcome is None]

    @property
    def released(self) -> list[str]:
        """Pods that may be bound: they were not held, or everybody who held them has let them go."""
        return [key for key in self._placed if key not in self._held or _is_success(self._held[key].outcome)]

    @property
    def rejected(self) -> dict[str, str]:
        """Pods that were held and may not be bound, and why."""
        return {
            key: held.outcome.message
            for key, held in self._held.items()
            if held.outcome is not None and not held.outcome.is_success
        }


def _is_success(outcome: Status | None) -> bool:
    return outcome is not None and outcome.is_success


def holding(plugin: type[Plugin], cache: ClusterCache, *, clock: VirtualClock | None = None, **args: Any) -> Holding:
    """A plugin on the cache that can hold pods.  Args are written as in a file."""
    waiting, time = WaitingPods(), clock or VirtualClock()
    made = make(plugin, cache, clock=time, waiting=waiting, **args)
    return Holding(made, cache, waiting, time)
