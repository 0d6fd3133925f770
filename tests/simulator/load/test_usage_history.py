"""The metrics that recording rules would make of the samples."""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.simulator.load.usage_history import SimulatedMetric, UsageHistory, parse_metric

START = 1_750_000_000.0


def history(*cpu: float) -> UsageHistory:
    """One node; the first value holds for all the time before, the others are samples 30 seconds apart."""
    made = UsageHistory(START, np.array([[cpu[0], 0.0]]))
    for number, value in enumerate(cpu[1:], start=1):
        made.add(START + 30 * number, np.array([[value, 0.0]]))
    return made


@pytest.mark.parametrize(
    ("name", "metric"),
    [
        ("cpu_usage_active", SimulatedMetric(0, "active", 0.0)),
        ("mem_usage_avg_5m", SimulatedMetric(1, "avg", 300.0)),
        ("cpu_usage_max_avg_1d", SimulatedMetric(0, "max_avg", 86400.0)),
        ("cpu_usage_p95_15m", SimulatedMetric(0, "p95", 900.0)),
        ("disk_io_avg_5m", None),
        ("cpu_usage_avg_5x", None),
    ],
)
def test_the_name_of_a_metric_says_what_it_is(name: str, metric: SimulatedMetric | None) -> None:
    assert parse_metric(name) == metric


def value(made: UsageHistory, name: str, at_s: float) -> float:
    metric = parse_metric(name)
    assert metric is not None
    return float(made.value(metric, START + at_s)[0])


def test_an_average_rises_over_five_minutes_and_is_made_every_minute() -> None:
    step = history(0.0, *[1.0] * 20)
    assert [round(value(step, "cpu_usage_avg_5m", at), 3) for at in (0, 60, 90, 180, 300, 600)] == [
        0,
        0.2,
        0.2,
        0.6,
        1,
        1,
    ]


def test_a_peak_stays_for_its_time() -> None:
    spike = history(0.0, *[1.0] * 10, *[0.0] * 140)
    assert value(spike, "cpu_usage_max_avg_1h", 600) == pytest.approx(1.0)
    assert value(spike, "cpu_usage_max_avg_1h", 3600) == pytest.approx(1.0)
    assert value(spike, "cpu_usage_max_avg_1h", 4500) < 0.5


def test_a_percentile_sees_short_peaks_that_an_average_hides() -> None:
    spiky = history(0.1, *[0.1] * 18, *[0.9] * 2)
    assert value(spiky, "cpu_usage_p95_10m", 600) > 0.8 > value(spiky, "cpu_usage_avg_10m", 600)
    assert value(spiky, "cpu_usage_active", 600) == 0.9
