"""What a node sees of pools: generations, missing slices, faults, order, and who a slice is for."""

from __future__ import annotations

import pytest

from tests.plugins.dynamic_resources.device_building import Bench, claim, device, request, slice_of

D0, D1 = [device("d0")], [device("d1")]
NOTHING = "cannot allocate all claims"
ONE = claim("c", request())
ALL = claim("c", request(allocationMode="All"))


def test_pools_are_tried_by_driver_and_name_and_slices_by_name() -> None:
    bench = Bench(
        slice_of("n1", [device("x")], driver="b", pool="a", name="z", count=2),
        slice_of("n1", [device("y")], driver="b", pool="a", name="y", count=2),
        slice_of("n1", [device("w")], driver="a", pool="b", name="a"),
        slice_of("n1", [device("v")], driver="a", pool="a", name="b"),
    )
    assert bench.given(claim("c", request(count=4))) == ["r0=v", "r0=w", "r0=y", "r0=x"]


def test_pools_with_devices_to_be_prepared_come_last() -> None:
    prepared = device("a", bindingConditions=["ready"], bindingFailureConditions=["failed"])
    bench = Bench(slice_of("n1", [device("b"), prepared], pool="a"), slice_of("n1", [device("c")], pool="b"))
    assert bench.given(claim("c", request(count=2))) == ["r0=c", "r0=b"]


def test_only_the_newest_generation_counts() -> None:
    bench = Bench(slice_of("n1", D0, name="old"), slice_of("n1", D1, name="new", generation=2))
    assert bench.given(ALL) == ["r0=d1"]


def test_an_incomplete_pool_gives_nothing() -> None:
    bench = Bench(slice_of("n1", D0, name="one", count=2))
    assert bench.given(ONE) == NOTHING
    bench.put(slice_of("n1", D1, name="two", count=2))
    assert bench.given(ONE) == ["r0=d0"]


def test_a_newer_generation_elsewhere_makes_the_pool_void_here() -> None:
    bench = Bench(
        slice_of("n1", D0, pool="p", name="one", count=2),
        slice_of("n2", D1, pool="p", name="two", count=2, generation=2),
    )
    assert bench.given(ONE) == NOTHING
    assert bench.given(ALL) == NOTHING


def test_slices_for_other_nodes_complete_a_pool() -> None:
    bench = Bench(slice_of("n1", D0, pool="p", name="one", count=2), slice_of("n2", D1, pool="p", name="two", count=2))
    assert bench.given(ONE) == ["r0=d0"]
    assert bench.given(ONE, node="n2") == ["r0=d1"]
    assert bench.given(ONE, node="n3") == NOTHING


@pytest.mark.parametrize(
    "slices",
    [
        [slice_of("n1", [*D0, *D0])],
        [slice_of("n1", D0, name="one", count=2), slice_of("n1", D0, name="two", count=2)],
        [slice_of("n1", [device("d0", consumesCounters=[{"counterSet": "gone", "counters": {"x": {"value": "1"}}}])])],
    ],
)
def test_a_pool_that_says_what_cannot_be_gives_nothing(slices: list[object]) -> None:
    bench = Bench(*slices)
    assert bench.given(ONE) == "invalid resource pools were encountered"
    text = (
        "claim default/c, request r0: asks for all devices, but resource pool gpu.example.com/n1 is currently invalid"
    )
    assert bench.given(ALL) == text


def test_devices_of_a_good_pool_are_given_beside_a_bad_one() -> None:
    bench = Bench(slice_of("n1", [*D0, *D0], pool="a"), slice_of("n1", D1, pool="b"))
    assert bench.given(ONE) == ["r0=d1"]


def test_counters_that_are_in_fault_hold_up_a_request_for_all_on_every_node() -> None:
    counters = [{"name": "set", "counters": {"x": {"value": "1"}}}]
    broken = slice_of("n2", pool="p", name="counters", count=2, sharedCounters=counters)
    bench = Bench(slice_of("n1", D0), broken)
    text = (
        "claim default/c, request r0: asks for all devices, "
        "but resource pool gpu.example.com/p is currently being updated"
    )
    assert bench.given(ALL) == text
    assert bench.given(ONE) == ["r0=d0"]
    bench.put(slice_of("n2", D1, pool="p", name="devices", count=2))
    assert bench.given(ALL) == ["r0=d0"]


class TestNodes:
    terms = [{"matchExpressions": [{"key": "rack", "operator": "In", "values": ["a"]}]}]  # noqa: RUF012 - never written

    def test_a_slice_for_all_nodes(self) -> None:
        bench = Bench(slice_of(None, D0, allNodes=True))
        assert bench.given(ONE, node="any") == ["r0=d0"]

    def test_a_slice_for_nodes_with_labels(self) -> None:
        bench = Bench(slice_of(None, D0, nodeSelector={"nodeSelectorTerms": self.terms}))
        assert bench.given(ONE, labels={"rack": "a"}) == ["r0=d0"]
        assert bench.given(ONE, labels={"rack": "b"}) == NOTHING
        assert bench.given(ONE, labels={"rack": "a"}) == ["r0=d0"]

    def test_devices_that_choose_their_nodes_each_for_itself(self) -> None:
        devices = [device("d0", nodeName="n2"), device("d1", nodeName="n1"), device("d2", allNodes=True)]
        bench = Bench(slice_of(None, devices, perDeviceNodeSelection=True))
        assert bench.given(ALL) == ["r0=d1", "r0=d2"]
        assert bench.given(ALL, node="n2") == ["r0=d0", "r0=d2"]
        assert bench.given(ALL, node="n3") == ["r0=d2"]

    def test_what_one_node_takes_of_a_common_slice_is_gone_for_the_others(self) -> None:
        bench = Bench(slice_of(None, D0, allNodes=True))
        bench.allocate(claim("other", request()), node="n2")
        assert bench.given(ONE) == NOTHING


def test_a_slice_that_goes_takes_its_devices_along() -> None:
    published = slice_of("n1", D0)
    bench = Bench(published)
    assert bench.given(ONE) == ["r0=d0"]
    bench.drop(published)
    assert bench.given(ONE) == NOTHING
    bench.put(published)
    assert bench.given(ONE) == ["r0=d0"]


def test_a_device_that_is_published_again_is_still_in_use() -> None:
    published = slice_of("n1", D0)
    bench = Bench(published)
    bench.allocate(ONE)
    bench.drop(published)
    bench.put(slice_of("n1", [*D0, *D1], generation=2))
    assert bench.given(claim("other", request())) == ["r0=d1"]
