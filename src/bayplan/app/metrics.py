"""
Metrics under kube-scheduler's names and labels, so that dashboards and alerts work unchanged.

``PrometheusMetrics`` implements ``framework.ports.MetricSink``; ``app.serving`` renders it.
"""

from __future__ import annotations

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest

_ATTEMPT = tuple(0.001 * 2**k for k in range(15))
_POINT = tuple(0.0001 * 2**k for k in range(12))
_SLI = tuple(0.01 * 2**k for k in range(20))
_HINT = tuple(0.00001 * 2**k for k in range(12))
_VICTIMS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)

COUNTERS: dict[str, tuple[str, ...]] = {
    "schedule_attempts_total": ("result", "profile"),
    "queue_incoming_pods_total": ("queue", "event"),
    "preemption_attempts_total": (),
    "slow_plugin_calls_total": ("plugin", "extension_point"),
    "pod_scheduled_after_flush_total": (),
}
GAUGES: dict[str, tuple[str, ...]] = {
    "pending_pods": ("queue",),
    "unschedulable_pods": ("plugin", "profile"),
    "cache_size": ("type",),
    "inflight_events": ("event",),
    "bad_objects": ("kind",),
    "dropped_events": (),
}
HISTOGRAMS: dict[str, tuple[tuple[str, ...], tuple[float, ...]]] = {
    "scheduling_attempt_duration_seconds": (("result", "profile"), _ATTEMPT),
    "scheduling_algorithm_duration_seconds": ((), _ATTEMPT),
    "pod_scheduling_sli_duration_seconds": (("attempts",), _SLI),
    "pod_scheduling_attempts": ((), (1.0, 2.0, 4.0, 8.0, 16.0)),
    "framework_extension_point_duration_seconds": (("extension_point", "status", "profile"), _POINT),
    "queueing_hint_execution_duration_seconds": (("plugin", "event", "hint"), _HINT),
    "permit_wait_duration_seconds": (("result",), _ATTEMPT),
    "preemption_victims": ((), _VICTIMS),
}


class PrometheusMetrics:
    """Every metric is declared above; a name that is not is a mistake in the code and raises."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        common = {"registry": self.registry, "namespace": "scheduler"}
        self._counters = {
            name: Counter(name.removesuffix("_total"), _help(name), labels, **common)  # type: ignore[arg-type]
            for name, labels in COUNTERS.items()
        }
        self._gauges = {
            name: Gauge(name, _help(name), labels, **common)  # type: ignore[arg-type]
            for name, labels in GAUGES.items()
        }
        self._histograms = {
            name: Histogram(name, _help(name), labels, buckets=buckets, **common)  # type: ignore[arg-type]
            for name, (labels, buckets) in HISTOGRAMS.items()
        }

    def counter(self, name: str, value: float = 1, **labels: str) -> None:
        metric = self._counters[name]
        (metric.labels(**labels) if labels else metric).inc(value)

    def gauge(self, name: str, value: float, **labels: str) -> None:
        metric = self._gauges[name]
        (metric.labels(**labels) if labels else metric).set(value)

    def observe(self, name: str, seconds: float, **labels: str) -> None:
        metric = self._histograms[name]
        (metric.labels(**labels) if labels else metric).observe(seconds)

    def render(self) -> bytes:
        return generate_latest(self.registry)


def _help(name: str) -> str:
    return name.replace("_", " ")
