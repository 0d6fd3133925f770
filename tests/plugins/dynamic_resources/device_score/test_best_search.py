"""BestSearch: which devices each rule prefers."""

from __future__ import annotations

from typing import Any

import pytest

from tests.plugins.dynamic_resources.device_building import asks, claim, device, request, slice_of
from tests.plugins.dynamic_resources.device_score.scored import NUMA, PACK, SPREAD, TIGHTEST, bench, cut_up, rules

PAIRS = [device(f"d{number}", {"numa": number % 2}) for number in range(6)]
"""Neighbours are d0, d2, d4 and d1, d3, d5."""


class TestTightest:
    def test_a_small_partition_is_given_and_no_whole_gpu(self) -> None:
        wanted = claim("c", request())
        assert bench(*cut_up("a", "b"), score=None).given(wanted) == ["r0=a-whole"]
        assert bench(*cut_up("a", "b"), score=rules(TIGHTEST)).given(wanted) == ["r0=a-quarter0"]

    def test_a_gpu_that_is_broken_already_is_cut_up_further(self) -> None:
        scored = bench(*cut_up("a", "b"), score=rules(TIGHTEST))
        scored.allocate(claim("other", request()))
        assert scored.given(claim("c", request())) == ["r0=a-quarter1"]
        assert scored.given(claim("c", request(count=2))) == ["r0=a-half0", "r0=a-quarter1"]

    def test_of_whole_devices_the_smaller_is_given(self) -> None:
        devices = [
            device("large", capacity={"memory": {"value": "80"}}),
            device("small", capacity={"memory": {"value": "24"}}),
        ]
        assert bench(slice_of("n1", devices), score=rules(TIGHTEST)).given(claim("c", request())) == ["r0=small"]

    def test_a_node_with_smaller_devices_scores_higher(self) -> None:
        large, small = (
            device("d", capacity={"memory": {"value": "80"}}),
            device("d", capacity={"memory": {"value": "20"}}),
        )
        scored = bench(slice_of("n1", [large]), slice_of("n2", [small]), score=rules(TIGHTEST))
        wanted = claim("c", request())
        assert [scored.outcome(wanted, node=node).merit.score for node in ("n1", "n2")] == [50, 80]

    def test_a_larger_device_that_comes_makes_the_others_small(self) -> None:
        scored = bench(slice_of("n1", [device("d", capacity={"memory": {"value": "20"}})]), score=rules(TIGHTEST))
        wanted = claim("c", request())
        assert scored.outcome(wanted).merit.score == 50
        scored.put(slice_of("n2", [device("d", capacity={"memory": {"value": "80"}})]))
        assert scored.outcome(wanted).merit.score == 80


class TestTogether:
    def test_neighbours_are_given_together(self) -> None:
        wanted = claim("c", request(count=3))
        assert bench(slice_of("n1", PAIRS), score=None).given(wanted) == ["r0=d0", "r0=d1", "r0=d2"]
        assert bench(slice_of("n1", PAIRS), score=rules(NUMA)).given(wanted) == ["r0=d0", "r0=d2", "r0=d4"]

    def test_one_device_is_taken_where_it_has_fewest_free_neighbours(self) -> None:
        scored = bench(slice_of("n1", PAIRS), score=rules(NUMA))
        scored.allocate_first(claim("other", request("r0", "numa=1")))
        assert scored.given(claim("c", request())) == ["r0=d3"]

    def test_two_requests_of_two_drivers_are_neighbours_too(self) -> None:
        root = {"type": "Together", "attribute": "resource.kubernetes.io/pcieRoot"}
        cards = [device(f"nic{number}", {"resource.kubernetes.io/pcieRoot": f"pci{number}"}) for number in range(2)]
        gpus = [device("gpu", {"resource.kubernetes.io/pcieRoot": "pci1", "model": "x"})]
        slices = slice_of("n1", gpus), slice_of("n1", cards, driver="nic.example.com")
        wanted = claim("c", request("gpu", "model=x"), request("nic"))
        assert bench(*slices, score=None).given(wanted) == ["gpu=gpu", "nic=nic0"]
        assert bench(*slices, score=rules(root)).given(wanted) == ["gpu=gpu", "nic=nic1"]

    def test_a_device_without_the_attribute_is_nobodys_neighbour(self) -> None:
        devices = [device("a"), device("b"), device("c", {"numa": 1}), device("d", {"numa": 1})]
        scored = bench(slice_of("n1", devices), score=rules(NUMA))
        assert scored.given(claim("c", request(count=2))) == ["r0=c", "r0=d"]


SHARED = [
    device(f"d{number}", allowMultipleAllocations=True, capacity={"memory": {"value": "10"}}) for number in range(2)
]


@pytest.mark.parametrize(("rule", "second"), [(PACK, "d0"), (SPREAD, "d1")])
def test_shares_are_packed_or_spread_over_devices(rule: dict[str, Any], second: str) -> None:
    scored = bench(slice_of("n1", SHARED), score=rules(rule))
    share = request(capacity={"requests": {"memory": "2"}})
    scored.allocate(claim("other", share))
    assert scored.given(claim("c", share)) == [f"r0={second}"]


@pytest.mark.parametrize(("rule", "better"), [(PACK, "n1"), (SPREAD, "n2")])
def test_nodes_are_packed_or_spread_over(rule: dict[str, Any], better: str) -> None:
    scored = bench(slice_of("n1", PAIRS), slice_of("n2", PAIRS), score=rules(rule))
    scored.allocate(claim("other", request(count=2)), node="n1")
    wanted = claim("c", request())
    assert max(("n1", "n2"), key=lambda node: scored.outcome(wanted, node=node).merit.score) == better


