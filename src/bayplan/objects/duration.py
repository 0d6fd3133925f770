"""Durations as Go writes them: "15s", "1m30s", "100ms".

Objects and policies that hold one read it here; `framework.config.duration` makes a configuration field of it.
"""

from __future__ import annotations

import re
from fractions import Fraction

_UNITS = {
    "ns": Fraction(1, 10**9),
    "us": Fraction(1, 10**6),
    "µs": Fraction(1, 10**6),
    "μs": Fraction(1, 10**6),
    "ms": Fraction(1, 1000),
    "s": Fraction(1),
    "m": Fraction(60),
    "h": Fraction(3600),
}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_WHOLE = re.compile(rf"([+-]?)((?:{_PART.pattern})+)")
_LONGEST_S = Fraction(2**63 - 1, 10**9)
"""Go counts nanoseconds in 64 bits: some 292 years."""


def parse_duration(text: str) -> float:
    """Seconds; ValueError with a clear sentence if the text is no duration."""
    if text in ("0", "+0", "-0"):
        return 0.0
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        raise ValueError(f'"{text}" is not a duration; write a number and a unit, such as "15s" or "1m30s"')
    seconds = sum((Fraction(number) * _UNITS[unit] for number, unit in _PART.findall(whole[2])), Fraction(0))
    if seconds > _LONGEST_S:
        raise ValueError(f'"{text}" is too long; write at most "2562047h", as Go does')
    return float(-seconds if whole[1] == "-" else seconds)


def format_duration(seconds: float) -> str:
    """The text Go prints: "15s", "1m30s", "10m0s", "1.5s", "100ms"."""
    nanos = round(seconds * 10**9)
    sign, nanos = ("-", -nanos) if nanos < 0 else ("", nanos)
    if nanos < 10**9:
        for unit, size in (("ms", 10**6), ("µs", 10**3), ("ns", 1)):
            if nanos >= size:
                return f"{sign}{_decimal(nanos, size)}{unit}"
        return "0s"
    minutes, rest = divmod(nanos, 60 * 10**9)
    hours, minutes = divmod(minutes, 60)
    text = f"{_decimal(rest, 10**9)}s"
    if hours or minutes:
        text = f"{minutes}m{text}"
    return f"{sign}{hours}h{text}" if hours else f"{sign}{text}"


def _decimal(number: int, size: int) -> str:
    """``number / size`` (a power of ten) without trailing zeros."""
    whole, part = divmod(number, size)
    digits = f"{part:0{len(str(size)) - 1}d}".rstrip("0") if part else ""
    return f"{whole}.{digits}" if digits else str(whole)
