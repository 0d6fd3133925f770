"""`"%s has %d".format([name, count])`. Called by the strings library."""

from __future__ import annotations

import re
from typing import Any

from bayplan.cel.errors import CostLimitError, EvaluationError
from bayplan.cel.library.conversions import double_text
from bayplan.cel.library.times import duration_text, timestamp_text
from bayplan.cel.types import Type
from bayplan.cel.values import MAPS, Duration, Timestamp, Uint, keys, shown, type_name

_CLAUSE = re.compile(r"%(?:(%)|(?:\.(\d+))?([a-zA-Z]))")
_LONGEST = 10_000_000


def formatted(text: str, arguments: list[Any]) -> str:
    """Each clause takes the next argument."""
    made: list[str] = []
    at = index = total = 0
    for match in _CLAUSE.finditer(text):
        between = text[at : match.start()]
        if "%" in between:
            break
        at = match.end()
        if match[1]:
            part = "%"
        else:
            if index >= len(arguments):
                raise EvaluationError(f"index {index} out of range")
            part = _clause(match[3], match[2], arguments[index])
            index += 1
        made += (between, part)
        total += len(between) + len(part)
        if total > _LONGEST:
            raise CostLimitError
    if "%" in text[at:]:
        raise EvaluationError("could not parse formatting clause: unrecognized formatting clause")
    return "".join([*made, text[at:]])


def clauses(text: str) -> list[str] | None:
    """The letters of the clauses that take an argument; None if there is a percent sign that begins none."""
    if "%" in _CLAUSE.sub("", text):
        return None
    return [match[3] for match in _CLAUSE.finditer(text) if match[3]]


def _clause(verb: str, digits: str | None, value: Any) -> str:
    precision = 6 if digits is None else min(int(digits[:4]), 1000)
    if verb == "s":
        return _text(value)
    if verb == "d" and type(value) in (int, Uint):
        return str(int(value))
    if verb in "fe" and type(value) in (float, int, Uint):
        return f"{float(value):.{precision}{verb}}".replace("inf", "Infinity").replace("nan", "NaN")
    if verb == "b" and type(value) in (int, Uint, bool):
        return f"{int(value):b}"
    if verb == "o" and type(value) in (int, Uint):
        return f"{int(value):o}"
    if verb in "xX" and type(value) in (int, Uint, str, bytes):
        raw = value.encode() if type(value) is str else value
        made = raw.hex() if type(raw) is bytes else f"{int(value):x}"
        return made.upper() if verb == "X" else made
    raise EvaluationError(f"error during formatting: %{verb} cannot be used on {type_name(value)}")


def _text(value: Any) -> str:
    kind = type(value)
    if kind is str:
        return str(value)
    if kind is bytes:
        return bytes(value).decode(errors="replace")
    if kind is float:
        return double_text(value)
    if kind is Duration:
        return duration_text(value)
    if kind is Timestamp:
        return timestamp_text(value)
    if kind is list:
        return f"[{', '.join(map(_text, value))}]"
    if kind in MAPS:
        entries = sorted((_text(key), _text(each)) for key, each in zip(keys(value), value.values(), strict=True))
        return "{" + ", ".join(f"{key}: {each}" for key, each in entries) + "}"
    if kind in (bool, int, Uint, type(None), Type):
        return shown(value)
    raise EvaluationError(f"error during formatting: string clause cannot be used on {type_name(value)}")
