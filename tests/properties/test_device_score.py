"""For any devices, claims and rules: what DeviceScore chooses is valid, it is the best there is, and it fails nowhere."""

from __future__ import annotations

import random
from collections import Counter
from fractions import Fraction
from itertools import product
from typing import Any

import pytest

from bayplan.plugins.dynamic_resources.device_score.args import DeviceScoreArgs
from bayplan.plugins.dynamic_resources.search import Answer
from tests.plugins.dynamic_resources.device_building import Bench, asks, claim, slice_of
from tests.properties import test_device_search as plain

CASES = 80
"""Of each of the seeds."""

SLOTS = 4
"""In the counter set, as in ``test_device_search``."""

NUMA = "gpu.example.com/numa"
RULES: list[dict[str, Any]] = [
    {"type": "Tightest"},
    {"type": "Pack"},
    {"type": "Spread"},
    {"type": "Together", "attribute": NUMA},
    {"type": "Together", "attribute": "gpu.example.com/model"},
]


def _score(rng: random.Random, **more: Any) -> DeviceScoreArgs:
    picked = rng.sample(RULES, rng.randint(1, 3))
    if {"Pack", "Spread"} <= {rule["type"] for rule in picked}:
        picked = [rule for rule in picked if rule["type"] != "Spread"]
    rules = [{**rule, "weight": rng.randint(1, 5)} for rule in picked]
    return DeviceScoreArgs.model_validate({"rules": rules, **more})


class Case:
    """A node, what is in use, and what is asked for."""

    def __init__(self, rng: random.Random) -> None:
        self.devices = plain._devices(rng, rng.randint(3, 5))
        self.held: set[int] = set()
        self._counters = slice_of(
            None, pool="p", name="counters", count=2, allNodes=True,
            sharedCounters=[{"name": "set", "counters": {"slots": {"value": str(SLOTS)}}}],
        )  # fmt: skip
        self._other: Any = None
        if rng.random() < 0.4:
            other = claim("other", {"name": "r0", "exactly": asks("model=x", tolerations=[{"operator": "Exists"}])})
            outcome = self.bench(None, allocated=False).outcome(other)
            if not outcome.failure:
                place = outcome.claims[0][0].position
                if not self.devices[place].get("allowMultipleAllocations"):
                    self._other = other
                    self.held.add(place)
        self.claims = [plain._claim(rng, name) for name in ("c", "d")[: rng.choice((1, 1, 2))]]

    def bench(self, score: DeviceScoreArgs | None, *, allocated: bool = True) -> Bench:
        bench = Bench(
            self._counters, slice_of("n1", self.devices, pool="p", name="devices", count=2), device_score=score
        )
        if allocated and self._other is not None:
            bench.allocate_first(self._other)
        return bench


# -- the oracle: every valid choice, each judged from nothing --


def _valid(case: Case) -> list[list[Any]]:
    options = [list(plain._choices(request, case.devices)) for each in case.claims for request in each.requests]
    owners = [number for number, each in enumerate(case.claims) for _ in each.requests]
    found = []
    for choice in product(*options):
        flat = [(owner, *pick) for owner, picks in zip(owners, choice, strict=True) for pick in picks]
        if plain._is_good(case.claims, case.devices, plain.State(case.held), flat):
            found.append(flat)
    return found


def _ranks(case: Case, flat: list[Any]) -> list[int]:
    """By request; one that a choice leaves out has no alternatives to choose from."""
    ranks = {}
    for owner, (request, asked), _ in flat:
        ranks[owner, request.name] = 0 if request.exactly else list(request.first_available).index(asked)
    return [ranks[number, request.name] for number, each in enumerate(case.claims) for request in each.requests]


