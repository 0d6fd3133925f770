"""Which devices a search chooses, and in which order."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from tests.plugins.dynamic_resources.device_building import (
    Bench,
    asks,
    claim,
    device,
    device_class,
    request,
    slice_of,
)

FOUR = [device(f"d{number}", {"numa": number // 2}) for number in range(4)]


def test_the_first_devices_in_order_are_taken() -> None:
    bench = Bench(slice_of("n1", FOUR))
    assert bench.given(claim("c", request(count=2))) == ["r0=d0", "r0=d1"]


def test_a_device_that_a_claim_holds_is_not_given_again() -> None:
    bench = Bench(slice_of("n1", FOUR))
    bench.allocate(claim("other", request(count=3)))
    assert bench.given(claim("c", request())) == ["r0=d3"]
    assert bench.given(claim("c", request(count=2))) == "cannot allocate all claims"


def test_a_deleted_claim_gives_its_device_back() -> None:
    bench = Bench(slice_of("n1", FOUR))
    held = bench.allocate(claim("other", request(count=4)))
    assert bench.given(claim("c", request())) == "cannot allocate all claims"
    bench.drop(held)
    assert bench.given(claim("c", request())) == ["r0=d0"]


def test_two_claims_of_a_pod_do_not_share_a_device() -> None:
    bench = Bench(slice_of("n1", FOUR[:2]))
    assert bench.given(claim("a", request()), claim("b", request())) == ["r0=d0", "r0=d1"]
    assert bench.given(claim("a", request(count=2)), claim("b", request())) == "cannot allocate all claims"


def test_selectors_of_class_and_request_must_all_match() -> None:
    devices = [device("a", {"model": "x"}), device("b", {"model": "y", "numa": 1}), device("c", {"model": "y"})]
    bench = Bench(slice_of("n1", devices), device_class("y-class", "model=y"))
    assert bench.given(claim("c", request(device_class="y-class"))) == ["r0=b"]
    assert bench.given(claim("c", request("r0", "numa=1", device_class="y-class"))) == ["r0=b"]
    assert bench.given(claim("c", request("r0", "numa=2", device_class="y-class"))) == "cannot allocate all claims"


def test_a_selector_is_evaluated_once_for_devices_that_are_alike() -> None:
    bench = Bench(*(slice_of(f"n{node}", FOUR) for node in range(50)))
    wanted = claim("c", request("r0", "numa=1"))
    for node in range(50):
        assert bench.given(wanted, node=f"n{node}") == ["r0=d2"]
    assert bench.compiled["numa=1"].asked == 2


@pytest.mark.parametrize(
    ("expression", "text"),
    [
        ("broken", "claim default/c: selector #0: CEL compile error: it is broken"),
        ("!", "claim default/c: selector #0: CEL runtime error: no such key: x"),
    ],
)
def test_an_expression_that_fails_is_an_error_of_the_claim(expression: str, text: str) -> None:
    bench = Bench(slice_of("n1", FOUR))
    assert bench.given(claim("c", request("r0", expression))) == text


def test_an_expression_of_a_class_that_fails_names_the_class() -> None:
    bench = Bench(slice_of("n1", FOUR), device_class("bad", "numa=0", "!"))
    text = "class bad: selector #1: CEL runtime error: no such key: x"
    assert bench.given(claim("c", request(device_class="bad"))) == text


def test_a_device_in_use_is_not_evaluated() -> None:
    bench = Bench(slice_of("n1", FOUR[:1]))
    bench.allocate(claim("other", request()))
    assert bench.given(claim("c", request("r0", "!"))) == "cannot allocate all claims"


def test_the_first_alternative_that_can_be_had_is_chosen() -> None:
    bench = Bench(slice_of("n1", FOUR))
    wanted = {
        "name": "r0",
        "firstAvailable": [{"name": "five", **asks(count=5)}, {"name": "far", **asks("numa=1", count=2)}],
    }
    assert bench.given(claim("c", wanted)) == ["r0/far=d2", "r0/far=d3"]


def test_an_earlier_request_gives_way_if_a_later_one_needs_its_device() -> None:
    bench = Bench(slice_of("n1", FOUR))
    wanted = claim("c", request("any", count=2), request("near", "numa=0", count=2))
    assert bench.given(wanted) == ["any=d2", "any=d3", "near=d0", "near=d1"]


class TestConstraints:
    devices = (
        device("a", {"gpu.example.com/numa": 0}),
        device("b", {"numa": 1}),
        device("c", {"numa": 0}),
        device("d", {"numa": 1}),
        device("e"),
    )

    def test_devices_match_in_an_attribute_that_may_be_written_in_two_ways(self) -> None:
        match = {"matchAttribute": "gpu.example.com/numa"}
        bench = Bench(slice_of("n1", self.devices))
        assert bench.given(claim("c", request(count=2), constraints=[match])) == ["r0=a", "r0=c"]

    def test_a_device_without_the_attribute_is_left_out(self) -> None:
        match = {"matchAttribute": "gpu.example.com/numa"}
        bench = Bench(slice_of("n1", self.devices))
        assert bench.given(claim("c", request(count=3), constraints=[match])) == "cannot allocate all claims"

    def test_another_domain_is_another_attribute(self) -> None:
        match = {"matchAttribute": "other.example.com/numa"}
        bench = Bench(slice_of("n1", self.devices))
        assert bench.given(claim("c", request(), constraints=[match])) == "cannot allocate all claims"

    def test_only_the_requests_that_are_named_are_held_to_it(self) -> None:
        match = {"requests": ["x", "z/far"], "matchAttribute": "gpu.example.com/numa"}
        far = {"name": "z", "firstAvailable": [{"name": "far", **asks("numa=1")}]}
        bench = Bench(slice_of("n1", self.devices))
        wanted = claim("c", request("x"), request("y"), far, constraints=[match])
        assert bench.given(wanted) == ["x=b", "y=a", "z/far=d"]

    def test_no_two_devices_are_alike_also_within_one_request(self) -> None:
        """kube-scheduler v1.36 remembers one value per request and gives a third device with the first one's."""
        distinct = {"distinctAttribute": "gpu.example.com/numa"}
        bench = Bench(slice_of("n1", self.devices))
        assert bench.given(claim("c", request(count=2), constraints=[distinct])) == ["r0=a", "r0=b"]
        assert bench.given(claim("c", request(count=3), constraints=[distinct])) == "cannot allocate all claims"

    def test_a_constraint_over_all_devices_that_cannot_hold_is_an_error(self) -> None:
        match = {"matchAttribute": "gpu.example.com/numa"}
        bench = Bench(slice_of("n1", self.devices))
        text = (
            "claim default/c, request r0: cannot add device gpu.example.com/n1/b "
            "because a claim constraint would not be satisfied"
        )
        assert bench.given(claim("c", request(allocationMode="All"), constraints=[match])) == text


