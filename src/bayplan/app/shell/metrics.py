"""
Metrics under kube-scheduler's names and labels, so that dashboards and alerts work unchanged.

``PrometheusMetrics`` implements ``framework.ports.MetricSink``; ``app.shell.http_server`` renders it.  A number costs
about a microsecond, since several are written for every pod: all is kept in plain dicts, without locks, and turned into
Prometheus' form when they are read.  So it belongs to one thread.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import (
    CounterMetricFamily,
    GaugeMetricFamily,
    HistogramMetricFamily,
    Metric,
)
from prometheus_client.registry import Collector

ATTEMPT = tuple(0.001 * 2**k for k in range(15))
POINT = tuple(0.0001 * 2**k for k in range(12))
PLUGIN = tuple(0.00001 * 1.5**k for k in range(20))
SLI = tuple(0.01 * 2**k for k in range(20))
HINT = tuple(0.00001 * 2**k for k in range(12))
GOROUTINE = tuple(0.01 * 2**k for k in range(20))
VICTIMS = (1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0)
ATTEMPTS = (1.0, 2.0, 4.0, 8.0, 16.0)


@dataclass(frozen=True, slots=True)
class Declared:
    """What a metric is about.  Names get the prefix ``scheduler_`` unless they are Bayplan's own."""

    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


COUNTERS: dict[str, Declared] = {
    "schedule_attempts_total": Declared("Attempts to schedule pods, by result.", ("result", "profile")),
    "queue_incoming_pods_total": Declared("Pods that entered a queue, by event.", ("queue", "event")),
    "preemption_attempts_total": Declared("Attempts to make room by preemption."),
    "preemption_goroutines_execution_total": Declared("Preemptions carried out, by result.", ("result",)),
    "plugin_evaluation_total": Declared(
        "Calls of a plugin at an extension point.", ("plugin", "extension_point", "profile")
    ),
    "pod_scheduled_after_flush_total": Declared("Pods scheduled only because they had waited long enough."),
    "bayplan_full_evaluations_total": Declared(
        "Pods for which every plugin was asked about every node, by what kept answers could not be used for.",
        ("cause",),
    ),
    "slow_plugin_calls_total": Declared("Calls of a plugin that took too long.", ("plugin", "extension_point")),
}
SERVICE_GAUGES: dict[str, Declared] = {
    "leader_election_master_status": Declared("1 while this replica leads.", ("name",)),
    "bayplan_working": Declared("1 while this replica does what only the leader does."),
    "bayplan_bad_objects": Declared("Objects left out because they made no sense.", ("kind",)),
    "bayplan_unreadable_kinds": Declared("1 for a kind that the API server does not let us read.", ("kind",)),
    "bayplan_lists": Declared("Times a kind was listed.", ("kind",)),
    "bayplan_watches": Declared("Times a kind was watched.", ("kind",)),
    "bayplan_events_dropped": Declared("Events about pods that were not written."),
    "bayplan_events_waiting": Declared("Events about pods not written yet."),
}
"""What every service shows, whatever it does."""
GAUGES: dict[str, Declared] = {
    "pending_pods": Declared("Pods that wait, by queue.", ("queue",)),
    "unschedulable_pods": Declared("Waiting pods that a plugin rejected.", ("plugin", "profile")),
    "cache_size": Declared("Nodes, pods and assumed pods in the cache.", ("type",)),
    "inflight_events": Declared("Events kept for pods being scheduled.", ("event",)),
    "goroutines": Declared("Work under way beside scheduling.", ("operation",)),
    "bayplan_load_unknown_nodes": Declared("Nodes whose load is not known or not to go by.", ("metric",)),
    "bayplan_load_ahead_nodes": Declared("Nodes whose load is dated in the future and does not count.", ("metric",)),
    "bayplan_spare_closed_nodes": Declared("Nodes whose spare capacity is closed or not known."),
    **SERVICE_GAUGES,
}
HISTOGRAMS: dict[str, Declared] = {
    "scheduling_attempt_duration_seconds": Declared(
        "From the start of an attempt to its end, binding included.", ("result", "profile"), ATTEMPT
    ),
    "scheduling_algorithm_duration_seconds": Declared("Finding a node.", (), ATTEMPT),
    "pod_scheduling_sli_duration_seconds": Declared("From a pod's first attempt to its bind.", ("attempts",), SLI),
    "pod_scheduling_attempts": Declared("Attempts it took to schedule a pod.", (), ATTEMPTS),
    "framework_extension_point_duration_seconds": Declared(
        "All plugins of an extension point.", ("extension_point", "status", "profile"), POINT
    ),
    "plugin_execution_duration_seconds": Declared(
        "One plugin at an extension point, for one attempt in ten.",
        ("plugin", "extension_point", "status"),
        PLUGIN,
    ),
    "queueing_hint_execution_duration_seconds": Declared(
        "Asking a plugin whether an event helps a waiting pod.", ("plugin", "event", "hint"), HINT
    ),
    "event_handling_duration_seconds": Declared("Taking in an event of the cluster.", ("event",), POINT),
    "permit_wait_duration_seconds": Declared("Waiting on Permit.", ("result",), ATTEMPT),
    "preemption_victims": Declared("Victims of a preemption.", (), VICTIMS),
    "preemption_goroutines_duration_seconds": Declared("Telling victims to go.", ("result",), GOROUTINE),
}
# Names that other components of Kubernetes share.
_UNPREFIXED = ("bayplan_", "leader_election_")