class Judge:
    """What the rules say of whole choices, by the formulas of the documentation."""

    def __init__(self, case: Case, args: DeviceScoreArgs) -> None:
        self._case = case
        self._args = args
        capacities = [_memory(each) for each in case.devices]
        self._largest = max(capacities)

    def value(self, flat: list[Any]) -> int:
        taken = [pick for pick in flat if not _is_admin(pick)]
        return sum(int(self._rule(rule, taken, flat)) * rule.weight for rule in self._args.rules)

    def _rule(self, rule: Any, taken: list[Any], flat: list[Any]) -> int:
        if rule.type == "Tightest":
            return self._tightest(taken, flat)
        if rule.type == "Together":
            return self._together(rule.attribute.partition("/")[2], taken, flat)
        full = self._full(taken, flat)
        return full if rule.type == "Pack" else 10_000 - full

    def _size(self, place: int) -> int:
        which = self._case.devices[place]
        if plain._slots(which):
            return min(1000, plain._slots(which) * 1000 // SLOTS)
        return max(1, _memory(which) * 1000 // self._largest) if "capacity" in which else 1000

    def _slots_left(self, flat: list[Any]) -> int:
        users = {place for _, _, place in flat if _is_shared(self._case.devices[place])}
        users |= self._case.held
        others = [place for _, _, place in flat if not _is_shared(self._case.devices[place])]
        gone = sum(plain._slots(self._case.devices[place]) for place in (*users, *others))
        return SLOTS - gone

    def _free(self, taken: list[Any], flat: list[Any]) -> set[int]:
        left = self._slots_left(flat)
        chosen = {place for _, _, place in taken}
        free = set()
        for place, which in enumerate(self._case.devices):
            is_shared = _is_shared(which)
            tainted = any(each["effect"] != "None" for each in which.get("taints", ()))
            if place in self._case.held or tainted or (place in chosen and not is_shared):
                continue
            if plain._slots(which) <= left or not plain._slots(which) or (is_shared and place in chosen):
                free.add(place)
        return free

    def _tightest(self, taken: list[Any], flat: list[Any]) -> int:
        admins = [pick for pick in flat if _is_admin(pick)]
        lost = 0
        for _, (_, asked), place in taken:
            size, which = self._size(place), self._case.devices[place]
            if _is_shared(which):
                has = _memory(which)
                amount = int(asked.capacity_requests.get("memory", 0)) or has
                lost += size * (amount * 1000 // has) // 1000
            else:
                lost += size
        chosen = {place for _, _, place in taken if not _is_shared(self._case.devices[place])}
        gone = self._free([], admins) - self._free(taken, flat) - chosen
        lost += sum(map(self._size, gone))
        asked_for = len(taken) * 1000
        return 10_000 * asked_for // (asked_for + lost) if asked_for else 10_000

    def _together(self, name: str, taken: list[Any], flat: list[Any]) -> int:
        def value(place: int) -> Any:
            return next(iter(self._case.devices[place]["attributes"].get(name, {}).values()), None)

        def pairs(places: Any) -> int:
            counts = Counter(value(place) for place in places if value(place) is not None)
            return sum(count * (count - 1) // 2 for count in counts.values())

        before = pairs(self._free([], [pick for pick in flat if _is_admin(pick)]))
        left = Fraction(pairs(self._free(taken, flat)), before) if before else Fraction(1)
        equal, all_pairs = pairs(place for _, _, place in taken), len(taken) * (len(taken) - 1) // 2
        return int(10_000 * (2 * equal + left) / (2 * all_pairs + 1))

    def _full(self, taken: list[Any], flat: list[Any]) -> int:
        fills: dict[Any, int] = {}
        for place, which in enumerate(self._case.devices):
            if not self._is_selected(which):
                continue
            if plain._slots(which):
                fills["set"] = min(1000, (SLOTS - self._slots_left(flat)) * 1000 // SLOTS)
            if _is_shared(which):
                used = sum(
                    int(asked.capacity_requests.get("memory", 0)) or _memory(which)
                    for _, (_, asked), each in taken
                    if each == place
                )
                fills[place] = used * 1000 // _memory(which)
            elif not plain._slots(which):
                is_full = place in self._case.held or any(each == place for _, _, each in taken)
                fills[place] = 1000 if is_full else 0
        whole = len(fills) * 1000 * 1000
        return 10_000 * sum(fill * fill for fill in fills.values()) // whole if whole else 10_000

    def _is_selected(self, which: dict[str, Any]) -> bool:
        """By any request of the pod."""
        asked = [
            part
            for each in self._case.claims
            for request in each.requests
            for part in ([request.exactly] if request.exactly else request.first_available)
        ]
        return any(all(_matches(which, text) for text in part.expressions) for part in asked)


def _matches(which: dict[str, Any], text: str) -> bool:
    key, _, value = text.partition("=")
    return str(next(iter(which["attributes"].get(key, {}).values()), None)) == value


def _memory(which: dict[str, Any]) -> int:
    return int(which.get("capacity", {}).get("memory", {"value": 0})["value"])


def _is_shared(which: dict[str, Any]) -> bool:
    return bool(which.get("allowMultipleAllocations"))


def _is_admin(pick: Any) -> bool:
    _, (request, _), _ = pick
    return bool(request.exactly and request.exactly.admin_access)


def _has_admins(case: Case) -> bool:
    return any(request.exactly and request.exactly.admin_access for each in case.claims for request in each.requests)


def _as_flat(case: Case, outcome: Answer, bench: Bench) -> list[Any]:
    shape = bench.allocator.shape([each.spec.devices for each in case.claims]).shape
    flat = []
    for owner, choices in enumerate(outcome.claims):
        for choice in choices:
            wanted = shape.wanted[choice.wanted]
            request = next(each for each in case.claims[owner].requests if each.name == wanted.name)
            asked = request.exactly or next(each for each in request.first_available if each.name == wanted.alternative)
            flat.append((owner, (request, asked), choice.position))
    return flat


@pytest.mark.parametrize("seed", range(8))
def test_the_best_of_all_valid_choices_is_found(seed: int) -> None:
    rng = random.Random(seed)
    found = better = 0
    for _ in range(CASES):
        case, args = Case(rng), _score(rng, searchSteps=100_000)
        first = case.bench(None).outcome(*case.claims)
        bench = case.bench(args)
        outcome = bench.outcome(*case.claims)
        assert bool(outcome.failure) == bool(first.failure)
        if outcome.failure:
            continue
        found += 1
        flat = _as_flat(case, outcome, bench)
        assert plain._is_good(case.claims, case.devices, plain.State(case.held), flat), (case.devices, case.claims)
        assert outcome.merit.is_best
        if _has_admins(case):
            continue  # they are valid; what they do to others' scores has its own test
        judge = Judge(case, args)
        best = min((_ranks(case, each), -judge.value(each)) for each in _valid(case))
        assert (_ranks(case, flat), -judge.value(flat)) == best, (case.devices, case.claims, case.held, args)
        assert outcome.merit.score == judge.value(flat) // (100 * sum(rule.weight for rule in args.rules))
        before = _as_flat(case, first, bench)
        better += (_ranks(case, before), -judge.value(before)) > best
    assert found > CASES // 5
    assert better > 0


@pytest.mark.parametrize("seed", range(4))
def test_a_short_search_still_places_what_the_first_fit_places(seed: int) -> None:
    rng = random.Random(1000 + seed)
    ended = 0
    for _ in range(CASES):
        case = Case(rng)
        args = _score(rng, searchSteps=rng.choice((1, 2, 5)))
        first, bench = case.bench(None).outcome(*case.claims), case.bench(args)
        outcome = bench.outcome(*case.claims)
        assert bool(outcome.failure) == bool(first.failure)
        if not outcome.failure:
            flat, judge = _as_flat(case, outcome, bench), Judge(case, args)
            assert plain._is_good(case.claims, case.devices, plain.State(case.held), flat)
            ended += not outcome.merit.is_best
            if not _has_admins(case):
                before = _as_flat(case, first, bench)
                assert (_ranks(case, flat), -judge.value(flat)) <= (_ranks(case, before), -judge.value(before))
    assert ended > 0
