"""What calls of functions can cost at most, and how large their results can be."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import NamedTuple, TypeAlias

from bayplan.cel.costs import LIST, PER_CHARACTER, PER_PATTERN_CHARACTER
from bayplan.cel.estimates.sizes import MOST, UNKNOWN, Size, capped, exactly, scaled, wrapped
from bayplan.cel.syntax import Expr, Literal
from bayplan.cel.types import Type

_FORMAT_NAME = 64
_FORMAT_PATTERN = 128
_ADDRESS = 16
"""Bytes of the longest address."""


class Part(NamedTuple):
    """An argument, or what stands before the dot."""

    node: Expr
    type: Type
    known_size: Size | None

    @property
    def size(self) -> Size:
        return UNKNOWN if self.known_size is None else self.known_size

    @property
    def reading(self) -> int:
        """Once through it."""
        return scaled(self.size.most, PER_CHARACTER)

    def number(self, otherwise: int) -> int:
        """The number that is written there."""
        if isinstance(self.node, Literal) and type(self.node.value) is int:
            return max(0, self.node.value)
        return otherwise


class Estimate(NamedTuple):
    cost: int = 1
    size: Size | None = None
    """Of the result; None if nothing is known of it."""


class Asked(NamedTuple):
    """One overload of a call. `parts` has the target first, if there is one."""

    overload: str
    parts: Sequence[Part]


_Rule: TypeAlias = Callable[[Asked], Estimate]


def estimate(function: str, asked: Asked) -> Estimate:
    """Without what the arguments cost."""
    rule = _RULES.get(function)
    return Estimate() if rule is None else rule(asked)


def _list_scan(asked: Asked) -> Estimate:
    target = asked.parts[0]
    if not target.type.parameters:
        return Estimate(target.reading)
    # How long the strings of a list are is never known.
    is_text = target.type.parameters[0].name in ("string", "bytes")
    each = 1 + (scaled(MOST, PER_CHARACTER) if is_text else 0)
    return Estimate(capped(target.size.most * each))


def _read_first(asked: Asked) -> Estimate:
    return Estimate(asked.parts[0].reading)


def _read_last(asked: Asked) -> Estimate:
    return Estimate(asked.parts[-1].reading)


def _same_size(asked: Asked) -> Estimate:
    return Estimate(asked.parts[0].reading, asked.parts[0].size)


def _replace(asked: Asked) -> Estimate:
    text, old, new = (each.size for each in asked.parts[:3])
    cost = scaled(text.most, 2 * PER_CHARACTER)
    if old.least == 0:
        most = capped(capped(capped(text.most + 1) * new.most) + text.most)
    elif new.most <= old.least:
        most = text.most
    else:
        most = capped(_pieces(text.most, old.least) * new.most)
    if old.most == 0:
        least = capped(capped(capped(text.least + 1) * new.least) + text.least)
    elif old.most <= new.least:
        least = text.least
    else:
        least = capped(_pieces(text.least, old.most) * new.least)
    return Estimate(cost, Size(least, most))


def _pieces(text: int, piece: int) -> int:
    number = ceil(float(text) / float(piece))
    return number if number <= MOST else 2**63


def _split(asked: Asked) -> Estimate:
    text, *arguments = asked.parts
    most = text.size.most
    if len(arguments) > 1:
        count = arguments[1].node
        if isinstance(count, Literal) and type(count.value) is int:
            most = wrapped(count.value)
    return Estimate(scaled(text.size.most, 2 * PER_CHARACTER), Size(0, most))


def _join(asked: Asked) -> Estimate:
    texts, *separator = asked.parts
    count = texts.size
    made = count.times(UNKNOWN) if texts.type.parameters else exactly(0)
    if separator:
        gaps = Size(max(0, count.least - 1), max(0, count.most - 1))
        made = made.plus(separator[0].size.times(gaps))
    return Estimate(scaled(made.most, PER_CHARACTER), made)


def _pattern(text: Part, expression: Part) -> int:
    reading = scaled(capped(text.size.most + 1), PER_CHARACTER)
    return capped(reading * scaled(expression.size.most, PER_PATTERN_CHARACTER))


def _find(asked: Asked) -> Estimate:
    text, expression = asked.parts[:2]
    return Estimate(_pattern(text, expression), Size(0, text.size.most))


def _matches(asked: Asked) -> Estimate:
    return Estimate(_pattern(*asked.parts)) if asked.overload == "matches_string" else Estimate()


def _ip(asked: Asked) -> Estimate:
    return Estimate() if asked.overload == "cidr_ip" else _read_first(asked)


def _contains_address(asked: Asked) -> Estimate:
    cost = scaled(2 * _ADDRESS, PER_CHARACTER)
    return Estimate(capped(cost + _parsed(asked)))


def _contains_network(asked: Asked) -> Estimate:
    cost = scaled(2 * _ADDRESS, PER_CHARACTER) + scaled(_ADDRESS, PER_CHARACTER) + 1
    return Estimate(capped(cost + _parsed(asked)))


def _parsed(asked: Asked) -> int:
    return asked.parts[1].reading if asked.overload.endswith("_string") else 0


def _validate(asked: Asked) -> Estimate:
    return Estimate(scaled(asked.parts[1].reading, _FORMAT_PATTERN * PER_PATTERN_CHARACTER))


def _compared(asked: Asked) -> Estimate:
    left, right = asked.parts
    return Estimate(scaled(min(left.size.most, right.size.most), PER_CHARACTER))


def _equal(asked: Asked) -> Estimate:
    left, right = asked.parts
    if left.type == right.type:
        match left.type.name:
            case "net.IP" | "net.CIDR" | "kubernetes.Quantity" | "kubernetes.Semver":
                return Estimate()
            case "kubernetes.NamedFormat":
                return Estimate(scaled(_FORMAT_NAME, PER_CHARACTER))
            case "kubernetes.URL":
                return Estimate(scaled((right.known_size or exactly(1)).most, PER_CHARACTER))
    return _compared(asked)


def _ordered(asked: Asked) -> Estimate:
    return _compared(asked) if asked.overload.startswith(("string", "bytes")) else Estimate()


def _added(asked: Asked) -> Estimate:
    if asked.overload not in ("add_string", "add_bytes", "add_list"):
        return Estimate()
    size = asked.parts[0].size.plus(asked.parts[1].size)
    return Estimate(1 if asked.overload == "add_list" else scaled(size.most, PER_CHARACTER), size)


def _within(asked: Asked) -> Estimate:
    return Estimate(asked.parts[1].size.most) if asked.overload == "in_list" else Estimate()


def _contains(asked: Asked) -> Estimate:
    text, part = asked.parts
    return Estimate(capped(text.reading * part.reading))


def _bytes(asked: Asked) -> Estimate:
    if asked.overload != "string_to_bytes":
        return Estimate()
    size = asked.parts[0].size
    return Estimate(asked.parts[0].reading, Size(size.least, wrapped(size.most * 4)))


def _string(asked: Asked) -> Estimate:
    if asked.overload != "bytes_to_string":
        return Estimate()
    size = asked.parts[0].size
    return Estimate(asked.parts[0].reading, Size(size.least // 4, size.most))


def _quote(asked: Asked) -> Estimate:
    size = asked.parts[0].size
    return Estimate(asked.parts[0].reading, Size(wrapped(size.least + 2), wrapped(size.most * 2 + 2)))


def _new_list(size: Size, factor: float = 1) -> Estimate:
    return Estimate(capped(scaled(size.most, factor) + 1 + LIST), size)


def _slice(asked: Asked) -> Estimate:
    values, start, end = asked.parts
    return _new_list(exactly(wrapped(end.number(values.size.most) - start.number(0))))


def _flatten(asked: Asked) -> Estimate:
    depth = asked.parts[1].number(MOST) if len(asked.parts) == 2 else 1
    return _new_list(asked.parts[0].size, float(depth))


def _sort(asked: Asked) -> Estimate:
    """By the last part: the list itself, or the keys that it is sorted by."""
    size = asked.parts[-1].size
    is_text = asked.overload.startswith(("list_string_", "list_bytes_"))
    return _new_list(size.times(size), 2 + PER_CHARACTER if is_text else 2)


def _distinct(asked: Asked) -> Estimate:
    size = asked.parts[0].size
    return _new_list(size.times(size), 2)


def _sets(factor: int) -> _Rule:
    def rule(asked: Asked) -> Estimate:
        pairs = asked.parts[0].size.times(asked.parts[1].size)
        return Estimate(capped(scaled(pairs.most, factor) + 1))

    return rule


_RULES: Mapping[str, _Rule] = {
    **dict.fromkeys(("isSorted", "sum", "max", "min", "indexOf", "lastIndexOf"), _list_scan),
    **dict.fromkeys(("url", "lowerAscii", "upperAscii", "substring", "trim"), _same_size),
    **dict.fromkeys(("cidr", "isIP", "isCIDR", "quantity", "isQuantity", "semver", "isSemver", "format"), _read_first),
    **dict.fromkeys(("startsWith", "endsWith"), _read_last),
    **dict.fromkeys(("find", "findAll"), _find),
    **dict.fromkeys(("_<_", "_<=_", "_>_", "_>=_"), _ordered),
    **dict.fromkeys(("sort", "@sortByAssociatedKeys"), _sort),
    "replace": _replace,
    "split": _split,
    "join": _join,
    "matches": _matches,
    "contains": _contains,
    "ip": _ip,
    "ip.isCanonical": lambda asked: Estimate(scaled(asked.parts[0].size.most, 2 * PER_CHARACTER)),
    "containsIP": _contains_address,
    "containsCIDR": _contains_network,
    "validate": _validate,
    "_==_": _equal,
    "_!=_": _compared,
    "_+_": _added,
    "@in": _within,
    "bytes": _bytes,
    "string": _string,
    "strings.quote": _quote,
    "slice": _slice,
    "flatten": _flatten,
    "reverse": lambda asked: _new_list(asked.parts[0].size),
    "lists.range": lambda asked: _new_list(exactly(asked.parts[0].number(MOST))),
    "distinct": _distinct,
    "sets.contains": _sets(1),
    "sets.intersects": _sets(1),
    "sets.equivalent": _sets(2),
}
