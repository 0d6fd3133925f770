"""What would let claims fit: told if it alone does, in one line each."""

from __future__ import annotations

from typing import Any

from bayplan.plugins.dynamic_resources import would_fit
from bayplan.plugins.dynamic_resources.imagining import Imagined
from bayplan.plugins.dynamic_resources.would_fit import Remedies, WouldFit
from tests.plugins.dynamic_resources.device_building import Bench, claim, device, node_of, request, slice_of

SICK = [{"key": "sick", "value": "very", "effect": "NoSchedule"}]
NUMA = [{"matchAttribute": "gpu.example.com/numa"}]
POOL = "gpu.example.com/n1"


def remedies(bench: Bench, *claims: Any, written: int | None = None) -> Remedies:
    bench.outcome(*claims)
    shape = bench.allocator.shape([each.spec.devices for each in claims]).shape
    real = Imagined(shape, bench.inventory.devices_of(node_of("n1")), bench.inventory.columns)
    count = len(claims) if written is None else written
    return WouldFit(real, claims, count, bench.allocator.selectors).remedies()


def texts(bench: Bench, *claims: Any, **more: Any) -> list[str]:
    return [each.text for each in remedies(bench, *claims, **more).found]


def in_use(devices: list[Any], *wanted: Any) -> Bench:
    """The devices with these requests met by a claim of somebody else."""
    bench = Bench(slice_of("n1", devices))
    for number, each in enumerate(wanted):
        bench.allocate(claim(f"other{number}", each))
    return bench


TOLERANT = request(tolerations=[{"operator": "Exists"}])


def test_a_device_in_use() -> None:
    assert texts(in_use([device("d")], request()), claim("c", request())) == [f"{POOL}/d were given back"]


def test_a_device_in_use_that_is_also_tainted_is_no_way_out() -> None:
    """To be had it would have to be free and its taint tolerated."""
    bench = in_use([device("d", taints=SICK)], TOLERANT)
    assert all("given back" not in each for each in texts(bench, claim("c", request())))


def test_a_device_in_use_that_the_selector_does_not_want_is_no_way_out() -> None:
    bench = in_use([device("d", {"model": "x"})], request())
    assert remedies(bench, claim("c", request("r0", "model=y"))) == Remedies([], 0)


def test_a_device_in_use_that_breaks_a_constraint_is_no_way_out() -> None:
    bench = in_use([device("a", {"numa": 0}), device("b", {"numa": 1})], request())
    found = texts(bench, claim("c", request(count=2), constraints=NUMA))
    assert found == [f"there were 1 more device like {POOL}/b"]


def test_of_several_in_use_only_those_that_must_go() -> None:
    devices = [device(name, {"model": model}) for name, model in zip("abcd", "xyxx", strict=True)]
    bench = in_use(devices, request(), request(), request())
    # One of model x is free; two more are needed, and the one of model y can stay.
    found = texts(bench, claim("c", request("r0", "model=x", count=3)))
    assert found == [f"{POOL}/a and {POOL}/c were given back"]


def test_a_taint() -> None:
    bench = in_use([device("d", taints=[*SICK, {"key": "kept", "effect": "NoExecute"}])])
    text = "request r0 of claim default/c tolerated taints sick=very:NoSchedule, kept:NoExecute"
    assert texts(bench, claim("c", request())) == [text]


def test_nobody_wrote_the_claim_of_extended_resources() -> None:
    bench = in_use([device("d", taints=SICK)])
    assert texts(bench, claim("c", request()), written=0) == []


def test_a_constraint() -> None:
    bench = in_use([device("a", {"numa": 0}), device("b", {"numa": 1})])
    text = "claim default/c were without its constraint matchAttribute gpu.example.com/numa"
    assert texts(bench, claim("c", request(count=2), constraints=NUMA)) == [text]


SHARED = device("d", allowMultipleAllocations=True, capacity={"memory": {"value": "10Gi"}})


def share(memory: str) -> Any:
    return request(capacity={"requests": {"memory": memory}})


def test_capacity_short_by_so_much() -> None:
    found = texts(in_use([SHARED], share("8Gi")), claim("c", share("4Gi")))
    assert found == [f"{POOL}/d were given back", f"2Gi more of memory of {POOL}/d were left"]


def test_capacity_that_nobody_else_has_cannot_be_given_back() -> None:
    found = texts(in_use([SHARED]), claim("c", share("8Gi"), {**share("8Gi"), "name": "r1"}))
    assert found == [f"there were 1 more device like {POOL}/d"]


def cut_up() -> Bench:
    counters = {"memory": {"value": "8"}, "slices": {"value": "4"}}
    sizes = {"whole": (8, 4), "half0": (4, 2), "half1": (4, 2)}
    devices = [
        device(name, {"profile": name[:4]}, consumesCounters=[{"counterSet": "gpu", "counters": {
            "memory": {"value": str(memory)}, "slices": {"value": str(slices)}}}])
        for name, (memory, slices) in sizes.items()
    ]  # fmt: skip
    bench = Bench(
        slice_of(None, pool="n1", name="a", count=2, allNodes=True,
                 sharedCounters=[{"name": "gpu", "counters": counters}]),
        slice_of("n1", devices, name="b", count=2),
    )  # fmt: skip
    for number in range(2):
        bench.allocate(claim(f"other{number}", request("r0", "profile=half")))
    return bench


def test_all_counters_that_are_short_and_by_how_much() -> None:
    assert texts(cut_up(), claim("c", request("r0", "profile=whol"))) == [
        f"{POOL}/half0 and {POOL}/half1 were given back",
        f"8 more of counter memory of gpu and 4 more of counter slices of gpu in {POOL} were left",
    ]


def test_more_devices_are_the_last_thing_to_ask_for() -> None:
    bench = in_use([device("d")])
    assert texts(bench, claim("c", request(count=2))) == [f"there were 1 more device like {POOL}/d"]
    assert texts(bench, claim("c", request(count=4))) == [f"there were 3 more devices like {POOL}/d"]


def test_what_needs_two_changes_has_no_remedy() -> None:
    devices = [device("d", {"model": "x"}, taints=SICK), device("e", {"model": "y"}, taints=SICK)]
    found = remedies(in_use(devices), claim("c", request("r0", "model=x"), request("r1", "model=y")))
    assert found.found == []
    assert found.tried > 0


def test_all_devices_of_which_one_is_in_use() -> None:
    bench = in_use([device("a"), device("b")], request())
    assert texts(bench, claim("c", request(allocationMode="All"))) == [f"{POOL}/a were given back"]


def test_claims_that_fit_need_nothing() -> None:
    assert remedies(in_use([device("d")]), claim("c", request())) == Remedies([], 0)


def test_the_effort_is_bounded(monkeypatch: Any) -> None:
    monkeypatch.setattr(would_fit, "MOST_TRIES", 2)
    found = remedies(in_use([device("d")]), claim("c", request(count=4)))
    assert found == Remedies([], 2)
