"""What pods will use, and what a load shows of it."""

from __future__ import annotations

import pytest

from bayplan.objects.load_estimate import Use, from_requests, resource_of, unseen
from bayplan.objects.spare import CPU_MILLI, MEMORY_MIB
from bayplan.testing import pod


@pytest.mark.parametrize(
    ("started", "sampled", "share"),
    [(None, 0.0, 1.0), (100.0, 100.0, 1.0), (100.0, 175.0, 0.75), (100.0, 400.0, 0.0), (100.0, 9999.0, 0.0)],
)
def test_an_average_over_five_minutes_shows_a_pod_bit_by_bit(
    started: float | None, sampled: float, share: float
) -> None:
    assert unseen(started, sampled) == share


def test_use_is_guessed_from_requests_or_taken_as_declared() -> None:
    assert from_requests(pod("p").cpu("1").memory("1000").build(), 0.5, 0.25) == Use(500.0, 250.0)
    assert from_requests(pod("p").build()) == Use(250.0, 200 * 1024**2)
    assert from_requests(pod("p").request({CPU_MILLI: 7, MEMORY_MIB: 2}).build()) == Use(7, 2 * 1024**2)


@pytest.mark.parametrize(
    ("metric", "resource"),
    [("cpu_usage_avg_5m", "cpu"), ("mem_usage_p95_5m", "memory"), ("cpu_usage_max_avg_1h", None), ("disk_io", None)],
)
def test_only_metrics_of_present_use_take_estimates(metric: str, resource: str | None) -> None:
    assert resource_of(metric) == resource
