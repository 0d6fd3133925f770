"""
Selectors as ``selectors`` wants them, made of CEL.

A sort of device is put into the form that CEL reads once for each expression that asks about it.
"""

from __future__ import annotations

from collections.abc import Hashable

from bayplan.cel import devices as cel
from bayplan.cel.errors import CelError, CelRuntimeError
from bayplan.objects.quantity import canonical
from bayplan.plugins.dynamic_resources.constraints import value_of
from bayplan.plugins.dynamic_resources.device_columns import Sort
from bayplan.plugins.dynamic_resources.selector_reads import Read, reads_of
from bayplan.plugins.dynamic_resources.selectors import Answer


class CelSelector:
    """A compiled expression about a device."""

    __slots__ = ("_selector", "_reads")

    def __init__(self, selector: cel.Selector) -> None:
        self._selector = selector
        self._reads = reads_of(selector.expression)

    def looks_at(self, sort: Sort) -> Hashable:
        if self._reads is None:
            return None
        return sort.driver, sort.is_shareable, tuple(_looked_at(sort, read) for read in self._reads)

    def answer(self, sort: Sort) -> Answer:
        try:
            return self._selector.matches(seen_by_cel(sort))
        except CelRuntimeError as error:
            return str(error)


def compile_selector(expression: str) -> CelSelector | str:
    """The selector, or what is wrong with the expression."""
    try:
        return CelSelector(cel.compile(expression))
    except CelError as error:
        return str(error)


def _looked_at(sort: Sort, read: Read) -> Hashable:
    """What a device has under a name, written with its domain and without."""
    names = (f"{read.domain}/{read.name}", read.name if read.domain == sort.driver else "")
    if read.map == "capacity":
        return tuple(sort.capacity[name].value if name in sort.capacity else None for name in names)
    return tuple(value_of(sort.attributes[name]) if name in sort.attributes else None for name in names)


def seen_by_cel(sort: Sort) -> cel.Device:
    """What a selector sees of a device."""
    attributes: dict[str, cel.Attribute] = {}
    for name, attribute in sort.attributes.items():
        value = value_of(attribute)
        if value is not None:
            attributes[name] = cel.version(str(value[1])) if value[0] == "version" else value[1]
    return cel.Device(
        driver=sort.driver,
        attributes=attributes,
        capacity={name: canonical(each.value) for name, each in sort.capacity.items()},
        allow_multiple_allocations=sort.is_shareable,
    )
