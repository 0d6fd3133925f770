"""
The shape of what a pod asks for: its claims without their names, compiled.

Pods of one template have claims of one shape, so that what is worked out for the first serves the others.  For a shape
devices come in *kinds*: all that the shape can tell apart of them, in one number.  ``allocator`` keeps shapes,
``search`` works on one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
import numpy as np

from bayplan.objects.devices.device_class import DeviceClass
from bayplan.objects.devices.resource_claim import DeviceClaim, DeviceRequest, DeviceRequirements, ExactDeviceRequest
from bayplan.objects.toleration import Taint, untolerated
from bayplan.plugins.dynamic_resources import capacity
from bayplan.plugins.dynamic_resources.capacity import Take
from bayplan.plugins.dynamic_resources.constraints import Constraint, UnknownConstraintError, Value, attribute_of
from bayplan.plugins.dynamic_resources.counters import Consumption, consumption
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns, Numbers, Sort
from bayplan.plugins.dynamic_resources.selectors import Selectors

UNSELECTED = 0
"""The kind of devices that no request can have."""


class AllocationError(Exception):
    """
    Something is wrong with a claim or a class, whatever the node: the pod's cycle ends with an error.

    The text goes on from the name of the claim, which the shape does not know; ``claim`` is -1 if it stands by itself.
    """

    def __init__(self, claim: int, text: str) -> None:
        super().__init__(text)
        self.claim = claim
        self.text = text

    def told(self, claim_keys: Sequence[str]) -> str:
        return self.text if self.claim < 0 else f"claim {claim_keys[self.claim]}{self.text}"


class Wanted(NamedTuple):
    """A request, or one of the alternatives of a request."""

    claim: int
    request: int
    """Its place among the claim's requests."""
    number: int
    """Its place among all requests and alternatives of the shape."""
    name: str
    alternative: str
    """Its own name if it is one of several alternatives, else ""."""
    rank: int
    """Which alternative it is."""
    asks: DeviceRequirements
    device_class: DeviceClass
    constraints: tuple[int, ...]
    """The constraints of the claim that it must keep to."""

    @property
    def full_name(self) -> str:
        return f"{self.name}/{self.alternative}" if self.alternative else self.name

    @property
    def own_name(self) -> str:
        return self.alternative or self.name

    @property
    def is_admin(self) -> bool:
        return isinstance(self.asks, ExactDeviceRequest) and bool(self.asks.admin_access)


class Kind(NamedTuple):
    """What the shape can tell apart of devices.  Tuples have an entry for each request or alternative."""

    matches: tuple[bool | AllocationError, ...]
    taints: tuple[Taint | None, ...] = ()
    """The first that the request does not tolerate."""
    takes: tuple[tuple[Take, ...] | str, ...] = ()
    """What the request takes of its capacity, or why it cannot."""
    values: tuple[Value | None, ...] = ()
    """Of the attribute that each constraint is about."""
    counters: Consumption = ()
    is_shareable: bool = False


