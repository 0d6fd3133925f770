"""What the annotator shows of itself as metrics. `app.annotator.live` declares them by these names."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bayplan.controllers.node_annotator.readings import Reading
from bayplan.controllers.node_annotator.sync_plan import SyncPlan
from bayplan.framework.ports import MetricSink
from bayplan.objects.third_party.crane_annotations import GRACE_S

COUNTERS = {
    "bayplan_annotator_queries_total": ("Queries sent to Prometheus.", ("metric", "result")),
    "bayplan_annotator_patches_total": ("Writes to nodes.", ("result",)),
    "bayplan_annotator_policy_reloads_total": ("Changes of the policy that were noticed.", ("result",)),
}
GAUGES = {
    "bayplan_annotator_nodes": ("Nodes in the cluster.", ()),
    "bayplan_annotator_bindings": ("Pods that nodes got lately.", ()),
    "bayplan_annotator_prometheus_up": ("1 if the last query for the metric was answered.", ("metric",)),
    "bayplan_annotator_reading_age_seconds": ("Since the last answer for the metric.", ("metric",)),
    "bayplan_annotator_series": ("Series of the last answer, by what became of them.", ("metric", "state")),
    "bayplan_annotator_nodes_without_value": ("Nodes the last answer says nothing about.", ("metric",)),
    "bayplan_annotator_stale_nodes": (
        "Nodes whose annotation is missing or too old for the scheduler.",
        ("metric",),
    ),
}
HISTOGRAMS = {
    "bayplan_annotator_query_duration_seconds": ("Waiting for Prometheus.", ("metric",)),
}


def publish(
    metrics: MetricSink, readings: Iterable[Reading], plan: SyncPlan, nodes: Collection[str], now: float
) -> None:
    gauge = metrics.gauge
    gauge("bayplan_annotator_nodes", len(nodes))
    for reading in readings:
        metric, loads = reading.metric, reading.loads
        if reading.at > float("-inf"):
            gauge("bayplan_annotator_reading_age_seconds", max(0.0, now - reading.at), metric=metric)
        is_up = not reading.problem and reading.at > float("-inf")
        gauge("bayplan_annotator_prometheus_up", float(is_up), metric=metric)
        for state in ("matched", "duplicate", "unmatched", "unusable"):
            gauge("bayplan_annotator_series", getattr(loads, state), metric=metric, state=state)
        without = sum(name not in loads.by_node for name in nodes)
        gauge("bayplan_annotator_nodes_without_value", without, metric=metric)
        stale = sum(name not in plan or plan.is_late(name, metric, now, GRACE_S) for name in nodes)
        gauge("bayplan_annotator_stale_nodes", stale, metric=metric)


def advice(reading: Reading) -> str:
    """Why an answer helps no node, as far as it shows."""
    loads = reading.loads
    if loads.unmatched:
        return (
            f"{loads.unmatched} series, none with a node's InternalIP or name in the label instance; "
            "check the relabelling of the scrape job"
        )
    if loads.unusable:
        return f"{loads.unusable} series, none with a number from 0 on"
    return "no series; check that the recording rules are loaded and the node exporters are scraped"
