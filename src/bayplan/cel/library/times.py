"""Durations and timestamps: text to value and back, and the getters."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from zoneinfo import ZoneInfo

from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import Function, function
from bayplan.cel.values import INT_MAX, INT_MIN, Duration, Timestamp

_NANOS = 10**9
_UNITS = {
    "ns": 1,
    "us": 10**3,
    "µs": 10**3,
    "μs": 10**3,
    "ms": 10**6,
    "s": _NANOS,
    "m": 60 * _NANOS,
    "h": 3600 * _NANOS,
}
_PART = re.compile(r"([0-9]*)(?:\.([0-9]*))?(ns|us|µs|μs|ms|s|m|h)")
_TIMESTAMP = re.compile(r"(\d{4})-(\d\d)-(\d\d)[T](\d\d):(\d\d):(\d\d)(?:[.,](\d{1,9})\d*)?(Z|[+-]\d\d:\d\d)", re.ASCII)
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_OFFSET = re.compile(r"([+-]?)(\d\d):(\d\d)", re.ASCII)


def parsed_duration(text: str) -> Duration:
    """As ``1h30m``, ``-1.5s`` or ``0``."""
    rest = text[1:] if text[:1] in ("+", "-") else text
    total, at = 0, 0
    while at < len(rest) and rest != "0":
        match = _PART.match(rest, at)
        if match is None or not (match[1] or match[2]) or len(match[0]) > 60:
            break
        unit, fraction = _UNITS[match[3]], match[2] or ""
        total += int(match[1] or 0) * unit + int(fraction or 0) * unit // 10 ** len(fraction)
        at = match.end()
    total = -total if text.startswith("-") else total
    if (at < len(rest) and rest != "0") or not rest or not INT_MIN <= total <= INT_MAX:
        raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Duration'")
    return Duration(total)


def duration_text(value: Duration) -> str:
    """In seconds, such as ``5400s`` or ``0.5s``."""
    seconds, rest = divmod(abs(int(value)), _NANOS)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    return f"{'-' if value < 0 else ''}{seconds}{fraction}s"


def parsed_timestamp(text: str) -> Timestamp:
    match = _TIMESTAMP.fullmatch(text)
    if match is not None:
        year, month, day, hour, minute, second = map(int, match.groups()[:6])
        nanoseconds = int((match[7] or "").ljust(9, "0"))
        try:
            zone = UTC if match[8] == "Z" else _offset(match[8])
            moment = datetime(year, month, day, hour, minute, second, tzinfo=zone) - _EPOCH
            return Timestamp((moment.days * 86400 + moment.seconds) * _NANOS + nanoseconds)
        except (ValueError, OverflowError):
            pass
    raise EvaluationError("type conversion error from 'string' to 'google.protobuf.Timestamp'")


def timestamp_text(value: Timestamp) -> str:
    seconds, rest = divmod(int(value), _NANOS)
    fraction = f".{rest:09d}".rstrip("0") if rest else ""
    moment = _EPOCH + timedelta(seconds=seconds)
    return f"{moment.year:04d}-{moment:%m-%dT%H:%M:%S}{fraction}Z"


def _offset(text: str) -> tzinfo:
    match = _OFFSET.fullmatch(text)
    if match is None or int(match[2]) > 23 or int(match[3]) > 59:
        raise ValueError(text)
    minutes = int(match[2]) * 60 + int(match[3])
    return timezone(timedelta(minutes=-minutes if match[1] == "-" else minutes))


def _zone(name: str) -> tzinfo:
    try:
        return _offset(name) if _OFFSET.fullmatch(name) else ZoneInfo(name or "UTC")
    except (ValueError, OSError):
        raise EvaluationError(f"unknown time zone {name}") from None


def _getter(name: str, overload: str, of: Callable[[datetime], int]) -> Function:
    def run(value: Timestamp, zone: str = "UTC") -> int:
        moment = _EPOCH + timedelta(seconds=int(value) // _NANOS, microseconds=int(value) % _NANOS // 1000)
        return of(moment.astimezone(_zone(zone)))

    return function(
        name,
        (f"timestamp_to_{overload}", "timestamp.() -> int", run),
        (f"timestamp_to_{overload}_with_tz", "timestamp.(string) -> int", run),
    )


def _duration_getter(name: str, unit: int) -> Function:
    def run(value: Duration) -> int:
        whole = abs(int(value)) // unit
        return -whole if value < 0 else whole

    return function(name, (f"duration_to_{name}", "duration.() -> int", run))


FUNCTIONS = (
    _getter("getFullYear", "year", lambda moment: moment.year),
    _getter("getMonth", "month", lambda moment: moment.month - 1),
    _getter("getDayOfYear", "day_of_year", lambda moment: moment.timetuple().tm_yday - 1),
    _getter("getDayOfMonth", "day_of_month", lambda moment: moment.day - 1),
    _getter("getDate", "day_of_month_1_based", lambda moment: moment.day),
    _getter("getDayOfWeek", "day_of_week", lambda moment: moment.isoweekday() % 7),
    _getter("getHours", "hours", lambda moment: moment.hour),
    _getter("getMinutes", "minutes", lambda moment: moment.minute),
    _getter("getSeconds", "seconds", lambda moment: moment.second),
    _getter("getMilliseconds", "milliseconds", lambda moment: moment.microsecond // 1000),
    _duration_getter("getHours", 3600 * _NANOS),
    _duration_getter("getMinutes", 60 * _NANOS),
    _duration_getter("getSeconds", _NANOS),
    _duration_getter("getMilliseconds", 10**6),
)
