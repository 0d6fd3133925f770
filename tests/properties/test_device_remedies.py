"""For any devices in use and any claims: what is said to let them fit does so, by an oracle that tries every choice."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import msgspec
import pytest

from bayplan.objects.toleration import Toleration
from bayplan.plugins.dynamic_resources.imagining import Imagined
from bayplan.plugins.dynamic_resources.would_fit import MOST_TRIES, Remedies, Remedy, WouldFit
from tests.plugins.dynamic_resources.device_building import Bench, asks, claim, node_of, slice_of
from tests.properties import test_device_search as plain

CASES = 120
"""Of each of the seeds."""

SLOTS = 4


class Case:
    """A node, what is in use, and what is asked for."""

    def __init__(self, rng: random.Random) -> None:
        self.devices = plain._devices(rng, rng.randint(3, 5))
        for each in self.devices:
            if rng.random() < 0.15:
                each["taints"] = [*each.get("taints", ()), {"key": "kept", "effect": "NoSchedule"}]
        counters = slice_of(
            None, pool="p", name="counters", count=2, allNodes=True,
            sharedCounters=[{"name": "set", "counters": {"slots": {"value": str(SLOTS)}}}],
        )  # fmt: skip
        self.bench = Bench(counters, slice_of("n1", self.devices, pool="p", name="devices", count=2))
        self.held: set[int] = set()
        self.shared: dict[int, int] = {}
        for number in range(rng.randint(1, 3)):
            self._give_away(rng, f"other{number}")
        self.claims = [plain._claim(rng, "c")]
        if rng.random() < 0.2:
            self.claims.append(claim("d", {"name": "r0", "exactly": asks()}))

    def _give_away(self, rng: random.Random, name: str) -> None:
        more = {"capacity": {"requests": {"memory": "1"}}} if rng.random() < 0.5 else {}
        exactly = asks(*rng.choice(((), ("model=x",))), tolerations=[{"operator": "Exists"}], **more)
        other = claim(name, {"name": "r0", "exactly": exactly})
        outcome = self.bench.outcome(other)
        if outcome.failure:
            return
        self.bench.allocate(other)
        place = outcome.claims[0][0].position
        if self.devices[place].get("allowMultipleAllocations"):
            memory = int(self.devices[place]["capacity"]["memory"]["value"])
            self.shared[place] = self.shared.get(place, 0) + (1 if more else memory)
        else:
            self.held.add(place)

    def remedies(self) -> Remedies:
        self.bench.inventory.catch_up()
        self.bench.usage.catch_up()
        shape = self.bench.allocator.shape([each.spec.devices for each in self.claims]).shape
        real = Imagined(shape, self.bench.inventory.devices_of(node_of("n1")), self.bench.inventory.columns)
        return WouldFit(real, self.claims, len(self.claims), self.bench.allocator.selectors).remedies()

    def place(self, name: str) -> int:
        return [each["name"] for each in self.devices].index(name)

    # -- the oracle --

    def fits(self, gone: Any = (), **state: Any) -> bool:
        held = self.held - set(gone)
        shared = {place: amount for place, amount in self.shared.items() if place not in gone}
        now = plain.State(held, state.get("shared", shared), state.get("slots", SLOTS))
        return plain._oracle(state.get("claims", self.claims), state.get("devices", self.devices), now) is not None

    def fits_with(self, remedy: Remedy) -> bool:
        details = remedy.details
        if remedy.change == "giveBack":
            return self.fits(gone=[self.place(each["device"]) for each in details["devices"]])
        if remedy.change == "freeCapacity":
            place = self.place(details["device"])
            return self.fits(shared=self.shared | {place: self.shared[place] - int(details["amount"])})
        if remedy.change == "freeCounters":
            return self.fits(slots=SLOTS + sum(int(each["amount"]) for each in details["counters"]))
        if remedy.change == "addDevices":
            like = self.devices[self.place(details["device"])]
            more = [{**like, "name": f"more{number}"} for number in range(details["count"])]
            return self.fits(devices=[*self.devices, *more])
        written = msgspec.json.decode(msgspec.json.encode([each.spec.devices for each in self.claims]))
        number = [each.key for each in self.claims].index(details["claim"])
        if remedy.change == "dropConstraint":
            del written[number]["constraints"][details["constraint"]]
        else:
            assert remedy.change == "tolerate"
            name, _, alternative = details["request"].partition("/")
            (request,) = (each for each in written[number]["requests"] if each["name"] == name)
            asked = request["exactly"] if not alternative else None
            asked = asked or next(each for each in request["firstAvailable"] if each["name"] == alternative)
            asked["tolerations"] = [*asked.get("tolerations", ()), *map(_tolerating, details["taints"])]
        pairs = zip(self.claims, written, strict=True)
        return self.fits(claims=[claim(each.name, *new["requests"], **_rest(new)) for each, new in pairs])


def _tolerating(taint: str) -> Any:
    key, _, effect = taint.partition(":")
    return msgspec.to_builtins(Toleration(key=key, effect=effect))


def _rest(written: dict[str, Any]) -> dict[str, Any]:
    return {"constraints": written.get("constraints") or ()}


@pytest.mark.parametrize("seed", range(6))
def test_every_remedy_that_is_told_is_true(seed: int) -> None:
    rng = random.Random(seed)
    told: Counter[str] = Counter()
    for _ in range(CASES):
        case = Case(rng)
        remedies = case.remedies()
        assert remedies.tried <= MOST_TRIES
        if case.fits():
            assert remedies == Remedies([], 0)
            continue
        about = case.devices, case.claims, case.held, case.shared
        for remedy in remedies.found:
            told[remedy.change] += 1
            assert case.fits_with(remedy), (remedy, about)
        _check_what_is_given_back(case, remedies.found, about)
    assert sum(told.values()) > 40
    assert {"giveBack", "tolerate", "dropConstraint", "addDevices"} <= set(told)


def _check_what_is_given_back(case: Case, found: list[Remedy], about: Any) -> None:
    """It is told wherever it would help, and no more than is needed."""
    in_use = [*case.held, *case.shared]
    told = [
        [case.place(one["device"]) for one in each.details["devices"]] for each in found if each.change == "giveBack"
    ]
    assert bool(told) == case.fits(gone=in_use), about
    for places in told:
        assert not any(case.fits(gone=[each for each in places if each != place]) for place in places), about
        assert len(places) == 1 or not any(case.fits(gone=[place]) for place in in_use), about