class Shape:
    """Claims, without their names."""

    def __init__(
        self,
        claims: Sequence[DeviceClaim],
        class_of: Callable[[str], DeviceClass | None],
        columns: DeviceColumns,
        selectors: Selectors,
    ) -> None:
        self.constraints: list[Constraint] = []
        self.claims: list[list[list[Wanted]]] = []
        """For each claim, for each of its requests, the alternatives: one if there are no others."""
        self.wanted: list[Wanted] = []
        self._columns = columns
        self._selectors = selectors
        self.kinds: list[Kind] = []
        self._kind_numbers: dict[Kind, int] = {}
        self._kind_of_sort: Numbers = np.zeros(0, np.int32)
        self._numbering = columns.numbering
        """That of the sorts."""
        self._known_takes: dict[bytes, tuple[tuple[Take, ...] | str, ...]] = {}
        """By the capacity of a device."""
        for number, claim in enumerate(claims):
            self.claims.append(self._compiled(number, claim, class_of))
        self.kinds.append(Kind((False,) * len(self.wanted)))

    def _compiled(
        self, number: int, claim: DeviceClaim, class_of: Callable[[str], DeviceClass | None]
    ) -> list[list[Wanted]]:
        first = len(self.constraints)
        for place, written in enumerate(claim.constraints or ()):
            try:
                self.constraints.append(Constraint(written))
            except UnknownConstraintError as error:
                raise AllocationError(number, f", constraint #{place}: {error}") from error
        own = range(first, len(self.constraints))
        requests: list[list[Wanted]] = []
        for request in claim.requests or ():
            alternatives = []
            for rank, (alternative, asks) in enumerate(_alternatives(request)):
                found = class_of(asks.device_class_name)
                if found is None:
                    raise AllocationError(number, _no_class(alternative or request.name, asks.device_class_name))
                full_name = f"{request.name}/{alternative}" if alternative else request.name
                kept = tuple(each for each in own if self.constraints[each].applies_to(request.name, full_name))
                wanted = Wanted(
                    number, len(requests), len(self.wanted), request.name, alternative, rank, asks, found, kept
                )
                self.wanted.append(wanted)
                alternatives.append(wanted)
            requests.append(alternatives)
        return requests

    def kinds_of(self, sorts: Numbers) -> Numbers:
        """The kinds of devices of these sorts."""
        if self._numbering != self._columns.numbering:
            self._numbering = self._columns.numbering
            self._kind_of_sort = np.zeros(0, np.int32)
            self._selectors.number_anew(self._numbering)
        known = len(self._kind_of_sort)
        if known < len(self._columns.sorts):
            fresh = [self._kind_number(number) for number in range(known, len(self._columns.sorts))]
            self._kind_of_sort = np.concatenate((self._kind_of_sort, np.array(fresh, np.int32)))
        kinds: Numbers = self._kind_of_sort[sorts]
        return kinds

    def _kind_number(self, number: int) -> int:
        sort = self._columns.sorts[number]
        matches = tuple(self._matches(wanted, number, sort) for wanted in self.wanted)
        if not any(matches):
            return UNSELECTED
        kind = Kind(
            matches,
            tuple(untolerated(wanted.asks.tolerations or (), sort.taints) for wanted in self.wanted),
            self._takes(sort),
            tuple(attribute_of(sort.attributes, sort.driver, each.attribute) for each in self.constraints),
            consumption(sort.device),
            sort.is_shareable,
        )
        found = self._kind_numbers.get(kind)
        if found is None:
            found = self._kind_numbers[kind] = len(self.kinds)
            self.kinds.append(kind)
        return found

    def _takes(self, sort: Sort) -> tuple[tuple[Take, ...] | str, ...]:
        key = msgspec.msgpack.encode(sort.device.capacity)
        known = self._known_takes.get(key)
        if known is None:
            known = tuple(capacity.taken(wanted.asks.capacity_requests, sort.capacity) for wanted in self.wanted)
            self._known_takes[key] = known
        return known

    def _matches(self, wanted: Wanted, number: int, sort: Sort) -> bool | AllocationError:
        of_class = self._selectors.answer(wanted.device_class.expressions, number, sort)
        if isinstance(of_class, tuple):
            place, text = of_class
            return AllocationError(-1, f"class {wanted.device_class.name}: selector #{place}: {text}")
        if not of_class:
            return False
        own = self._selectors.answer(wanted.asks.expressions, number, sort)
        if isinstance(own, tuple):
            place, text = own
            return AllocationError(wanted.claim, f": selector #{place}: {text}")
        return own


def _alternatives(request: DeviceRequest) -> list[tuple[str, DeviceRequirements]]:
    if request.exactly is not None:
        return [("", request.exactly)]
    return [(each.name, each) for each in request.first_available or ()]


def _no_class(request: str, name: str) -> str:
    missing = f'deviceclass.resource.k8s.io "{name}" not found'
    return f", request {request}: could not retrieve device class {name}: {missing}"
