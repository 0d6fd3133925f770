"""One condition on labels: key, operator, values; and what a valid label key and value look like.

`selector` builds label, node and pod selectors from these; `defaulting` uses the checks on manifests.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bayplan.objects.names import is_qualified, is_subdomain

IN = "In"
NOT_IN = "NotIn"
EXISTS = "Exists"
DOES_NOT_EXIST = "DoesNotExist"
GT = "Gt"
LT = "Lt"

LABEL_OPERATORS = (IN, NOT_IN, EXISTS, DOES_NOT_EXIST)
NODE_OPERATORS = (*LABEL_OPERATORS, GT, LT)

_INTEGER = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True, order=True)
class Requirement:
    """One condition; build it with `requirement()` when the parts come from a person."""

    key: str
    op: str
    values: tuple[str, ...] = ()

    def matches(self, labels: Mapping[str, str]) -> bool:
        op = self.op
        actual = labels.get(self.key)
        if op == IN:
            return actual is not None and actual in self.values
        if op == NOT_IN:
            return actual is None or actual not in self.values
        if op == EXISTS:
            return actual is not None
        if op == DOES_NOT_EXIST:
            return actual is None
        return actual is not None and self._compares(actual)

    def _compares(self, actual: str) -> bool:
        left = parse_int64(actual)
        right = parse_int64(self.values[0]) if len(self.values) == 1 else None
        if left is None or right is None:
            return False
        return left > right if self.op == GT else self.op == LT and left < right

    def __str__(self) -> str:
        if self.op in (IN, NOT_IN):
            return f"{self.key} {self.op.lower()} ({','.join(self.values)})"
        if self.op in (GT, LT):
            return f"{self.key}{'>' if self.op == GT else '<'}{self.values[0] if self.values else ''}"
        return self.key if self.op == EXISTS else f"!{self.key}"


def requirement(
    key: str, op: str, values: Iterable[str] | None, operators: tuple[str, ...] = LABEL_OPERATORS
) -> Requirement:
    """A checked condition with its values sorted, so that equal conditions compare equal."""
    given = tuple(values or ())
    check_key(key)
    check_values(op, given, operators)
    return Requirement(key, op, tuple(sorted(set(given))))


def check_values(op: str, values: tuple[str, ...], operators: tuple[str, ...]) -> None:
    """ValueError unless the operator is one of `operators` and the values go with it."""
    if op not in operators:
        raise ValueError(f'"{op}" is not an operator here; write one of {", ".join(operators)} instead')
    if op in (IN, NOT_IN) and not values:
        raise ValueError(f"operator {op} needs at least one value; add it under values")
    if op in (EXISTS, DOES_NOT_EXIST) and values:
        raise ValueError(f"operator {op} takes no values; remove them")
    if op in (GT, LT):
        if len(values) != 1:
            raise ValueError(f"operator {op} takes exactly one value; write one whole number")
        if parse_int64(values[0]) is None:
            raise ValueError(f'operator {op} compares whole numbers, and "{values[0]}" is none; write one like "8"')
    for value in values:
        check_value(value)


def parse_int64(text: str) -> int | None:
    """A decimal 64-bit integer, or None."""
    if not _INTEGER.fullmatch(text):
        return None
    number = int(text)
    return number if -(2**63) <= number < 2**63 else None


def check_key(key: str) -> None:
    """ValueError unless `key` can be a label key: an optional DNS prefix and "/", then a short name."""
    prefix, slash, name = key.rpartition("/")
    if not is_qualified(name):
        raise ValueError(
            f'"{key}" is not a label key; write at most 63 letters, digits, "-", "_" or ".", '
            "beginning and ending with a letter or digit, such as app or example.com/app"
        )
    if slash and not is_subdomain(prefix):
        raise ValueError(f'"{key}" is not a label key; its part before "/" must be a DNS name such as example.com')


def check_value(value: str) -> None:
    """ValueError unless `value` can be a label value."""
    if value and not is_qualified(value):
        raise ValueError(
            f'"{value}" is not a label value; write at most 63 letters, digits, "-", "_" or ".", '
            "beginning and ending with a letter or digit"
        )