_Labels = tuple[str, ...]


@dataclass(slots=True)
class _Histogram:
    """Counts per bucket, the last one for everything above."""

    buckets: tuple[float, ...]
    counts: list[int] = field(init=False)
    total: float = 0.0

    def __post_init__(self) -> None:
        self.counts = [0] * (len(self.buckets) + 1)


class PrometheusMetrics(Collector):
    """Every metric is declared; a name or label that is not is a mistake in the code and raises."""

    def __init__(
        self,
        counters: Mapping[str, Declared] = COUNTERS,
        gauges: Mapping[str, Declared] = GAUGES,
        histograms: Mapping[str, Declared] = HISTOGRAMS,
    ) -> None:
        self._declared = counters, gauges, histograms
        self._counters: dict[str, dict[_Labels, float]] = {name: {} for name in counters}
        self._gauges: dict[str, dict[_Labels, float]] = {name: {} for name in gauges}
        self._histograms: dict[str, dict[_Labels, _Histogram]] = {name: {} for name in histograms}
        for name, declared in counters.items():
            if not declared.labels:
                self._counters[name][()] = 0.0
        self._registry = CollectorRegistry()
        self._registry.register(self)

    def counter(self, name: str, value: float = 1, /, **labels: str) -> None:
        series = self._counters[name]
        key = _key(labels, self._declared[0][name])
        series[key] = series.get(key, 0.0) + value

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        self._gauges[name][_key(labels, self._declared[1][name])] = value

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        declared = self._declared[2][name]
        series = self._histograms[name]
        key = _key(labels, declared)
        histogram = series.get(key)
        if histogram is None:
            histogram = series[key] = _Histogram(declared.buckets)
        histogram.counts[bisect_left(declared.buckets, seconds)] += 1
        histogram.total += seconds

    def collect(self) -> Iterator[Metric]:
        """For the registry."""
        counters, gauges, histograms = self._declared
        for name, declared in counters.items():
            counter = CounterMetricFamily(_full(name), declared.help, labels=declared.labels)
            for key, value in self._counters[name].items():
                counter.add_metric(key, value)
            yield counter
        for name, declared in gauges.items():
            gauge = GaugeMetricFamily(_full(name), declared.help, labels=declared.labels)
            for key, value in self._gauges[name].items():
                gauge.add_metric(key, value)
            yield gauge
        for name, declared in histograms.items():
            family = HistogramMetricFamily(_full(name), declared.help, labels=declared.labels)
            bounds = [*(f"{bound:g}" for bound in declared.buckets), "+Inf"]
            for key, histogram in self._histograms[name].items():
                family.add_metric(key, list(zip(bounds, accumulate(histogram.counts), strict=True)), histogram.total)
            yield family

    def render(self) -> bytes:
        return generate_latest(self._registry)


def _key(labels: dict[str, str], declared: Declared) -> _Labels:
    names = declared.labels
    if tuple(labels) == names:
        return tuple(labels.values())
    if len(labels) != len(names):
        raise KeyError(f"labels are {names}, got {tuple(labels)}")
    return tuple([labels[name] for name in names])


def _full(name: str) -> str:
    return name if name.startswith(_UNPREFIXED) else f"scheduler_{name}"
