"""CEL selectors of devices, as in a DeviceClass or a ResourceClaim. The device allocator compiles and asks them.

    selector = compile('device.driver == "gpu.example.com" && device.attributes["gpu.example.com"].cores > 4')
    selector.matches(Device(driver="gpu.example.com", attributes={"cores": 8}))

`compile` gives a `Selector`, the same one for the same text while it is among the last 4096. It raises `CelError`
with one line (line, column and what is wrong) if the text is longer than 10 KiB, does not parse, names what is not
there or does not give a truth value.

`matches` gives True or False. It raises `CelRuntimeError` with the text Kubernetes has, if the expression ends in an
error (``no such key: cores``), gives something else than a truth value (an attribute that is a string), or costs more
than 1,000,000 (``operation cancelled: actual cost limit exceeded``). Kubernetes ends the pod's cycle then.

In an expression `device.driver` is a string, `device.allowMultipleAllocations` a bool,
`device.attributes[domain].id` an int, bool, string or version, and `device.capacity[domain].id` a quantity. A domain
that the device does not have is an empty map; an id that is not there is an error, so ask with `has()` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, TypeAlias

from bayplan.cel.environment import Environment, Program
from bayplan.cel.errors import CelError, CelRuntimeError, EvaluationError
from bayplan.cel.estimates.device_sizes import device_size
from bayplan.cel.library.quantities import quantity
from bayplan.cel.library.versions import Version, version
from bayplan.cel.types import ANY, BOOL, STRING, Type, map_of
from bayplan.cel.values import DefaultMap, type_name

Attribute: TypeAlias = int | bool | str | Version
"""A version is made with `version`, so that it is not taken for a string."""

_DEVICE = Type("kubernetes.DRADevice")
_QUANTITY = Type("kubernetes.Quantity")
_FIELDS = {
    "driver": STRING,
    "allowMultipleAllocations": BOOL,
    "attributes": map_of(STRING, map_of(STRING, ANY)),
    "capacity": map_of(STRING, map_of(STRING, _QUANTITY)),
}
_ENVIRONMENT = Environment({"device": _DEVICE}, fields={_DEVICE.name: _FIELDS})
_CONVERSIONS = {
    "int": "unsupported type conversion from 'int' to bool",
    "string": "unsupported native conversion from string to 'bool'",
}
_NO_ENTRIES: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Device:
    """What a selector can see of a device. Names without a domain belong to that of the driver.

    `capacity` has quantities as they are written, such as ``80Gi``. Selectors keep nothing of a device, but what they
    read of it is put together once, so use the same object for several selectors.
    """

    driver: str
    attributes: Mapping[str, Attribute] = field(default_factory=dict)
    capacity: Mapping[str, str] = field(default_factory=dict)
    allow_multiple_allocations: bool = False
    _seen: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def as_value(self) -> dict[str, Any]:
        """The variable `device`; EvaluationError if a capacity is no quantity."""
        if not self._seen:
            self._seen.update(
                driver=self.driver,
                allowMultipleAllocations=self.allow_multiple_allocations,
                attributes=self._by_domain(self.attributes),
                capacity=self._by_domain({name: quantity(str(each)) for name, each in self.capacity.items()}),
            )
        return self._seen

    def _by_domain(self, entries: Mapping[str, Any]) -> DefaultMap:
        domains: dict[str, dict[str, Any]] = {}
        for name, value in entries.items():
            domain, slash, id = name.partition("/")
            domains.setdefault(domain if slash else self.driver, {})[id if slash else name] = value
        return DefaultMap(domains, _NO_ENTRIES)


class Selector:
    """A compiled expression about a device."""

    __slots__ = ("_program",)

    def __init__(self, program: Program) -> None:
        self._program = program

    @property
    def expression(self) -> str:
        return self._program.text

    def matches(self, device: Device) -> bool:
        return self.evaluate(device)[0]

    def evaluate(self, device: Device) -> tuple[bool, int]:
        """Whether it matches, and what that cost."""
        value, cost = self._program.evaluate({"device": device.as_value()})
        if type(value) is not bool:
            name = type_name(value)
            problem = _CONVERSIONS.get(name, f"type conversion error from '{name.rpartition('.')[2]}' to 'bool'")
            error = CelRuntimeError(f"CEL result of type {name} could not be converted to bool: {problem}")
            error.cost = cost
            raise error
        return value, cost


@lru_cache(maxsize=4096)
def compile(expression: str) -> Selector:
    """CelError if the expression is wrong."""
    program = _ENVIRONMENT.compile(expression)
    if program.type not in (BOOL, ANY):
        raise CelError(f"1:1: must evaluate to bool or the unknown type, not {program.type}")
    return Selector(program)


@lru_cache(maxsize=4096)
def highest_cost(expression: str) -> int:
    """What the expression can cost for the largest device there can be, as the API server estimates it.

    It refuses an expression over the limit when a class or a claim is created. CelError if the expression is wrong.
    """
    return _ENVIRONMENT.highest_cost(expression, device_size)


__all__ = ["Attribute", "Device", "EvaluationError", "Selector", "compile", "highest_cost", "version"]