class TestAll:
    def test_every_device_that_matches_is_taken(self) -> None:
        bench = Bench(slice_of("n1", FOUR))
        assert bench.given(claim("c", request("r0", "numa=1", allocationMode="All"))) == ["r0=d2", "r0=d3"]

    def test_none_is_not_all(self) -> None:
        bench = Bench(slice_of("n1", FOUR))
        wanted = claim("c", request("r0", "numa=7", allocationMode="All"))
        assert bench.given(wanted) == "cannot allocate all claims"

    def test_one_in_use_is_enough_to_fail(self) -> None:
        bench = Bench(slice_of("n1", FOUR))
        bench.allocate(claim("other", request("r0", "numa=1")))
        assert bench.given(claim("c", request(allocationMode="All"))) == "cannot allocate all claims"

    def test_a_pool_in_the_making_is_waited_for(self) -> None:
        bench = Bench(slice_of("n1", FOUR), slice_of("n1", FOUR, driver="nic", pool="p", count=2))
        text = "claim default/c, request r0: asks for all devices, but resource pool nic/p is currently being updated"
        assert bench.given(claim("c", request(allocationMode="All"))) == text
        assert bench.given(claim("c", request())) == ["r0=d0"]

    def test_more_than_a_claim_can_hold_is_an_error(self) -> None:
        bench = Bench(slice_of("n1", [device(f"d{number:02}") for number in range(33)]))
        text = "claim default/c: number of requested devices 33 exceeds the claim limit of 32"
        assert bench.given(claim("c", request(allocationMode="All"))) == text

    def test_an_alternative_with_fewer_devices_is_taken_if_the_first_is_too_large(self) -> None:
        bench = Bench(slice_of("n1", [device(f"d{number:02}") for number in range(40)]))
        wanted = {"name": "b", "firstAvailable": [{"name": "many", **asks(count=20)}, {"name": "one", **asks()}]}
        given = bench.given(claim("c", request("a", count=20), wanted))
        assert given[-1] == "b/one=d20"
        assert len(given) == 21


