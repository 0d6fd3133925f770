"""What a pod will probably use, and how much of that a measured load shows already.

A load that is an average over minutes knows little of pods that started a moment ago. The Dynamic plugin and the
controller of spare capacity add what is missing, by the rules written here.
"""

from __future__ import annotations

from typing import NamedTuple

from bayplan.objects import spare
from bayplan.objects.pod import Pod
from bayplan.objects.resources import CPU, MEMORY

NO_REQUEST_CPU_MILLI = 250
NO_REQUEST_MEMORY_BYTES = 200 * 1024**2
"""What a pod that asks for nothing is thought to use."""
CPU_SHARE = 0.85
MEMORY_SHARE = 0.7
"""How much of their requests pods use, as a rule."""
WINDOW_S = 300.0
"""What the loads are averages over."""


class Use(NamedTuple):
    """An amount of both resources."""

    cpu_milli: float
    memory_bytes: float

    def times(self, factor: float) -> Use:
        return Use(self.cpu_milli * factor, self.memory_bytes * factor)

    def plus(self, other: Use) -> Use:
        return Use(self.cpu_milli + other.cpu_milli, self.memory_bytes + other.memory_bytes)


NOTHING = Use(0.0, 0.0)


def from_requests(pod: Pod, cpu_share: float = CPU_SHARE, memory_share: float = MEMORY_SHARE) -> Use:
    """A share of what the pod asks for; what a spare pod declares counts in full."""
    declared = spare.declared(pod)
    if declared is not None:
        return Use(declared.cpu_milli, declared.memory_bytes)
    asked = pod.requests
    return Use(
        asked.cpu_milli * cpu_share if asked.cpu_milli else NO_REQUEST_CPU_MILLI,
        asked.memory_bytes * memory_share if asked.memory_bytes else NO_REQUEST_MEMORY_BYTES,
    )


def unseen(started_at: float | None, sampled_at: float, window_s: float = WINDOW_S) -> float:
    """The part of a pod's use (0 to 1) that an average taken at `sampled_at` does not show.

    A pod that is not known to have started is not in it at all.
    """
    if started_at is None or sampled_at <= started_at:
        return 1.0
    return max(0.0, 1.0 - (sampled_at - started_at) / window_s)


def resource_of(metric: str) -> str | None:
    """The resource that a metric is about, if it shows how much is in use now: peaks of the past stay what they are."""
    if "max" in metric:
        return None
    if metric.startswith("cpu_"):
        return CPU
    return MEMORY if metric.startswith("mem") else None
