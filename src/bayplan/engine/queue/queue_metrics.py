"""
QueueMetrics: the queue's metrics, under kube-scheduler's names.

``SchedulingQueue`` reports every move.  Counters go out at once; gauges are kept and written when a reader is
about to read them, since they would cost more than the queue itself if written for every pod.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

from bayplan.engine.queue.in_flight import InFlight
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.ports import MetricSink


class QueueMetrics:
    """What came in where, and how many waiting pods each plugin rejected."""

    __slots__ = ("_labels", "_metrics", "_rejections")

    def __init__(self, metrics: MetricSink) -> None:
        self._metrics = metrics
        self._rejections: Counter[tuple[str, str]] = Counter()
        self._labels: set[str] = set()

    def entered(self, place: str, cause: str) -> None:
        self._metrics.counter("queue_incoming_pods_total", queue=place, event=cause)

    def rejected(self, queued: QueuedPod, by: int = 1) -> None:
        """The pod waits because of its rejecting plugins; with -1, it no longer does."""
        for plugin in queued.unschedulable_plugins | queued.pending_plugins:
            self._rejections[queued.pod.scheduler_name, plugin] += by

    def rejected_by(self, plugin: str, queued: QueuedPod) -> None:
        """The pod now waits because of this plugin too."""
        self._rejections[queued.pod.scheduler_name, plugin] += 1

    def publish(self, pending: Mapping[str, int], in_flight: InFlight) -> None:
        """Write all gauges."""
        for place, number in pending.items():
            self._metrics.gauge("pending_pods", number, queue=place)
        for (profile, plugin), number in self._rejections.items():
            self._metrics.gauge("unschedulable_pods", number, plugin=plugin, profile=profile)
        counts = in_flight.event_counts()
        counts["PodPopped"] = len(in_flight)
        # A label that was seen once must fall back to 0 when its events are gone.
        self._labels |= counts.keys()
        for label in sorted(self._labels):
            self._metrics.gauge("inflight_events", counts[label], event=label)