class TestAdminAccess:
    def test_devices_in_use_are_given_too(self) -> None:
        bench = Bench(slice_of("n1", FOUR[:2]))
        bench.allocate(claim("other", request(count=2)))
        assert bench.given(claim("c", request(count=2, adminAccess=True))) == ["r0=d0", "r0=d1"]

    def test_but_not_twice_to_one_claim(self) -> None:
        bench = Bench(slice_of("n1", FOUR[:2]))
        wanted = claim("c", request("a", count=2, adminAccess=True), request("b", adminAccess=True))
        assert bench.given(wanted) == "cannot allocate all claims"

    def test_they_stay_free_for_others(self) -> None:
        bench = Bench(slice_of("n1", FOUR[:1]))
        bench.allocate(claim("admin", request(adminAccess=True)))
        assert bench.given(claim("c", request())) == ["r0=d0"]


class TestTaints:
    tainted = (device("d0", taints=[{"key": "sick", "effect": "NoSchedule"}]), device("d1"))

    def test_a_tainted_device_is_left_out_unless_tolerated(self) -> None:
        bench = Bench(slice_of("n1", self.tainted))
        assert bench.given(claim("c", request())) == ["r0=d1"]
        tolerant = request(tolerations=[{"key": "sick", "operator": "Exists"}])
        assert bench.given(claim("c", tolerant)) == ["r0=d0"]

    def test_an_unknown_effect_means_nothing(self) -> None:
        bench = Bench(slice_of("n1", [device("d0", taints=[{"key": "sick", "effect": "None"}])]))
        assert bench.given(claim("c", request())) == ["r0=d0"]


def partition(name: str, slots: int, **more: Any) -> dict[str, Any]:
    counters = {"slots": {"value": str(slots)}}
    return device(name, consumesCounters=[{"counterSet": "gpu", "counters": counters}], **more)


class TestCounters:
    counters = slice_of(
        None, pool="p", name="a-counters", count=2, allNodes=True,
        sharedCounters=[{"name": "gpu", "counters": {"slots": {"value": "4"}}}],
    )  # fmt: skip

    def partitions(self, *devices: dict[str, Any]) -> Any:
        return slice_of("n1", devices, pool="p", name="b-devices", count=2)

    def test_partitions_share_what_the_device_has(self) -> None:
        devices = self.partitions(partition("half", 2), partition("whole", 4), partition("quarter", 1))
        bench = Bench(self.counters, devices)
        assert bench.given(claim("c", request(count=2))) == ["r0=half", "r0=quarter"]
        bench.allocate(claim("other", request()))
        assert bench.given(claim("c", request())) == ["r0=quarter"]

    def test_what_is_taken_on_another_node_counts(self) -> None:
        here = slice_of("n1", [partition("a", 3)], pool="p", name="b", count=3)
        there = slice_of("n2", [partition("b", 3)], pool="p", name="c", count=3)
        three = self.counters.evolve(spec=_with_count(self.counters, 3))
        bench = Bench(three, here, there)
        bench.allocate(claim("other", request()), node="n2")
        assert bench.given(claim("c", request())) == "cannot allocate all claims"

    def test_counters_are_given_back_on_the_way_back(self) -> None:
        devices = self.partitions(partition("a", 3), partition("b", 2), partition("c", 2, attributes={}))
        bench = Bench(self.counters, devices)
        assert bench.given(claim("c", request(count=2))) == ["r0=b", "r0=c"]

    def test_two_drivers_may_call_a_pool_the_same(self) -> None:
        devices = self.partitions(partition("a", 4))
        other = [
            slice_of(None, pool="p", name="x", count=2, allNodes=True, driver="other",
                     sharedCounters=[{"name": "gpu", "counters": {"slots": {"value": "4"}}}]),
            slice_of("n1", [partition("z", 4)], pool="p", name="y", count=2, driver="other"),
        ]  # fmt: skip
        bench = Bench(self.counters, devices, *other)
        assert bench.given(claim("c", request(count=2))) == ["r0=a", "r0=z"]


