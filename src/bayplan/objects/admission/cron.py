"""Whether a CronJob's schedule is one. `created` asks; nothing here runs at a time."""

from __future__ import annotations

import re

from bayplan.objects.duration import parse_duration

_DESCRIPTORS = ("@yearly", "@annually", "@monthly", "@weekly", "@daily", "@midnight", "@hourly")
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_DAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_FIELDS: tuple[tuple[str, int, int, tuple[str, ...]], ...] = (
    ("minute", 0, 59, ()), ("hour", 0, 23, ()), ("day of the month", 1, 31, ()), ("month", 1, 12, _MONTHS),
    ("day of the week", 0, 6, _DAYS),
)  # fmt: skip
_FIX = 'write five fields, such as "*/5 * * * *"'
_NUMBER = re.compile(r"[0-9]{1,4}")


def check_schedule(text: str) -> None:
    """ValueError with what is wrong and what to write."""
    if text.startswith("@"):
        if text in _DESCRIPTORS:
            return
        if text.startswith("@every "):
            parse_duration(text.removeprefix("@every "))
            return
        raise ValueError(f'"{text}" is not a schedule; {_FIX}, or one of {", ".join(_DESCRIPTORS)}')
    fields = text.split()
    if len(fields) != len(_FIELDS) or text.startswith(("TZ=", "CRON_TZ=")):
        raise ValueError(f'"{text}" is not a schedule; {_FIX}')
    for written, (name, low, high, words) in zip(fields, _FIELDS, strict=True):
        if not all(_is_range(part, low, high, words) for part in written.split(",")):
            raise ValueError(f'"{written}" is no {name}; write * or numbers from {low} to {high}')


def _is_range(text: str, low: int, high: int, words: tuple[str, ...]) -> bool:
    span, slash, step = text.partition("/")
    if slash and not (_NUMBER.fullmatch(step) and int(step) > 0):
        return False
    if span in ("*", "?"):
        return True
    ends = [_number(part, low, words) for part in span.split("-")]
    if len(ends) > 2 or any(end is None for end in ends):
        return False
    known = [end for end in ends if end is not None]
    return low <= known[0] <= known[-1] <= high


def _number(text: str, low: int, words: tuple[str, ...]) -> int | None:
    if text.lower() in words:
        return words.index(text.lower()) + low
    return int(text) if _NUMBER.fullmatch(text) else None
