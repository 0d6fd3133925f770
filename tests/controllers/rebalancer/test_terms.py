"""What a policy's rebalance field means."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.controllers.rebalancer.terms import terms_of
from bayplan.objects.third_party.kosmos import WorkloadPolicy
from tests.controllers.rebalancer.support import policy


def terms(expected: int = 10, **written: Any) -> Any:
    return terms_of(msgspec.convert(policy({"a": 1}, rebalance=written), WorkloadPolicy), expected)


@pytest.mark.parametrize(
    ("written", "expected", "number"),
    [
        (None, 10, 1),
        (3, 10, 3),
        (0, 10, 0),
        ("25%", 10, 2),
        ("1%", 10, 1),
        ("0%", 10, 0),
        ("100%", 0, 1),
        ("abc", 9, 0),
    ],
)
def test_how_many_may_be_missing(written: int | str | None, expected: int, number: int) -> None:
    given = {} if written is None else {"maxUnavailable": written}
    assert terms(expected, **given).max_unavailable == number


def test_without_the_field_it_is_off() -> None:
    plain = policy({"a": 1})
    del plain["spec"]["rebalance"]
    found = terms_of(msgspec.convert(plain, WorkloadPolicy), 1)
    assert (found.mode, found.allows_single_replica) == ("Off", False)
    assert (found.interval_s, found.stabilization_s, found.progress_deadline_s) == (10.0, 30.0, 600.0)


@pytest.mark.parametrize(("mode", "meant"), [("auto", "Auto"), ("DryRun", "DryRun"), (False, "Off"), ("odd", "Off")])
def test_modes(mode: Any, meant: str) -> None:
    assert terms(mode=mode).mode == meant


def test_seconds_of_0_are_0() -> None:
    found = terms(stabilizationSeconds=0, intervalSeconds=0, minPodAgeSeconds=7)
    assert (found.stabilization_s, found.interval_s, found.min_pod_age_s) == (0.0, 0.0, 7.0)
