"""The types of CEL and how they unify. The checker asks; libraries write signatures as text and read them here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias


class Type(NamedTuple):
    """A type such as int, list(string) or, with a name that begins with "$", one still to be found out."""

    name: str
    parameters: tuple[Type, ...] = ()

    def __str__(self) -> str:
        if self.name == ANY.name:
            return "any"
        name = self.name.removeprefix("$")
        return f"{name}({', '.join(map(str, self.parameters))})" if self.parameters else name

    @property
    def is_variable(self) -> bool:
        return self.name.startswith("$")

    @property
    def is_dynamic(self) -> bool:
        return self.name in ("dyn", "any")


DYN = Type("dyn")
ANY = Type("any")
"""As dyn; Kubernetes gives it to device attributes."""
BOOL, INT, UINT, DOUBLE = Type("bool"), Type("int"), Type("uint"), Type("double")
STRING, BYTES, NULL = Type("string"), Type("bytes"), Type("null_type")
DURATION, TIMESTAMP = Type("google.protobuf.Duration"), Type("google.protobuf.Timestamp")
TYPE = Type("type")

_SCALARS = frozenset({"bool", "int", "uint", "double", "string", "bytes", "null_type"})
_GENERIC = frozenset({"list", "map", "optional_type"})
_ALIASES = {
    "duration": DURATION.name,
    "timestamp": TIMESTAMP.name,
    "optional": "optional_type",
    "quantity": "kubernetes.Quantity",
    "semver": "kubernetes.Semver",
    "ip": "net.IP",
    "cidr": "net.CIDR",
    "url": "kubernetes.URL",
    "format": "kubernetes.NamedFormat",
}

Substitution: TypeAlias = dict[str, Type]


def list_of(element: Type) -> Type:
    return Type("list", (element,))


def map_of(key: Type, value: Type) -> Type:
    return Type("map", (key, value))


def optional_of(value: Type) -> Type:
    return Type("optional_type", (value,))


def contains_dynamic(given: Type) -> bool:
    """Values of this type have to be looked at before a function may take them."""
    return given.is_dynamic or given.is_variable or any(contains_dynamic(each) for each in given.parameters)


class Signature(NamedTuple):
    parameters: tuple[Type, ...]
    result: Type
    is_method: bool


def signature(text: str) -> Signature:
    """``string.(int) -> string`` is a method of strings, ``(string) -> int`` a function; capitals are variables."""
    head, _, result = text.partition("->")
    target, _, arguments = head.strip().partition("(")
    target = target.strip().removesuffix(".")
    taken = _types(arguments.rstrip().removesuffix(")"))
    return Signature(((*_types(target), *taken)) if target else taken, _types(result)[0], bool(target))


def _types(text: str) -> tuple[Type, ...]:
    words = re.findall(r"[\w.]+|[<>,]", text)
    made: list[list[Type]] = [[]]
    names: list[str] = []
    for index, word in enumerate(words):
        if word == "<":
            continue
        if word == ">":
            inner = tuple(made.pop())
            made[-1].append(Type(names.pop(), inner))
        elif word != ",":
            name = _ALIASES.get(word, word)
            if index + 1 < len(words) and words[index + 1] == "<":
                names.append(name)
                made.append([])
            else:
                made[-1].append(Type(f"${name}" if len(name) == 1 else name))
    return tuple(made[0])


def substituted(given: Type, known: Substitution, rest_is_dyn: bool = False) -> Type:
    """The type with its variables replaced by what is known of them."""
    found = known.get(given.name)
    if found is not None:
        return substituted(found, known, rest_is_dyn)
    if given.is_variable:
        return DYN if rest_is_dyn else given
    if not given.parameters:
        return given
    return Type(given.name, tuple(substituted(each, known, rest_is_dyn) for each in given.parameters))


def unify(known: Substitution, left: Sequence[Type], right: Sequence[Type]) -> Substitution | None:
    """What must be so that each of `left` may stand where `right` is wanted; None if it cannot."""
    if len(left) != len(right):
        return None
    tried = dict(known)
    return tried if all(_assignable(tried, one, other) for one, other in zip(left, right, strict=True)) else None


def _assignable(known: Substitution, left: Type, right: Type) -> bool:
    if right.is_variable:
        is_valid, is_bound = _bind(known, left, right)
        if is_valid or is_bound:
            return is_valid
    if left.is_variable:
        return _bind(known, right, left)[0]
    if left.is_dynamic or right.is_dynamic:
        return True
    if NULL in (left, right):
        other = right if left == NULL else left
        return other == NULL or (other.name not in _SCALARS and other.name not in ("list", "map", "type"))
    if left.name == "type":
        return right.name == "type"
    if left.name != right.name or len(left.parameters) != len(right.parameters):
        return False
    return all(_assignable(known, one, other) for one, other in zip(left.parameters, right.parameters, strict=True))


def _bind(known: Substitution, given: Type, variable: Type) -> tuple[bool, bool]:
    """Whether the variable may be the given type, and whether it is known already."""
    if given == variable:
        return True, True
    found = known.get(variable.name)
    if found is None:
        if _occurs(known, variable, given):
            return False, False
        known[variable.name] = given
        return True, False
    if given == found:
        return True, True
    if not _assignable(known, given, found):
        return False, True
    wider = most_general(given, found)
    if not _occurs(known, variable, wider):
        known[variable.name] = wider
    return True, True


def _occurs(known: Substitution, variable: Type, within: Type) -> bool:
    if within == variable:
        return True
    if within.is_variable:
        found = known.get(within.name)
        return found is not None and _occurs(known, variable, found)
    return any(_occurs(known, variable, each) for each in within.parameters)


def most_general(left: Type, right: Type) -> Type:
    """Of two types that unify, the one that says less."""
    return left if _is_less_specific(left, right) else right


def _is_less_specific(left: Type, right: Type) -> bool:
    if left.is_dynamic or left.is_variable:
        return True
    if right.is_dynamic or right.is_variable or left.name != right.name:
        return False
    if left.name in _GENERIC:
        return all(_is_less_specific(a, b) for a, b in zip(left.parameters, right.parameters, strict=True))
    return left == right or left.name == "type"
