"""Two schedulers give away the same thing at the same time: the later one must notice, whatever the thing is."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.plugins.dynamic_resources.rivals import conflict
from tests.plugins.dynamic_resources.device_building import Bench, claim, device, request, slice_of

WHOLE = device("d0")
SHARED = device("d0", capacity={"memory": {"value": "8Gi"}}, allowMultipleAllocations=True)
COUNTERS = slice_of(None, name="counters", pool="n1", count=2, sharedCounters=[
    {"name": "gpu", "counters": {"slots": {"value": "3"}}}
])  # fmt: skip


def part(name: str, slots: int, **more: Any) -> dict[str, Any]:
    takes = [{"counterSet": "gpu", "counters": {"slots": {"value": str(slots)}}}]
    return device(name, {"name": name}, consumesCounters=takes, **more)


def parts(*devices: dict[str, Any]) -> tuple[Any, Any]:
    return COUNTERS, slice_of("n1", devices, count=2)


def asking(name: str, memory: str = "", device_name: str = "", **more: Any) -> Any:
    capacity = {"capacity": {"requests": {"memory": memory}}} if memory else {}
    expressions = [f"name={device_name}"] if device_name else []
    return claim(name, request("r0", *expressions, **capacity, **more))


def told(published: tuple[Any, ...], first: Any, second: Any) -> str:
    """What the scheduler of the second claim is told, which did not know of the first when it decided."""
    theirs, ours = Bench(*published), Bench(*published)
    (allocation,) = ours.results(ours.outcome(second), (second,))
    ours.put(theirs.allocate(first))
    ours.inventory.catch_up()
    ours.usage.catch_up()
    return conflict(allocation, ours.inventory.pool, ours.usage.others(second.uid))


@pytest.mark.parametrize(
    ("published", "first", "second", "expected"),
    [
        ((slice_of("n1", [WHOLE]),), asking("a"), asking("b"), "device d0 was given to claim default/a"),
        (
            (slice_of("n1", [SHARED]),),
            asking("a", "5Gi"),
            asking("b", "4Gi"),
            "the capacity of device d0 was given to claim default/a",
        ),
        ((slice_of("n1", [SHARED]),), asking("a", "4Gi"), asking("b", "4Gi"), ""),
        (
            parts(part("p0", 2), part("p1", 2)),
            asking("a", device_name="p0"),
            asking("b", device_name="p1"),
            "what device p1 takes from its pool was given to claim default/a",
        ),
        (parts(part("p0", 2), part("p1", 1)), asking("a", device_name="p0"), asking("b", device_name="p1"), ""),
        (
            # Both share one device, which takes its counters once.
            parts(part("p0", 2, capacity={"memory": {"value": "8Gi"}}, allowMultipleAllocations=True)),
            asking("a", "4Gi"),
            asking("b", "4Gi"),
            "",
        ),
        ((slice_of("n1", [WHOLE]),), asking("a"), asking("b", adminAccess=True), ""),
    ],
    ids=[
        "a whole device",
        "more capacity than there is",
        "just enough capacity",
        "more counters than there are",
        "just enough counters",
        "counters of a shared device",
        "admin access takes nothing",
    ],
)
def test_the_later_of_two_is_told_what_was_given_away_before(
    published: tuple[Any, ...], first: Any, second: Any, expected: str
) -> None:
    assert told(published, first, second) == expected


def test_a_claim_counts_all_that_it_takes_itself() -> None:
    published = (slice_of("n1", [SHARED]),)
    two = claim("b", *(request(name, capacity={"requests": {"memory": "3Gi"}}) for name in ("r0", "r1")))
    assert told(published, asking("a", "2Gi"), two) == ""
    assert told(published, asking("a", "3Gi"), two) == "the capacity of device d0 was given to claim default/a"


def test_of_a_device_that_is_not_published_any_more_only_the_holder_is_told() -> None:
    bench = Bench(slice_of("n1", [SHARED]))
    one = asking("b", "8Gi")
    (allocation,) = bench.results(bench.outcome(one), (one,))
    bench.put(bench.allocate(asking("a", "8Gi")))
    bench.drop(slice_of("n1", [SHARED]))
    bench.inventory.catch_up()
    bench.usage.catch_up()
    assert conflict(allocation, bench.inventory.pool, bench.usage.others(one.uid)) == ""
