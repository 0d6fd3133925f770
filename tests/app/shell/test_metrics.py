"""The metrics page: names, labels, buckets, and mistakes that must not go unnoticed."""

from __future__ import annotations

import pytest
from prometheus_client.parser import text_string_to_metric_families

from bayplan.app.shell.metrics import COUNTERS, GAUGES, HISTOGRAMS, PrometheusMetrics


def values(metrics: PrometheusMetrics, family: str) -> dict[tuple[str, ...], float]:
    """Samples of one family by name and label values."""
    found = {}
    for each in text_string_to_metric_families(metrics.render().decode()):
        if each.name == family:
            for sample in each.samples:
                found[(sample.name.removeprefix(family), *sample.labels.values())] = sample.value
    return found


def test_counters_add_up_by_labels() -> None:
    metrics = PrometheusMetrics()
    for result, times in (("scheduled", 3), ("error", 1)):
        for _ in range(times):
            metrics.counter("schedule_attempts_total", result=result, profile="p")
    metrics.counter("schedule_attempts_total", 5, profile="p", result="scheduled")
    assert values(metrics, "scheduler_schedule_attempts") == {
        ("_total", "p", "scheduled"): 8,
        ("_total", "p", "error"): 1,
    }


def test_counters_without_labels_start_at_zero() -> None:
    assert values(PrometheusMetrics(), "scheduler_preemption_attempts") == {("_total",): 0}


def test_gauges_show_the_last_value() -> None:
    metrics = PrometheusMetrics()
    for value in (3, 7):
        metrics.gauge("pending_pods", value, queue="active")
    assert values(metrics, "scheduler_pending_pods") == {("", "active"): 7}


@pytest.mark.parametrize(("value", "first"), [(0.5, "1"), (1.0, "1"), (1.5, "2"), (16.0, "16"), (17.0, "+Inf")])
def test_a_value_counts_in_its_bucket_and_all_above(value: float, first: str) -> None:
    metrics = PrometheusMetrics()
    metrics.observe("pod_scheduling_attempts", value)
    found = values(metrics, "scheduler_pod_scheduling_attempts")
    bounds = ["1", "2", "4", "8", "16", "+Inf"]
    assert [found["_bucket", bound] for bound in bounds] == [float(n >= bounds.index(first)) for n in range(6)]
    assert (found["_sum",], found["_count",]) == (value, 1)


def test_buckets_are_kube_schedulers() -> None:
    shown = {name: (declared.buckets[0], len(declared.buckets)) for name, declared in HISTOGRAMS.items()}
    assert shown["scheduling_attempt_duration_seconds"] == (0.001, 15)
    assert shown["pod_scheduling_sli_duration_seconds"] == (0.01, 20)
    assert shown["framework_extension_point_duration_seconds"] == (0.0001, 12)
    assert shown["plugin_execution_duration_seconds"] == (0.00001, 20)


@pytest.mark.parametrize("labels", [{}, {"result": "x"}, {"result": "x", "profile": "p", "more": "m"}])
def test_wrong_labels_raise(labels: dict[str, str]) -> None:
    with pytest.raises(KeyError):
        PrometheusMetrics().counter("schedule_attempts_total", **labels)


def test_names_nobody_declared_raise() -> None:
    metrics = PrometheusMetrics()
    for write in (metrics.counter, metrics.gauge, metrics.observe):
        with pytest.raises(KeyError):
            write("no_such_metric", 1.0)


def test_every_metric_is_on_the_page_with_a_help_text() -> None:
    page = PrometheusMetrics().render().decode()
    for name in (*COUNTERS, *GAUGES, *HISTOGRAMS):
        full = name if name.startswith(("bayplan_", "leader_election_")) else f"scheduler_{name}"
        assert f"# HELP {full} " in page
