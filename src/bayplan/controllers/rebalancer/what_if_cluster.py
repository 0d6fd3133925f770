"""
What-if over the whole cluster: pods that are imagined gone, going or placed, and everything put back afterwards.

Works on the engine's own cache, so the engine's own decisions answer; nothing else may run meanwhile.  Used by
``planner``.
"""

from __future__ import annotations

from types import TracebackType

from msgspec.structs import replace

from bayplan.engine.scheduler import Scheduler
from bayplan.framework.decision import Decision
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodStatus

_GOING = "1970-01-01T00:00:00Z"


class Imagined:
    """A cluster in which things can be tried; as it was before at the end of the ``with`` block."""

    def __init__(self, scheduler: Scheduler) -> None:
        self._scheduler = scheduler
        self._cache = scheduler.cache
        self._undone: list[tuple[Pod, Pod | None]] = []
        """What was put in place of what: (the pod that is there now, the one that was there before)."""

    def __enter__(self) -> Imagined:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.back_to(0)

    @property
    def mark(self) -> int:
        """Where ``back_to`` leads back to."""
        return len(self._undone)

    def back_to(self, mark: int) -> None:
        while len(self._undone) > mark:
            now, before = self._undone.pop()
            if before is None:
                self._cache.remove_pod(now)
            else:
                self._cache.add_pod(before)

    def decide(self, pod: Pod) -> Decision:
        return self._scheduler.decide(pod)

    def place(self, pod: Pod, node_name: str) -> None:
        placed = pod.assigned_to(node_name)
        self._cache.add_pod(placed)
        self._undone.append((placed, None))

    def leave(self, pod: Pod) -> None:
        """
        The pod is evicted.  Pods of a StatefulSet are gone before their replacement comes; others are still going
        then, and hold what they hold.
        """
        owner = pod.controller
        if owner is not None and owner.kind == "StatefulSet":
            self._cache.remove_pod(pod)
            self._undone.append((pod, pod))
            return
        going = pod.evolve(metadata=replace(pod.metadata, deletion_timestamp=_GOING))
        self._cache.add_pod(going)
        self._undone.append((going, pod))


def replacement_of(pod: Pod) -> Pod:
    """The pod that its controller would make in its place; it does not push others away."""
    meta = replace(pod.metadata, uid=f"{pod.uid}/again", creation_timestamp=None, resource_version="")
    spec = replace(pod.spec, node_name="", preemption_policy="Never")
    return pod.evolve(metadata=meta, spec=spec, status=PodStatus())


def waiting_pod(pod: Pod) -> Pod:
    """A pod that waits, as it would be judged if it could push nobody away."""
    return pod.evolve(spec=replace(pod.spec, preemption_policy="Never"))