def _with_count(slice: Any, count: int) -> Any:
    pool = msgspec.structs.replace(slice.spec.pool, resource_slice_count=count)
    return msgspec.structs.replace(slice.spec, pool=pool)


class TestShares:
    shared = (
        device("d0", allowMultipleAllocations=True, capacity={"memory": {"value": "10Gi"}}),
        device("d1", allowMultipleAllocations=True, capacity={"memory": {"value": "10Gi"}}),
    )

    def wanted(self, amount: str, count: int = 1, name: str = "r0") -> dict[str, Any]:
        return request(name, count=count, capacity={"requests": {"memory": amount}})

    def test_a_device_is_shared_until_it_is_full(self) -> None:
        bench = Bench(slice_of("n1", self.shared))
        for number, expected in enumerate(("d0", "d0", "d1")):
            assert bench.given(claim("c", self.wanted("4Gi"))) == [f"r0={expected}"]
            bench.allocate(claim(f"c{number}", self.wanted("4Gi")))
        assert bench.given(claim("c", self.wanted("8Gi"))) == "cannot allocate all claims"

    def test_shares_of_one_claim_add_up(self) -> None:
        bench = Bench(slice_of("n1", self.shared))
        wanted = claim("c", self.wanted("6Gi", name="a"), self.wanted("6Gi", name="b"), self.wanted("4Gi", name="z"))
        assert bench.given(wanted) == ["a=d0", "b=d1", "z=d0"]

    def test_without_a_request_the_whole_is_taken(self) -> None:
        bench = Bench(slice_of("n1", self.shared))
        bench.allocate(claim("other", request()))
        assert bench.given(claim("c", self.wanted("1Gi"))) == ["r0=d1"]

    def test_a_capacity_that_a_device_does_not_have_rules_it_out(self) -> None:
        bench = Bench(slice_of("n1", self.shared))
        wanted = request(capacity={"requests": {"cores": "1"}})
        assert bench.given(claim("c", wanted)) == "cannot allocate all claims"

    def test_all_fails_if_a_device_that_matches_is_full(self) -> None:
        """kube-scheduler v1.36 gives the rest, v1.37 does not."""
        bench = Bench(slice_of("n1", self.shared))
        bench.allocate(claim("other", self.wanted("8Gi")))
        wanted = request(allocationMode="All", capacity={"requests": {"memory": "4Gi"}})
        assert bench.given(claim("c", wanted)) == "cannot allocate all claims"

    def test_a_share_is_recorded_with_its_amount_and_a_name_of_its_own(self) -> None:
        bench = Bench(slice_of("n1", self.shared))
        wanted = claim("c", self.wanted("1.5Gi", name="a"), self.wanted("1Gi", name="b"))
        outcome = bench.outcome(wanted)
        (allocation,) = bench.results(outcome, (wanted,))
        first, second = allocation.devices.results
        assert (first.consumed_capacity, second.consumed_capacity) == ({"memory": "1536Mi"}, {"memory": "1Gi"})
        assert first.share_id
        assert second.share_id not in (None, first.share_id)
