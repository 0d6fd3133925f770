"""
What the pods of a workload really use, learned from how the load of their nodes moved when they came.

Between two samples of a node's load some pods become visible.  If all of them belong to one workload, and no pod went
away, the difference is theirs.  Several such moments make an estimate; until then the requests have to do.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from bayplan.bounded_cache import BoundedCache
from bayplan.objects.load_estimate import unseen
from bayplan.objects.pod import Pod

ENOUGH_PODS = 1.0
"""How many pods must have become visible before what was learned counts."""
LEAST_SEEN = 0.3
"""A difference that shows less than this of a pod tells more of the other pods."""
MARGIN = 1.1
MAX_WORKLOADS = 4096

_HASH_LABEL = "pod-template-hash"

Workload = tuple[str, str, str]
"""Kind, namespace and name."""


def workload_of(pod: Pod) -> Workload:
    """Who made the pod: the Deployment rather than its ReplicaSet; the pod itself if it has no owner."""
    owner = pod.controller
    if owner is None:
        return "Pod", pod.namespace, pod.name
    digest = pod.labels.get(_HASH_LABEL, "")
    if owner.kind == "ReplicaSet" and digest and owner.name.endswith(f"-{digest}"):
        return "Deployment", pod.namespace, owner.name.removesuffix(f"-{digest}")
    return owner.kind, pod.namespace, owner.name


class _Sample(NamedTuple):
    at: float
    amount: float
    uids: frozenset[str]


@dataclass(slots=True)
class _Learned:
    """A mean, weighted by how much of a pod each moment showed."""

    amount: float = 0.0
    pods: float = 0.0

    def take(self, amount: float, pods: float) -> None:
        self.pods += pods
        self.amount += (amount - self.amount) * min(1.0, pods / min(self.pods, 10.0))


@dataclass(slots=True)
class Learning:
    """One resource."""

    window_s: float
    _samples: dict[str, _Sample] = field(default_factory=dict)
    _known: BoundedCache[Workload, _Learned] = field(default_factory=lambda: BoundedCache(MAX_WORKLOADS))

    def amount(self, pod: Pod, asked: float) -> float | None:
        """What a pod of this workload uses, a little more to be safe; None if that is not known."""
        known = self._known.get(workload_of(pod))
        if known is None or known.pods < ENOUGH_PODS:
            return None
        return max(known.amount * MARGIN, asked * 0.05)

    def see(self, node_name: str, at: float, amount: float, pods: Iterable[Pod]) -> None:
        """A node's use as it was measured at a moment, with the pods that are on it now."""
        before = self._samples.get(node_name)
        if before is not None and at <= before.at:
            return
        there = {pod.uid: pod for pod in pods}
        self._samples[node_name] = _Sample(at, amount, frozenset(there))
        if before is None or not before.uids <= there.keys():
            return
        appeared: dict[Workload, float] = {}
        for pod in there.values():
            shown = self._shown(pod, at) - self._shown(pod, before.at)
            if shown > 0:
                workload = workload_of(pod)
                appeared[workload] = appeared.get(workload, 0.0) + shown
        if len(appeared) == 1:
            ((workload, shown),) = appeared.items()
            if shown >= LEAST_SEEN:
                self._take(workload, max(0.0, amount - before.amount) / shown, shown)

    def _shown(self, pod: Pod, at: float) -> float:
        return 1.0 - unseen(pod.start_time, at, self.window_s)

    def _take(self, workload: Workload, amount: float, pods: float) -> None:
        known = self._known.get(workload)
        if known is None:
            known = self._known[workload] = _Learned()
        known.take(amount, pods)
