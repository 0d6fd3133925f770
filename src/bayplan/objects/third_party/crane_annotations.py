"""The annotations that carry a node's load: ``<metric>: 0.63012,2026-01-31T10:00:00Z`` and ``node_hot_value``.

The annotator writes them, the Dynamic plugin reads them, and so do crane-scheduler and its controller. Bayplan writes
true UTC. Crane's controller writes the hour of its own time zone with a "Z" behind it, which nothing in the text gives
away: readers of its annotations name that zone (`time_zone`).
"""

from __future__ import annotations

import math
import re
from datetime import UTC, datetime, tzinfo
from functools import lru_cache
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, overload
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from bayplan.objects.times import format_time

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

Times: TypeAlias = "npt.NDArray[np.float64]"
Answers: TypeAlias = "npt.NDArray[np.bool_]"

HOT_VALUE = "node_hot_value"
"""How many pods a node was given lately, in the policy's steps."""
CRANE_TIME_ZONE = "Asia/Shanghai"
"""The zone of Crane's controller when its environment sets no TZ."""
GRACE_S = 300.0
"""How long behind its period a value is still good for."""
HOT_VALUE_LIFETIME_S = 300.0
SKEW_S = 60.0
"""A stamp from further ahead than clocks differ was not written in UTC, or is wrong."""

_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?|(?i:inf(?:inity)?))", re.ASCII)
# Go takes a fraction of a second behind the seconds, and an hour of one digit, whatever the layout says.
_STAMP = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{1,2}):([0-9]{2}):([0-9]{2})(?:\.([0-9]+))?Z", re.ASCII)


class Reading(NamedTuple):
    """One annotation: how much, and when that was (epoch seconds)."""

    value: float
    at: float


def format_load(fraction: float, at: float) -> str:
    """A load between 0 and 1 as an annotation's value."""
    return f"{fraction:.5f},{format_time(at)}"


def format_hot_value(hot_value: int, at: float) -> str:
    return f"{hot_value},{format_time(at)}"


def read(text: str | None, zone: tzinfo = UTC) -> Reading | None:
    """What an annotation says; None where crane-scheduler could not read it or would not believe it.

    That is: no annotation, not two parts, no time, no number, one below zero or one that is out of range. A number that
    is not one (NaN) counts as none, too. Its age is not looked at; `is_good` does.
    """
    if text is None:
        return None
    number, comma, stamp = text.partition(",")
    if not comma or _NUMBER.fullmatch(number) is None:
        return None
    value = float(number)
    at = parse_stamp(stamp, zone)
    is_out_of_range = math.isinf(value) and number[-1].isdigit()
    return None if at is None or value < 0 or is_out_of_range else Reading(value, at)


@overload
def is_ahead(at: float, now: float) -> bool: ...
@overload
def is_ahead(at: Times, now: float) -> Answers: ...
def is_ahead(at: float | Times, now: float) -> bool | Answers:
    """Is this a time to come?  Then the age of the value is unknown: its writer may have died hours ago."""
    return at > now + SKEW_S


@overload
def is_good(at: float, lifetime_s: float, now: float) -> bool: ...
@overload
def is_good(at: Times, lifetime_s: float, now: float) -> Answers: ...
def is_good(at: float | Times, lifetime_s: float, now: float) -> bool | Answers:
    """Is a value of this time one to go by: neither too old nor from a time to come?  (Crane's readers take those.)"""
    return (now < at + lifetime_s) & (at <= now + SKEW_S)


@lru_cache(maxsize=65536)
def parse_stamp(stamp: str, zone: tzinfo = UTC) -> float | None:
    """Epoch seconds, taking the hour for one in `zone`; None if this is no time."""
    parts = _STAMP.fullmatch(stamp)
    if parts is None:
        return None
    year, month, day, hour, minute, second = (int(part) for part in parts.groups()[:6])
    try:
        moment = datetime(year, month, day, hour, minute, second, tzinfo=zone)
        seconds = moment.timestamp()
    except (ValueError, OverflowError):
        return None
    return seconds + (float(f"0.{parts[7]}") if parts[7] else 0.0)


def time_zone(name: str) -> tzinfo:
    """A zone by its name; ValueError that says what to write if there is none of that name."""
    if name in ("", "UTC"):
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError(
            f'"{name}" is not a time zone known here; write UTC or a name like {CRANE_TIME_ZONE}'
        ) from None
