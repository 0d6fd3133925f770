"""Who holds a device: claims, and decisions that are not written yet."""

from __future__ import annotations

from typing import Any

import msgspec

from tests.plugins.dynamic_resources.device_building import Bench, claim, device, request, slice_of

ONE = claim("c", request())
OTHER = claim("other", request())
NOTHING = "cannot allocate all claims"


def decided(bench: Bench, one: Any = ONE) -> Any:
    (allocation,) = bench.results(bench.outcome(one), (one,))
    bench.usage.reserve(one.uid, one.key, allocation)
    return allocation


def stored(one: Any, allocation: Any, version: str) -> Any:
    return one.evolve(
        metadata=msgspec.structs.replace(one.metadata, resource_version=version),
        status=msgspec.structs.replace(one.status, allocation=allocation),
    )


def test_a_decision_counts_before_it_is_written() -> None:
    bench = Bench(slice_of("n1", [device("d0")]))
    decided(bench)
    assert bench.given(OTHER) == NOTHING
    bench.usage.release(ONE.uid)
    assert bench.given(OTHER) == ["r0=d0"]


def test_a_decision_that_the_claim_shows_is_dropped_and_the_device_stays_held() -> None:
    bench = Bench(slice_of("n1", [device("d0")]))
    allocation = decided(bench)
    bench.usage.written(ONE.uid, "7")
    assert bench.usage.pending(ONE.uid) is not None
    held = stored(ONE, allocation, "7")
    bench.put(held)
    assert bench.given(OTHER) == NOTHING
    assert bench.usage.pending(ONE.uid) is None
    bench.usage.release(ONE.uid)
    assert bench.given(OTHER) == NOTHING
    bench.drop(held)
    assert bench.given(OTHER) == ["r0=d0"]


def test_news_from_before_the_write_does_not_end_a_decision_and_later_news_do() -> None:
    bench = Bench(slice_of("n1", [device("d0")]))
    decided(bench)
    bench.usage.written(ONE.uid, "7")
    bench.put(stored(ONE, None, "6"))
    assert bench.given(OTHER) == NOTHING
    bench.put(stored(ONE, None, "8"))
    assert bench.given(OTHER) == ["r0=d0"]


def test_who_holds_a_device_can_be_told() -> None:
    bench = Bench(slice_of("n1", [device("d0")]))
    decided(bench)
    key = ("gpu.example.com", "n1", "d0")
    assert [each.claim for each in bench.usage.holders(key)] == ["default/c"]
