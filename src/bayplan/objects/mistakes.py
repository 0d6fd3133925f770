"""A mistake in one field of an object, before it is known which file it stands in.

`validating` and its parts yield these; `loading` adds file, line and object.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping

from bayplan.errors import InputError
from bayplan.objects.quantity import Quantity, milli_value
from bayplan.objects.requirement import check_key, check_value

Mistakes = Iterator[InputError]
INT32 = range(-(2**31), 2**31)
_PERCENT = re.compile(r"[0-9]{1,9}%")


def mistake(field: str, problem: str, fix: str = "") -> InputError:
    return InputError(problem, field=field, fix=fix)


def told(field: str, error: ValueError) -> InputError:
    """A ValueError whose sentence ends with what to write, as all of `objects` raise them."""
    problem, _, fix = str(error).rpartition("; ")
    return InputError(problem, field=field, fix=fix) if problem else InputError(fix, field=field)


def nearest(word: str, known: Iterable[str], cutoff: float = 0.6) -> str | None:
    """The known word that was probably meant, whatever its case."""
    by_lower = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), by_lower, n=1, cutoff=cutoff)
    return by_lower[close[0]] if close else None


def tried(field: str, check: Callable[..., object], *arguments: object) -> Mistakes:
    """What `check` has to say against its arguments, if anything."""
    try:
        check(*arguments)
    except ValueError as error:
        yield told(field, error)


def one_of(field: str, value: str, allowed: tuple[str, ...]) -> Mistakes:
    if value not in allowed:
        yield mistake(field, f'"{value}" is not possible here', f"write {' or '.join(allowed)} instead")


def int32(field: str, number: int | str | None) -> Mistakes:
    """Whole numbers that an API server reads have 32 bits; text, such as a percentage, is none."""
    if isinstance(number, int) and number not in INT32:
        yield mistake(field, f"{number} is too {'large' if number > 0 else 'small'}", "write a 32-bit whole number")


def count(field: str, number: int | None) -> Mistakes:
    """How many of something: 0 or more."""
    if number is not None and number < 0:
        yield mistake(field, f"{number} is less than nothing", "write 0 or more")
    else:
        yield from int32(field, number)


def count_or_percent(field: str, amount: int | str | None) -> Mistakes:
    """How many of something, or which part of them: 3 or "50%"."""
    if not isinstance(amount, str):
        yield from count(field, amount)
    elif not _PERCENT.fullmatch(amount):
        yield mistake(field, f'"{amount}" is neither a whole number nor a percentage', 'write 1 or "50%", for example')
    elif int(amount[:-1]) > 100:
        yield mistake(field, f"{amount} is more than all", "write at most 100%")


def labels(field: str, written: Mapping[str, str] | None) -> Mistakes:
    for key, value in (written or {}).items():
        yield from tried(f"{field}.{key}", check_key, key)
        yield from tried(f"{field}.{key}", check_value, value)


def quantities(field: str, written: Mapping[str, Quantity] | None) -> Mistakes:
    """Every amount must be a quantity and none may be negative."""
    for name, quantity in (written or {}).items():
        yield from not_negative(f"{field}.{name}", quantity)


def not_negative(field: str, quantity: Quantity) -> Mistakes:
    """An amount of something."""
    try:
        if milli_value(quantity) < 0:
            yield mistake(field, f"{quantity} is less than nothing", "write 0 or more")
    except ValueError as error:
        yield told(field, error)
