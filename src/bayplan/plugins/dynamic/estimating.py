"""
What a node's load does not show: pods that came since it was measured, and the pod that is being placed.

``judging`` adds it to the loads that show present use, when the args ask for estimates.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from bayplan.framework import NodeTable, NodeView
from bayplan.objects.load_estimate import NOTHING, Use, from_requests, resource_of, unseen
from bayplan.objects.pod import Pod
from bayplan.objects.resources import CPU, MEMORY
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy
from bayplan.objects.third_party.crane_annotations import is_ahead
from bayplan.plugins.dynamic.args import Estimate
from bayplan.plugins.dynamic.learning import Learning
from bayplan.plugins.dynamic.reading import Loads, Metric, Numbers, metric_of
from bayplan.plugins.per_node import PerNode


class Shares(NamedTuple):
    """Fractions of a node's allocatable."""

    cpu: Numbers
    memory: Numbers

    def of(self, resource: str) -> Numbers:
        return self.cpu if resource == CPU else self.memory


class Estimates:
    """Estimates for the nodes of one profile."""

    def __init__(
        self,
        settings: Estimate,
        loads: Loads,
        policy: Callable[[], DynamicSchedulerPolicy],
        now: Callable[[], float],
    ) -> None:
        self._now = now
        self._settings = settings
        self._loads = loads
        self._policy = policy
        self._learning: dict[str, Learning] = {}
        if settings.source == "learned":
            self._learning = {name: Learning(settings.window) for name in (CPU, MEMORY)}
        self._unseen = PerNode(2, self._unseen_on)

    def use(self, pod: Pod) -> Use:
        """What a pod will probably use."""
        guess = from_requests(pod, self._settings.cpu_share, self._settings.memory_share)
        if not self._learning:
            return guess
        cpu = self._learning[CPU].amount(pod, guess.cpu_milli)
        memory = self._learning[MEMORY].amount(pod, guess.memory_bytes)
        return Use(guess.cpu_milli if cpu is None else cpu, guess.memory_bytes if memory is None else memory)

    def of_all(self, nodes: NodeTable, pod: Pod) -> Shares:
        """What is to be added to each node's load if the pod goes there."""
        coming, use = self._unseen.of_all(nodes), self.use(pod)
        return Shares(
            _share(coming[:, 0] + use.cpu_milli, nodes.alloc_cpu_milli),
            _share(coming[:, 1] + use.memory_bytes, nodes.alloc_mem_bytes),
        )

    def of_one(self, node: NodeView, pod: Pod) -> Shares:
        coming, use = self._unseen.of_one(node), self.use(pod)
        return Shares(
            _share(np.array([coming[0] + use.cpu_milli]), np.array([node.alloc_cpu_milli])),
            _share(np.array([coming[1] + use.memory_bytes]), np.array([node.alloc_mem_bytes])),
        )

    def unseen_on(self, node: NodeView) -> Use:
        """The part of this node's use that its load does not show."""
        return Use(*self._unseen.of_one(node))

    def _unseen_on(self, node: NodeView) -> Use:
        policy, pods = self._policy(), list(node.pods)
        cpu_at, memory_at = (self._measured(node, policy, resource, pods) for resource in (CPU, MEMORY))
        total = NOTHING
        for pod in pods:
            started, window = pod.start_time, self._settings.window
            cpu = 0.0 if cpu_at is None else unseen(started, cpu_at, window)
            memory = 0.0 if memory_at is None else unseen(started, memory_at, window)
            if cpu or memory:
                use = self.use(pod)
                total = total.plus(Use(use.cpu_milli * cpu, use.memory_bytes * memory))
        return total

    def _measured(self, node: NodeView, policy: DynamicSchedulerPolicy, resource: str, pods: list[Pod]) -> float | None:
        """When the present use of a resource was measured; what there is to learn from it is learned."""
        metric = _present(policy, resource)
        reading = None if metric is None else self._loads.reading(node.object, metric)
        if reading is None:
            return None
        learning = self._learning.get(resource)
        if (
            learning is not None
            and node.table.revision[node.row] >= 0
            and math.isfinite(reading.value)
            and not is_ahead(reading.at, self._now())
        ):
            amount = node.alloc_cpu_milli if resource == CPU else node.alloc_mem_bytes
            learning.see(node.name, reading.at, reading.value * amount, pods)
        return reading.at


def _present(policy: DynamicSchedulerPolicy, resource: str) -> Metric | None:
    """The first metric of the policy that shows how much of the resource is in use now."""
    for name in policy.metrics:
        if resource_of(name) == resource:
            return metric_of(policy, name)
    return None


def _share(amount: Numbers, allocatable: npt.NDArray[np.int64]) -> Numbers:
    """A fraction; nothing of a node that has nothing."""
    return np.divide(amount, allocatable, out=np.zeros(len(amount)), where=allocatable > 0)
