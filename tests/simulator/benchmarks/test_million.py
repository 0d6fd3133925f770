"""The large benchmark, small: every pod is bound, and the numbers add up."""

from __future__ import annotations

from bayplan.simulator.benchmarks.million import measure


def test_every_pod_is_bound_and_told_of() -> None:
    told: list[tuple[int, int]] = []
    result = measure(50, 120, progress=lambda done, total: told.append((done, total)))
    assert (result["nodes"], result["pods"], result["bound"]) == (50, 120, 120)
    assert told[-1] == (120, 120)
    assert result["peakBytes"] > 0


def test_pods_that_fit_nowhere_are_not_counted_as_bound() -> None:
    assert measure(1, 200)["bound"] == 40  # four cores, a tenth of one each
