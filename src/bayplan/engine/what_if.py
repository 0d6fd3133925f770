"""
What-if: an imagined cluster, in which pods and nodes come and go and the engine decides, while nothing real changes.

``WhatIf.cache`` is a fork of the cluster: edit it as one would edit the cluster, and ask ``decide``; to try something
and go back, ``fork`` and drop the fork.  ``explain`` and the rebalancer's planner do.  Plugins take part as always.
They see the imagined cluster and its waiting pods through their handles for the length of a question, and
``CycleState.is_dry_run`` tells them to record nothing.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from bayplan.clock import Clock
from bayplan.engine import committing
from bayplan.engine.cache import ClusterCache
from bayplan.engine.evaluation import Evaluator, Settings
from bayplan.engine.node_filters import NodeFilters
from bayplan.engine.waiting_pods import WaitingPod, WaitingPods
from bayplan.errors import StateError
from bayplan.framework.decision import Decision
from bayplan.framework.profile import Profile
from bayplan.framework.snapshot import Snapshot
from bayplan.framework.status import Code, Status
from bayplan.objects.pod import Pod


class Sight:
    """What plugins see through their handles: the real cluster, or an imagined one while they are asked about it."""

    __slots__ = ("_cache", "_waiting")

    def __init__(self, cache: ClusterCache, waiting: WaitingPods) -> None:
        self._cache = cache
        self._waiting = waiting

    def snapshot(self) -> Snapshot:
        return self._cache.snapshot()

    def get(self, uid: str) -> WaitingPod | None:
        """A pod held by Permit."""
        return self._waiting.get(uid)

    def list(self) -> Sequence[WaitingPod]:
        """All pods held by Permit."""
        return self._waiting.list()

    @contextmanager
    def of(self, cache: ClusterCache, waiting: WaitingPods) -> Iterator[None]:
        before = self._cache, self._waiting
        self._cache, self._waiting = cache, waiting
        try:
            yield
        finally:
            self._cache, self._waiting = before


@dataclass(frozen=True, slots=True)
class Means:
    """What a scheduler decides with, whatever cluster it is about."""

    filters: Mapping[str, NodeFilters]
    sight: Sight
    clock: Clock
    seed: int


class WhatIf:
    """An imagined cluster.  What it was made of must stay as it is while it is used, and may change afterwards."""

    def __init__(self, base: ClusterCache, waiting: WaitingPods, means: Means, start: int = 0) -> None:
        self.cache = base.fork()
        self._base = base
        self._made_at = base.generation
        self._waiting = waiting.copy()
        self._means = means
        self._start = start
        self._evaluators: dict[str, Evaluator] = {}

    def fork(self) -> WhatIf:
        """The same cluster once more, to try something in it."""
        self._check()
        return WhatIf(self.cache, self._waiting, self._means, self._start)

    def profile(self, name: str) -> Profile | None:
        filters = self._means.filters.get(name)
        return None if filters is None else filters.profile

    def decide(self, pod: Pod) -> Decision:
        """What would happen to this pod, with every reason and score.  No extender is asked."""
        name = pod.scheduler_name
        evaluator = self._evaluators.get(name)
        if evaluator is None:
            evaluator = self._evaluators[name] = Evaluator(self._means.filters[name], self.cache, remembers=False)
        percentage = self._means.filters[name].profile.percentage_of_nodes_to_score
        settings = Settings(
            self._means.seed,
            percentage=100 if percentage is None else percentage,
            order=self.cache.node_order,
            start=self._start,
            is_dry_run=True,
        )
        with self.seen_by_plugins():
            return evaluator.decide(pod, settings)

    def would_commit(self, decision: Decision) -> Status:
        """
        What Reserve and Permit would say to a decision with a node.

        They have to be asked to know.  The pod is assumed in the imagined cluster, and held pods are copies there, so
        that allowing or rejecting them moves nobody.  What plugins reserved in their own memory they take back in
        Unreserve, before anything else happens.
        """
        profile, waiting = self._means.filters[decision.profile_name].profile, self._waiting
        held = waiting.get(decision.pod.uid)
        if held is not None:  # it has been asked about, and is not asked about again
            return Status(Code.WAIT, tuple(sorted(held.pending_plugins)))
        with self.seen_by_plugins():
            status = committing.commit(decision, profile, self.cache, waiting, self._means.clock)
            if status.is_success or status.is_wait:
                held = waiting.get(decision.pod.uid)
                if held is not None:
                    status = Status(status.code, tuple(sorted(held.pending_plugins)))
                committing.undo(decision, profile, self.cache, waiting)
        return status

    @contextmanager
    def seen_by_plugins(self) -> Iterator[None]:
        """Plugins that are asked meanwhile see this cluster through their handles."""
        self._check()
        with self._means.sight.of(self.cache, self._waiting):
            yield

    def _check(self) -> None:
        if self._base.generation != self._made_at:
            raise StateError("the cluster has changed since this what-if was made of it; make a new one")
