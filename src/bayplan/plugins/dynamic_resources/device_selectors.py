"""
Selectors as ``selectors`` wants them, made of CEL.

A sort of device is put into the form that CEL reads once for each expression that asks about it.
"""

from __future__ import annotations

from bayplan.cel import devices as cel
from bayplan.cel.errors import CelError, CelRuntimeError
from bayplan.objects.quantity import canonical
from bayplan.plugins.dynamic_resources.constraints import value_of
from bayplan.plugins.dynamic_resources.device_columns import Sort
from bayplan.plugins.dynamic_resources.selectors import Answer


class CelSelector:
    """A compiled expression about a device."""

    __slots__ = ("_selector",)

    def __init__(self, selector: cel.Selector) -> None:
        self._selector = selector

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
