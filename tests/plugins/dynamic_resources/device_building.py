"""Slices, classes and claims in few words, and an allocator over them whose selectors are plain Python."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from bayplan.engine.store import Store
from bayplan.objects.devices.device_class import DeviceClass
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.node import Node
from bayplan.plugins.dynamic_resources.allocator import Allocator
from bayplan.plugins.dynamic_resources.constraints import value_of
from bayplan.plugins.dynamic_resources.device_columns import Sort
from bayplan.plugins.dynamic_resources.device_score.args import DeviceScoreArgs
from bayplan.plugins.dynamic_resources.device_score.device_score import DeviceScore
from bayplan.plugins.dynamic_resources.inventory import Inventory
from bayplan.plugins.dynamic_resources.results import allocations
from bayplan.plugins.dynamic_resources.search import Answer
from bayplan.plugins.dynamic_resources.selectors import Answer as Matched
from bayplan.plugins.dynamic_resources.usage import Usage

DRIVER = "gpu.example.com"
CLASS = "gpu"


def slice_of(
    node: str | None,
    devices: Sequence[Mapping[str, Any]] = (),
    *,
    pool: str = "",
    name: str = "",
    driver: str = DRIVER,
    generation: int = 1,
    count: int = 1,
    **spec: Any,
) -> ResourceSlice:
    """A slice for one node; ``node=None`` and ``allNodes`` or another choice of nodes for others."""
    where = {"nodeName": node} if node else {}
    pool_name = pool or node or "pool"
    body = {
        "metadata": {"name": name or f"{pool_name}-{driver}"},
        "spec": {
            "driver": driver,
            "pool": {"name": pool_name, "generation": generation, "resourceSliceCount": count},
            **({"devices": list(devices)} if devices else {}),
            **where,
            **spec,
        },
    }
    return msgspec.convert(body, ResourceSlice)


def device(name: str, attributes: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    typed = {key: {_type(value): value} for key, value in (attributes or {}).items()}
    return {"name": name, **({"attributes": typed} if typed else {}), **more}


def _type(value: object) -> str:
    return "bool" if isinstance(value, bool) else "int" if isinstance(value, int) else "string"


def device_class(name: str = CLASS, *expressions: str, **spec: Any) -> DeviceClass:
    selectors = [{"cel": {"expression": each}} for each in expressions]
    return msgspec.convert({"metadata": {"name": name}, "spec": {"selectors": selectors, **spec}}, DeviceClass)


def request(name: str = "r0", *expressions: str, device_class: str = CLASS, **more: Any) -> dict[str, Any]:
    """A request for devices of a class; ``expressions`` are those of ``Fake``."""
    return {"name": name, "exactly": asks(*expressions, device_class=device_class, **more)}


def asks(*expressions: str, device_class: str = CLASS, **more: Any) -> dict[str, Any]:
    more = {"allocationMode": "ExactCount", **more}
    if more["allocationMode"] == "ExactCount":
        more.setdefault("count", 1)
    selectors = [{"cel": {"expression": each}} for each in expressions]
    return {"deviceClassName": device_class, "selectors": selectors, **more}


def claim(name: str, *requests: Mapping[str, Any], constraints: Sequence[Mapping[str, Any]] = (), **more: Any) -> Any:
    devices = {"requests": list(requests), "constraints": list(constraints), **more}
    body = {"metadata": {"namespace": "default", "name": name, "uid": f"uid-{name}"}, "spec": {"devices": devices}}
    return msgspec.convert(body, ResourceClaim)


class Fake:
    """``name=value`` compares an attribute, ``!`` fails, ``name!`` fails without it; there is no CEL in these tests."""

    def __init__(self, expression: str) -> None:
        self._name, _, self._value = expression.partition("=")
        self.asked = 0

    def looks_at(self, sort: Sort) -> None:
        return None

    def answer(self, sort: Sort) -> Matched:
        self.asked += 1
        if self._name == "!":
            return "no such key: x"
        if self._name.endswith("!"):
            return self._name[:-1] in sort.attributes or f"no such key: {self._name[:-1]}"
        found = sort.attributes.get(self._name)
        said = None if found is None else value_of(found)
        return said is not None and str(said[1]) == self._value


class Bench:
    """A store with devices and an allocator over it."""

    def __init__(self, *objects: Any, device_score: DeviceScoreArgs | None = None) -> None:
        self.store = Store()
        self.inventory = Inventory(self.store)
        self.usage = Usage(self.store, self.inventory)
        self.compiled: dict[str, Fake] = {}
        score = None if device_score is None else DeviceScore(device_score, self.inventory)
        self.allocator = Allocator(self.store, self.inventory, self._compile, score=score)
        for each in (device_class(), *objects):
            self.put(each)

    def _compile(self, expression: str) -> Fake | str:
        if expression == "broken":
            return "it is broken"
        return self.compiled.setdefault(expression, Fake(expression))

    def put(self, thing: Any) -> None:
        self.store.put(type(thing).__name__, thing.namespace, thing.name, thing)

    def drop(self, thing: Any) -> None:
        self.store.drop(type(thing).__name__, thing.namespace, thing.name)

    def outcome(self, *claims: ResourceClaim, node: str = "n1", labels: Mapping[str, str] | None = None) -> Any:
        self.inventory.catch_up()
        self.usage.catch_up()
        kept = self.allocator.shape([each.spec.devices for each in claims])
        return self.allocator.on_node(kept, node_of(node, labels))

    def given(self, *claims: ResourceClaim, node: str = "n1", labels: Mapping[str, str] | None = None) -> Any:
        """``request=device`` for each device; or what the node is told."""
        outcome = self.outcome(*claims, node=node, labels=labels)
        if not isinstance(outcome, Answer):
            return outcome.told([each.key for each in claims])
        if outcome.failure:
            return outcome.failure
        return [
            f"{result.request}={result.device}"
            for each in self.results(outcome, claims, node, labels)
            for result in each.devices.results or ()
        ]

    def results(self, outcome: Answer, claims: Any, node: str = "n1", labels: Mapping[str, str] | None = None) -> Any:
        shape = self.allocator.shape([each.spec.devices for each in claims]).shape
        return allocations(shape, outcome, claims, self.inventory.devices_of(node_of(node, labels)), node)

    def allocate_first(self, one: ResourceClaim, node: str = "n1") -> ResourceClaim:
        """As ``allocate``, of the first devices that fit, whatever is preferred."""
        preferring = self.allocator
        self.allocator = Allocator(self.store, self.inventory, self._compile)
        try:
            return self.allocate(one, node)
        finally:
            self.allocator = preferring

    def allocate(self, one: ResourceClaim, node: str = "n1") -> ResourceClaim:
        """Allocate a claim and store it so."""
        outcome = self.outcome(one, node=node)
        assert isinstance(outcome, Answer), outcome
        assert not outcome.failure
        (allocation,) = self.results(outcome, (one,), node)
        held: ResourceClaim = one.evolve(status=msgspec.structs.replace(one.status, allocation=allocation))
        self.put(held)
        return held


def node_of(name: str, labels: Mapping[str, str] | None = None) -> Node:
    return msgspec.convert({"metadata": {"name": name, "labels": dict(labels or {})}}, Node)
