"""For any devices and claims, the search finds what trying every choice in order finds first."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from itertools import combinations, product
from types import MappingProxyType
from typing import Any, NamedTuple

import pytest

from bayplan.plugins.dynamic_resources.search import Answer
from tests.plugins.dynamic_resources.device_building import (
    Bench,
    asks,
    claim,
    device,
    slice_of,
)

CASES = 60
"""Of each of the seeds."""

Wanted = dict[str, Any]


def _devices(rng: random.Random, count: int) -> list[dict[str, Any]]:
    found = []
    for number in range(count):
        attributes: dict[str, Any] = {"model": rng.choice("xy")}
        if rng.random() < 0.8:
            attributes["numa"] = rng.randrange(3)
        more: dict[str, Any] = {}
        if rng.random() < 0.3:
            more["taints"] = [{"key": "sick", "effect": rng.choice(("NoSchedule", "NoExecute", "None"))}]
        if rng.random() < 0.4:
            taken = {"slots": {"value": str(rng.randint(1, 3))}}
            more["consumesCounters"] = [{"counterSet": "set", "counters": taken}]
        if rng.random() < 0.4:
            more["capacity"] = {"memory": {"value": str(rng.randint(1, 4))}}
            more["allowMultipleAllocations"] = rng.random() < 0.7
        found.append(device(f"d{number}", attributes, **more))
    return found


def _asks(rng: random.Random) -> dict[str, Any]:
    expressions = [rng.choice(("model=x", "model=y", "numa=0"))] if rng.random() < 0.5 else []
    more: dict[str, Any] = {"count": rng.choice((1, 1, 1, 2, 3))}
    if rng.random() < 0.4:
        more["tolerations"] = [{"key": "sick", "operator": "Exists"}]
    if rng.random() < 0.3:
        more["capacity"] = {"requests": {"memory": str(rng.randint(1, 2))}}
    return asks(*expressions, **more)


def _claim(rng: random.Random, name: str) -> Any:
    requests: list[dict[str, Any]] = []
    for number in range(rng.randint(1, 2)):
        if rng.random() < 0.3:
            requests.append({"name": f"r{number}", "firstAvailable": [{"name": each, **_asks(rng)} for each in "ab"]})
        else:
            exactly = _asks(rng)
            if rng.random() < 0.15:
                exactly["adminAccess"] = True
            requests.append({"name": f"r{number}", "exactly": exactly})
    constraints = []
    if rng.random() < 0.5:
        sort = rng.choice(("matchAttribute", "distinctAttribute"))
        named = {"requests": [rng.choice(("r0", "r0/a"))]} if rng.random() < 0.3 else {}
        constraints.append({sort: "gpu.example.com/numa", **named})
    return claim(name, *requests, constraints=constraints)


# -- the oracle: every full choice, in the order in which it would be met, is judged as a whole --


def _choices(request: Any, devices: list[dict[str, Any]]) -> Iterator[list[tuple[Any, int]]]:
    alternatives = [request.exactly] if request.exactly else list(request.first_available)
    for each in alternatives:
        for picked in combinations(range(len(devices)), each.count):
            yield [((request, each), place) for place in picked]


class State(NamedTuple):
    """What is in use."""

    held: set[int]
    shared: Mapping[int, int] = MappingProxyType({})
    """How much of the memory of shared devices."""
    slots: int = 4
    """Of the counter, in all."""


def _oracle(claims: list[Any], devices: list[dict[str, Any]], state: State) -> list[str] | None:
    options = [list(_choices(request, devices)) for each in claims for request in each.requests]
    owners = [number for number, each in enumerate(claims) for _ in each.requests]
    for choice in product(*options):
        flat = [(owner, *pick) for owner, picks in zip(owners, choice, strict=True) for pick in picks]
        if _is_good(claims, devices, state, flat):
            return [f"{_name(*wanted)}={devices[place]['name']}" for _, wanted, place in flat]
    return None


def _name(request: Any, asked: Any) -> str:
    return request.name if request.exactly else f"{request.name}/{asked.name}"


def _is_good(claims: list[Any], devices: list[dict[str, Any]], state: State, flat: list[Any]) -> bool:
    held, shared, total = state
    users: dict[int, list[tuple[int, bool]]] = {}
    shares = dict(shared)
    slots = total - sum(_slots(devices[place]) for place in (*held, *shared))
    for owner, (request, asked), place in flat:
        which = devices[place]
        is_admin = bool(request.exactly and request.exactly.admin_access)
        if place in held and not is_admin:
            return False
        for each in asked.expressions:
            key, _, value = each.partition("=")
            said = which["attributes"].get(key, {})
            if str(next(iter(said.values()), None)) != value:
                return False
        if not all(_is_tolerated(asked, each) for each in which.get("taints", ())):
            return False
        amount = int(asked.capacity_requests.get("memory", 0))
        has = int(which.get("capacity", {}).get("memory", {"value": 0})["value"])
        if amount and "capacity" not in which:
            return False
        if "capacity" in which:
            shares[place] = shares.get(place, 0) * bool(which["allowMultipleAllocations"]) + (amount or has)
            if shares[place] > has:
                return False
        if which.get("allowMultipleAllocations"):
            if not users.get(place) and place not in shared:
                slots -= _slots(which)
            users.setdefault(place, [])
            users[place].append((owner, True))
            continue
        slots -= _slots(which)
        for other, _ in users.get(place, ()):
            if not is_admin or other == owner:
                return False
        users.setdefault(place, []).append((owner, False))
        if slots < 0 and _slots(which):
            return False
    if slots < 0 and any(_slots(devices[place]) for _, _, place in flat):
        return False
    return all(
        _keeps_to(constraint, [(wanted, devices[place]) for owner, wanted, place in flat if claims[owner] is each])
        for each in claims
        for constraint in each.spec.devices.constraints or ()
    )


def _is_tolerated(asked: Any, taint: dict[str, Any]) -> bool:
    return taint["effect"] == "None" or any(
        each.key in ("", taint["key"]) and each.effect in ("", taint["effect"]) for each in asked.tolerations or ()
    )


def _slots(which: dict[str, Any]) -> int:
    return sum(int(each["counters"]["slots"]["value"]) for each in which.get("consumesCounters", ()))


def _keeps_to(constraint: Any, flat: list[Any]) -> bool:
    names = constraint.requests or ()
    meant = [which for wanted, which in flat if not names or wanted[0].name in names or _name(*wanted) in names]
    values = [which["attributes"].get("numa", {}).get("int") for which in meant]
    if None in values:
        return False
    return len(set(values)) <= 1 if constraint.match_attribute else len(set(values)) == len(values)


@pytest.mark.parametrize("seed", range(8))
def test_the_search_finds_the_first_full_choice(seed: int) -> None:
    rng = random.Random(seed)
    found = 0
    for _ in range(CASES):
        devices = _devices(rng, rng.randint(3, 5))
        counters = slice_of(
            None, pool="p", name="counters", count=2, allNodes=True,
            sharedCounters=[{"name": "set", "counters": {"slots": {"value": "4"}}}],
        )  # fmt: skip
        bench = Bench(counters, slice_of("n1", devices, pool="p", name="devices", count=2))
        held: set[int] = set()
        if rng.random() < 0.4:
            other = claim("other", {"name": "r0", "exactly": asks("model=x", tolerations=[{"operator": "Exists"}])})
            outcome = bench.outcome(other)
            if not outcome.failure and not devices[outcome.claims[0][0].position].get("allowMultipleAllocations"):
                bench.allocate(other)
                held.add(outcome.claims[0][0].position)
        claims = [_claim(rng, name) for name in ("c", "d")[: rng.choice((1, 1, 2))]]
        outcome = bench.outcome(*claims)
        assert isinstance(outcome, Answer)
        expected = _oracle(claims, devices, State(held))
        found += expected is not None
        assert bench.given(*claims) == (expected or "cannot allocate all claims"), (devices, claims, held)
    assert CASES // 5 < found < CASES
