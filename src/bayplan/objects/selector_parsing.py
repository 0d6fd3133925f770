"""Selectors as people type them: ``app=web,tier in (front,back),!legacy``.

The command line calls `parse_selector` for its ``-l`` flags; the compiled form is in `selector`.
"""

from __future__ import annotations

import re

from bayplan.objects.requirement import (
    DOES_NOT_EXIST,
    EXISTS,
    GT,
    IN,
    LT,
    NODE_OPERATORS,
    NOT_IN,
    Requirement,
    requirement,
)
from bayplan.objects.selector import EVERYTHING, Selector

_SET = re.compile(r"(?P<key>\S+)\s+(?P<op>in|notin)\s*\((?P<values>[^()]*)\)")
_COMPARED = re.compile(r"(?P<key>[^\s=!<>]+)\s*(?P<op>==|=|!=|>|<)\s*(?P<value>[^\s=!<>()]*)")
_PRESENT = re.compile(r"(?P<absent>!\s*)?(?P<key>[^\s=!<>(),]+)")
_PARTS = re.compile(r"(?:[^,(]|\([^)]*\)?)+")
_OPERATORS = {"=": IN, "==": IN, "!=": NOT_IN, ">": GT, "<": LT, "in": IN, "notin": NOT_IN}


def parse_selector(text: str) -> Selector:
    """The selector a person typed; nothing typed means everything. ValueError with a clear sentence."""
    if not text.strip():
        return EVERYTHING
    parts = _PARTS.findall(text)
    if len(parts) != 1 + len(re.findall(r",(?![^(]*\))", text)) or not all(part.strip() for part in parts):
        raise ValueError(f'"{text}" has a comma too many; write conditions like app=web,tier in (front,back)')
    return Selector(tuple(_condition(part.strip()) for part in parts))


def _condition(text: str) -> Requirement:
    if found := _SET.fullmatch(text):
        values = [each.strip() for each in found["values"].split(",")]
        return requirement(found["key"], _OPERATORS[found["op"]], values)
    if found := _COMPARED.fullmatch(text):
        return requirement(found["key"], _OPERATORS[found["op"]], (found["value"],), NODE_OPERATORS)
    if found := _PRESENT.fullmatch(text):
        return requirement(found["key"], DOES_NOT_EXIST if found["absent"] else EXISTS, ())
    raise ValueError(f'"{text}" is not a condition; write one like app=web, app!=web, app in (web,api), app or !app')
