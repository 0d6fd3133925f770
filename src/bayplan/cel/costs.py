"""What a step costs, in the units of Kubernetes: reading a name 1, traversing a string 1 for ten characters.

The numbers are those of cel-go's cost tracker and of Kubernetes' own table for its functions. Libraries name one of
these functions beside a declaration.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil
from typing import Any

from bayplan.cel.values import Optional, size

READ = 1
LIST = 10
MAP = 30

PER_CHARACTER = 0.1
PER_PATTERN_CHARACTER = 0.25


def traversal(arguments: Sequence[Any], result: Any) -> int:
    """Once through the first argument."""
    return ceil(size(arguments[0]) * PER_CHARACTER)


def traversal_and_copy(arguments: Sequence[Any], result: Any) -> int:
    """Through the first argument and once more to write it."""
    return ceil(size(arguments[0]) * 2 * PER_CHARACTER)


def shorter(arguments: Sequence[Any], result: Any) -> int:
    """A comparison ends with the shorter one."""
    left, right = map(_within, arguments)
    return ceil(min(left, right) * PER_CHARACTER)


def both(arguments: Sequence[Any], result: Any) -> int:
    left, right = arguments
    return ceil((size(left) + size(right)) * PER_CHARACTER)


def containment(arguments: Sequence[Any], result: Any) -> int:
    text, part = arguments
    return ceil(size(text) * PER_CHARACTER) * ceil(size(part) * PER_CHARACTER)


def pattern(arguments: Sequence[Any], result: Any) -> int:
    """A regular expression over a text."""
    return pattern_of(size(arguments[0]), size(arguments[1]))


def pattern_of(text: int, expression: int) -> int:
    return ceil((1.0 + text) * PER_CHARACTER) * ceil(expression * PER_PATTERN_CHARACTER)


def second_size(arguments: Sequence[Any], result: Any) -> int:
    return _within(arguments[1])


def product(factor: int) -> Callable[[Sequence[Any], Any], int]:
    """Every element of one list with every one of the other."""

    def cost(arguments: Sequence[Any], result: Any) -> int:
        return 1 + size(arguments[0]) * size(arguments[1]) * factor

    return cost


def elements(arguments: Sequence[Any], result: Any) -> int:
    """All that is in the first argument, strings by their length."""
    return _traversed(arguments[0])


def _traversed(value: Any) -> int:
    match value:
        case str():
            return int(len(value.encode()) * PER_CHARACTER)
        case bytes():
            return int(len(value) * PER_CHARACTER)
        case list():
            return sum(map(_traversed, value))
        case dict():
            return sum(_traversed(key) + _traversed(each) for key, each in value.items())
    return 1


def _within(value: Any) -> int:
    return size(value.value) if type(value) is Optional and value.has_value else size(value)


def equality(arguments: Sequence[Any], result: Any) -> int:
    """As `shorter`, but a value of a type of Kubernetes costs 1 whatever it holds."""
    return 1 if hasattr(arguments[0], "cel_type") else shorter(arguments, result)


class AfterCall:
    """A cost that is known only from the result; all others are paid before the call."""

    __slots__ = ("_of",)

    def __init__(self, of: Callable[[Sequence[Any], Any], int]) -> None:
        self._of = of

    def __call__(self, arguments: Sequence[Any], result: Any) -> int:
        return self._of(arguments, result)


written_result = AfterCall(lambda arguments, result: ceil(size(result) * 2 * PER_CHARACTER))
"""The text that was made, written twice."""

new_list = AfterCall(lambda arguments, result: size(result) + 1 + LIST)
"""The list that was made."""
