"""Kubernetes quantities: "250m", "1Gi" or "1e3" to exact numbers, and back to the canonical text.

`requests` and `node` read with it, reports and `explain` write with it. Rounding is always away from zero,
as the API server does it, so no pod gets less than it asked for.
"""

from __future__ import annotations

import re
from fractions import Fraction
from functools import lru_cache
from typing import TypeAlias

Quantity: TypeAlias = str | int | float
"""What a manifest may hold where a quantity is expected."""

MAX_INT64 = 2**63 - 1

_BINARY = {suffix: 1024**power for power, suffix in enumerate(("Ki", "Mi", "Gi", "Ti", "Pi", "Ei"), 1)}
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_DECIMAL_SUFFIX = {power: suffix for suffix, power in _DECIMAL.items()}
_FORM = re.compile(r"([+-]?)([0-9]+\.?[0-9]*|\.[0-9]+)([A-Za-z]*|[eE][+-]?[0-9]+)")
_NANO = 10**9
_LONGEST = 200  # more digits than any real amount has; keeps a hostile manifest cheap


def parse(quantity: Quantity) -> Fraction:
    """The exact number a quantity stands for; ValueError with a clear sentence if it is none.

    Finer than a billionth is rounded up and larger than 2^63-1 is capped, as the API server does.
    """
    return _parse(_text(quantity))


def milli_value(quantity: Quantity) -> int:
    """In thousandths, rounded away from zero: the unit of CPU."""
    return _milli(_text(quantity))


def value(quantity: Quantity) -> int:
    """In whole units, rounded away from zero: bytes, pods, devices."""
    return _away_from_zero(parse(quantity))


def canonical(quantity: Quantity) -> str:
    """The text the API server would write for this quantity: "1.5Gi" is "1536Mi", "0.1" is "100m"."""
    text = _text(quantity)
    number = _parse(text)
    match = _FORM.fullmatch(text)
    suffix = match.group(3) if match else ""
    if suffix in _BINARY:
        return format_binary(number)
    if suffix[:1] in ("e", "E") and suffix != "E":
        return _format_exponent(number)
    return format_decimal(number)


def format_decimal(number: Fraction | int) -> str:
    """With the largest decimal suffix that keeps it a whole number: 0.1 is "100m", 4000 is "4k"."""
    mantissa, power = _scale_by_thousands(number)
    return f"{mantissa}{_DECIMAL_SUFFIX[power]}"


def format_binary(number: Fraction | int) -> str:
    """With the largest binary suffix that keeps it a whole number: 209715200 is "200Mi"."""
    exact = Fraction(number)
    if exact.denominator != 1 or abs(exact) < 1024:
        return format_decimal(exact)
    whole, chosen = exact.numerator, ""
    for suffix, size in _BINARY.items():
        if exact.numerator % size:
            break
        whole, chosen = exact.numerator // size, suffix
    return f"{whole}{chosen}"


def format_resource(name: str, amount: int) -> str:
    """An amount as it is counted inside (CPU in milli, the rest in units) as people write it."""
    if name == "cpu":
        return format_decimal(Fraction(amount, 1000))
    if name in ("memory", "ephemeral-storage", "storage") or name.startswith("hugepages-"):
        return format_binary(amount)
    return format_decimal(amount)


def _text(quantity: Quantity) -> str:
    if isinstance(quantity, str):
        return quantity
    if quantity is True or quantity is False:
        raise ValueError(f"{str(quantity).lower()} is not a quantity; write a number such as 1, 250m or 1Gi")
    return repr(quantity)


@lru_cache(maxsize=65536)
def _parse(text: str) -> Fraction:
    match = _FORM.fullmatch(text) if len(text) <= _LONGEST else None
    scale = _scale(match.group(3)) if match else None
    if match is None or scale is None:
        raise ValueError(f'"{text[:40]}" is not a quantity; {_advice(text)}')
    exact = Fraction(match.group(2)) * scale
    if exact.denominator != 1:
        exact = Fraction(-(-exact.numerator * _NANO // exact.denominator), _NANO)
    capped = min(exact, Fraction(MAX_INT64))
    return -capped if match.group(1) == "-" else capped


@lru_cache(maxsize=65536)
def _milli(text: str) -> int:
    return _away_from_zero(_parse(text) * 1000)


def _scale(suffix: str) -> Fraction | None:
    if suffix in _BINARY:
        return Fraction(_BINARY[suffix])
    if suffix in _DECIMAL:
        return Fraction(10) ** _DECIMAL[suffix]
    if suffix[0] in "eE" and len(suffix) > 1 and suffix[1] in "+-0123456789":
        # Anything past these bounds is capped or rounded to the same number; the bound keeps 1e999999999 cheap.
        return Fraction(10) ** max(-400, min(400, int(suffix[1:])))
    return None


def _advice(text: str) -> str:
    """What the writer probably meant."""
    compact = "".join(text.split())
    if len(compact) > _LONGEST:
        return "write a number with fewer digits"
    for wrong, right in (
        ("", ""),
        ("B", ""),
        ("b", ""),
        ("KB", "Ki"),
        ("K", "k"),
        ("g", "G"),
        ("gi", "Gi"),
        ("mi", "Mi"),
    ):
        candidate = compact[: len(compact) - len(wrong)] + right if compact.endswith(wrong) else ""
        match = _FORM.fullmatch(candidate)
        if candidate != text and match and _scale(match.group(3)) is not None:
            return f'write "{candidate}" instead'
    return "write a number with an optional suffix, such as 1, 250m, 1.5, 200Mi or 1Gi, instead"


def _away_from_zero(number: Fraction) -> int:
    whole = -(-abs(number.numerator) // number.denominator)
    return whole if number >= 0 else -whole


def _scale_by_thousands(number: Fraction | int) -> tuple[int, int]:
    """(mantissa, power of ten) with a power that is a multiple of three and as large as it can be."""
    mantissa, power = _away_from_zero(Fraction(number) * _NANO), -9
    while mantissa and mantissa % 1000 == 0 and power < 18:
        mantissa, power = mantissa // 1000, power + 3
    return (mantissa, power) if mantissa else (0, 0)


def _format_exponent(number: Fraction) -> str:
    mantissa, power = _scale_by_thousands(number)
    return f"{mantissa}e{power}" if power else str(mantissa)
