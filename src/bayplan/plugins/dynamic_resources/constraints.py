"""
Constraints of a claim: an attribute that its devices must all have in common, or in which no two may be alike.

``search`` adds devices and takes them off again.  A constraint is monotonic: once it says no, more devices do not make
it say yes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

from bayplan.objects.devices.resource_claim import DeviceConstraint
from bayplan.objects.devices.resource_slice import DeviceAttribute

Value: TypeAlias = "tuple[str, int | bool | str]"
"""An attribute's type and value: values of two types are never alike."""


class UnknownConstraintError(ValueError):
    """A constraint of a sort that this version does not know."""


def attribute_of(attributes: Mapping[str, DeviceAttribute], driver: str, name: str) -> Value | None:
    """A device's attribute by its full name; one without a domain belongs to the driver's."""
    found = attributes.get(name)
    if found is None:
        domain, slash, bare = name.partition("/")
        found = attributes.get(bare) if slash and domain == driver else None
    return None if found is None else value_of(found)


def value_of(attribute: DeviceAttribute) -> Value | None:
    if attribute.string_value is not None:
        return "string", attribute.string_value
    if attribute.int_value is not None:
        return "int", attribute.int_value
    if attribute.bool_value is not None:
        return "bool", attribute.bool_value
    return None if attribute.version_value is None else ("version", attribute.version_value)


class Constraint:
    """One constraint as it is written; ``search`` keeps the values of the devices chosen so far."""

    __slots__ = ("attribute", "is_match", "requests")

    def __init__(self, written: DeviceConstraint) -> None:
        name = written.match_attribute if written.match_attribute is not None else written.distinct_attribute
        if name is None:
            raise UnknownConstraintError("empty constraint (unsupported constraint type?)")
        self.attribute = name
        self.is_match = written.match_attribute is not None
        self.requests = frozenset(written.requests or ())

    def applies_to(self, request: str, full_name: str) -> bool:
        """Is the request meant?  By its own name, or a subrequest by ``request/subrequest``."""
        return not self.requests or request in self.requests or full_name in self.requests

    def accepts(self, value: Value | None, chosen: Sequence[Value]) -> bool:
        """May a device with this value join those that were chosen?"""
        if value is None:
            return False
        if self.is_match:
            return not chosen or chosen[0] == value
        return value not in chosen
