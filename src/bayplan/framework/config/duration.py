"""
A configuration field that holds a duration as Go writes it.

Configuration models and plugin args use ``Duration`` as a field type: text in the file, seconds in the
program.  What the text means is in ``objects.duration``.
"""

from __future__ import annotations

from typing import Annotated, TypeAlias

from pydantic import BeforeValidator, PlainSerializer

from bayplan.objects.duration import format_duration, parse_duration


def _read(value: object) -> object:
    if isinstance(value, str):
        return parse_duration(value)
    if isinstance(value, float):
        return value  # seconds, from a program
    raise ValueError(f'{value!r} is not a duration; write text with a unit, such as "15s"')


Duration: TypeAlias = Annotated[
    float, BeforeValidator(_read), PlainSerializer(format_duration, return_type=str, when_used="json")
]
"""The type of a field that holds a duration: "1m30s" in the file, 90.0 in the program."""
