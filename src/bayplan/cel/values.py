"""The values of CEL in Python: what they are, when two are equal, how they compare and how large they are.

bool, int, float, str, bytes, None, list and dict stand for themselves. The classes here are for the rest. A truth
value as the key of a map is stored as `TRUE_KEY` or `FALSE_KEY`, because for Python `True` and `1` are one key.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any, Final

from bayplan.cel.errors import EvaluationError, no_such_overload
from bayplan.cel.types import Type

INT_MIN, INT_MAX, UINT_MAX = -(2**63), 2**63 - 1, 2**64 - 1


class Uint(int):
    """An unsigned number; arithmetic on it is done by the operators, which check the range."""

    __slots__ = ()


class Duration(int):
    """Nanoseconds."""

    __slots__ = ()


class Timestamp(int):
    """Nanoseconds since 1970 in UTC."""

    __slots__ = ()


class Optional:
    """A value that may be missing."""

    __slots__ = ("has_value", "_value")

    def __init__(self, has_value: bool, value: Any = None) -> None:
        self.has_value = has_value
        self._value = value

    @property
    def value(self) -> Any:
        if not self.has_value:
            raise EvaluationError("optional.none() dereference")
        return self._value


NONE: Final = Optional(False)


class DefaultMap(dict[str, Any]):
    """A map in which a key that is not there has the given value, as the domains of a device have."""

    __slots__ = ("default",)

    def __init__(self, entries: Mapping[str, Any], default: Any) -> None:
        super().__init__(entries)
        self.default = default


class AttachedMap(dict[str, Any]):
    """A map that carries something for the functions of its environment, unseen by expressions."""

    __slots__ = ("attached",)

    def __init__(self, entries: Mapping[str, Any], attached: Any) -> None:
        super().__init__(entries)
        self.attached = attached


class Growing(list[Any]):
    """The list that a comprehension makes: adding to it changes it, so a long one is not copied at every step."""

    __slots__ = ()


class GrowingMap(dict[Any, Any]):
    """The map that a comprehension makes."""

    __slots__ = ()


class _BoolKey:
    __slots__ = ("value",)

    def __init__(self, value: bool) -> None:
        self.value = value


TRUE_KEY: Final = _BoolKey(True)
FALSE_KEY: Final = _BoolKey(False)

NUMBERS = frozenset({int, float, Uint})
_PLAIN = frozenset({int, float, str, bool, bytes, type(None), Duration, Timestamp, Type})
_LISTS = frozenset({list, Growing})
MAPS = frozenset({dict, DefaultMap, AttachedMap, GrowingMap})


def map_key(value: Any) -> Any:
    """What a value is stored under in a map; EvaluationError if it cannot be a key."""
    kind = type(value)
    if kind is str or kind is int or kind is Uint:
        return value
    if kind is bool:
        return TRUE_KEY if value else FALSE_KEY
    if kind is float:
        return value
    raise EvaluationError(f"unsupported key type: {type_name(value)}")


def keys(entries: Mapping[Any, Any]) -> Iterator[Any]:
    """The keys of a map as values."""
    return (each.value if type(each) is _BoolKey else each for each in entries)


_MISSING: Final = object()


def find(container: Any, key: Any) -> tuple[Any, bool]:
    """An element of a list or map, and whether there is one; other values have none."""
    kind = type(container)
    if kind in MAPS:
        found = container.get(key if type(key) is str else map_key(key), _MISSING)
        if found is not _MISSING:
            return found, True
        return (container.default, True) if kind is DefaultMap else (None, False)
    if kind in _LISTS:
        index = _index(key)
        return (container[index], True) if 0 <= index < len(container) else (None, False)
    return None, False


def _index(key: Any) -> int:
    kind = type(key)
    if kind is int or kind is Uint or (kind is float and key.is_integer()):
        return int(key)
    if kind is float:
        raise EvaluationError(f"unsupported index value {key} in list")
    raise EvaluationError(f"unsupported index type '{type_name(key)}' in list")


def missing(container: Any, key: Any) -> EvaluationError:
    if type(container) in _LISTS:
        return EvaluationError(f"index out of bounds: {shown(key)}")
    return EvaluationError(f"no such key: {shown(key)}")


def equal(left: Any, right: Any) -> bool:
    """Numbers are equal by value whatever their types; else values of two types are never equal."""
    kind = type(left)
    if kind is type(right):
        if kind in _PLAIN:
            return bool(left == right)
        if kind in _LISTS:
            return len(left) == len(right) and all(map(equal, left, right))
        if kind in MAPS:
            return _equal_maps(left, right)
        if kind is Optional:
            if not (left.has_value and right.has_value):
                return bool(left.has_value == right.has_value)
            return equal(left.value, right.value)
        return bool(left == right)
    if kind in NUMBERS and type(right) in NUMBERS:
        if kind is float or type(right) is float:
            return float(left) == float(right)
        return int(left) == int(right)
    if kind in _LISTS and type(right) in _LISTS:
        return len(left) == len(right) and all(map(equal, left, right))
    if kind in MAPS and type(right) in MAPS:
        return _equal_maps(left, right)
    return False


def _equal_maps(left: Mapping[Any, Any], right: Mapping[Any, Any]) -> bool:
    if len(left) != len(right):
        return False
    for key, value in left.items():
        other = right.get(key, _MISSING)
        if other is _MISSING or not equal(value, other):
            return False
    return True


_ORDERED = frozenset({int, float, Uint, str, bool, bytes, Duration, Timestamp})


def compare(left: Any, right: Any) -> int:
    """-1, 0 or 1; EvaluationError if the two have no order."""
    kind, other = type(left), type(right)
    if kind is other:
        if kind is float and (left != left or right != right):
            raise EvaluationError("NaN values cannot be ordered")
        if kind in _ORDERED:
            return int(left > right) - int(left < right)
    elif kind in NUMBERS and other in NUMBERS:
        if (kind is float and left != left) or (other is float and right != right):
            raise EvaluationError("NaN values cannot be ordered")
        return int(left > right) - int(left < right)
    raise no_such_overload()


def size(value: Any) -> int:
    """How much of it there is, for the cost: characters, bytes, elements; 1 for what has no size."""
    kind = type(value)
    if kind is str or kind is bytes or kind in _LISTS or kind in MAPS:
        return len(value)
    if kind in NUMBERS or kind is bool:
        return 1
    return int(getattr(value, "cel_size", 1))


_NAMES: dict[type, str] = {
    bool: "bool",
    int: "int",
    Uint: "uint",
    float: "double",
    str: "string",
    bytes: "bytes",
    type(None): "null_type",
    list: "list",
    Growing: "list",
    dict: "map",
    DefaultMap: "map",
    AttachedMap: "map",
    GrowingMap: "map",
    Duration: "google.protobuf.Duration",
    Timestamp: "google.protobuf.Timestamp",
    Optional: "optional_type",
    Type: "type",
}


def type_name(value: Any) -> str:
    """The name of a value's type as `type()` gives it."""
    found = _NAMES.get(type(value))
    return found if found is not None else str(value.cel_type)


def quoted(text: str) -> str:
    """A text in a message, in quotes."""
    return json.dumps(text, ensure_ascii=False)


def shown(value: Any) -> str:
    """A value in a message."""
    if value is None:
        return "null"
    if type(value) is bool:
        return "true" if value else "false"
    return str(value)