def test_partitions_of_a_used_gpu_are_packed() -> None:
    scored = bench(*cut_up("a", "b"), score=rules(PACK))
    scored.allocate_first(claim("other", request("r0", "gpu=b", "memory=20")))
    assert scored.given(claim("c", request("r0", "memory=20"))) == ["r0=b-quarter1"]


class TestCorrectness:
    def test_a_later_alternative_is_never_taken_for_a_better_device(self) -> None:
        devices = [device("large", {"model": "x"}, capacity={"memory": {"value": "80"}})]
        devices.append(device("small", {"model": "y"}, capacity={"memory": {"value": "20"}}))
        wanted = {"name": "r0", "firstAvailable": [{"name": each, **asks(f"model={each}")} for each in "xy"]}
        assert bench(slice_of("n1", devices), score=rules(TIGHTEST)).given(claim("c", wanted)) == ["r0/x=large"]

    def test_a_worse_device_is_taken_if_a_later_request_gets_its_first_alternative_by_that(self) -> None:
        """First fit gives the small device away to the first request, and the second gets its second alternative."""
        devices = [device("small", {"model": "x"}, capacity={"memory": {"value": "20"}})]
        devices += [
            device(f"large{number}", {"model": "y"}, capacity={"memory": {"value": "80"}}) for number in range(2)
        ]
        second = {"name": "r1", "firstAvailable": [{"name": each, **asks(f"model={each}")} for each in "xy"]}
        wanted = claim("c", request(), second)
        assert bench(slice_of("n1", devices), score=None).given(wanted) == ["r0=small", "r1/y=large0"]
        scored = bench(slice_of("n1", devices), score=rules(TIGHTEST))
        assert scored.given(wanted) == ["r0=large0", "r1/x=small"]

    def test_constraints_hold(self) -> None:
        distinct = [{"distinctAttribute": "gpu.example.com/numa"}]
        scored = bench(slice_of("n1", PAIRS), score=rules(NUMA))
        assert scored.given(claim("c", request(count=2), constraints=distinct)) == ["r0=d0", "r0=d1"]

    def test_a_selector_that_fails_on_a_device_that_is_not_needed_does_no_harm(self) -> None:
        devices = [device("a", {"numa": 0}), device("b", {"numa": 1}), device("c", {"numa": 1}), device("d")]
        wanted = claim("c", request("r0", "numa!", count=2))
        assert bench(slice_of("n1", devices), score=None).given(wanted) == ["r0=a", "r0=b"]
        assert bench(slice_of("n1", devices), score=rules(NUMA)).given(wanted) == ["r0=b", "r0=c"]

    def test_all_devices_are_all_devices(self) -> None:
        scored = bench(slice_of("n1", PAIRS), score=rules(NUMA, TIGHTEST))
        given = scored.given(claim("c", request("r0", "numa=1", allocationMode="All")))
        assert given == ["r0=d1", "r0=d3", "r0=d5"]

    def test_admin_access_takes_nothing_and_counts_nothing(self) -> None:
        scored = bench(slice_of("n1", PAIRS), score=rules(PACK))
        outcome = scored.outcome(claim("c", request(adminAccess=True)))
        assert outcome.merit.score == 0
        assert scored.given(claim("c", request(adminAccess=True))) == ["r0=d0"]


class TestBudget:
    devices = tuple(device(f"d{number:02}", {"numa": number % 5, "model": str(number)}) for number in range(20))

    def test_what_counts_for_no_rule_makes_no_difference(self) -> None:
        scored = bench(slice_of("n1", self.devices), score=rules(NUMA))
        outcome = scored.outcome(claim("c", request(count=4)))
        assert outcome.merit.is_best
        assert [choice.position for choice in outcome.claims[0]] == [0, 5, 10, 15]

    def test_a_search_that_ends_early_says_so_and_keeps_the_best_so_far(self) -> None:
        one = bench(slice_of("n1", self.devices), score=rules(NUMA, searchSteps=1)).outcome(
            claim("c", request(count=4))
        )
        assert not one.merit.is_best
        assert [choice.position for choice in one.claims[0]] == [0, 1, 2, 3]
        some = bench(slice_of("n1", self.devices), score=rules(NUMA, searchSteps=40)).outcome(
            claim("c", request(count=4))
        )
        assert some.merit.score > one.merit.score

    def test_the_same_again_is_the_same(self) -> None:
        wanted = claim("c", request(count=7))
        outcomes = [
            bench(slice_of("n1", self.devices), score=rules(NUMA, PACK, searchSteps=50)).outcome(wanted)
            for _ in range(2)
        ]
        assert outcomes[0] == outcomes[1]


def test_nodes_that_differ_in_what_no_request_selects_are_told_apart() -> None:
    """A quarter of a GPU is lost with what it breaks, which the request for it does not see."""
    quarter = claim("c", request("r0", "kind=quarter"))
    nodes = []
    for name, others in (("n1", ()), ("n2", ("whole",))):
        counters = {"memory": {"value": "20"}}
        devices = [
            device("q", {"kind": "quarter"}, consumesCounters=[{"counterSet": "g", "counters": counters}]),
            *(
                device(
                    each,
                    {"kind": each},
                    consumesCounters=[{"counterSet": "g", "counters": {"memory": {"value": "80"}}}],
                )
                for each in others
            ),
        ]
        nodes += [
            slice_of(None, pool=name, name=f"{name}-c", count=2, allNodes=True,
                     sharedCounters=[{"name": "g", "counters": {"memory": {"value": "80"}}}]),
            slice_of(name, devices, pool=name, name=f"{name}-d", count=2),
        ]  # fmt: skip
    scored = bench(*nodes, score=rules(TIGHTEST))
    assert [scored.outcome(quarter, node=node).merit.score for node in ("n1", "n2")] == [80, 44]
