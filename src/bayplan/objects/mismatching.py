"""A value of the wrong type, in the words of people who write manifests. `kinds.convert` calls `mismatch`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from bayplan.errors import InputError

_MESSAGE = re.compile(r"(?P<what>.*?)(?: - at `\$\.?(?P<path>[^`]*)`)?", re.DOTALL)
_EXPECTED = re.compile(r"Expected `(?P<wanted>[^`]*)`, got `(?P<given>[^`]*)`")
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "array": "a list",
    "object": "a mapping",
    "null": "nothing",
}


def mismatch(message: str, raw: Mapping[str, Any], described: str) -> InputError:
    """msgspec's sentence about a raw object, which is called as `described`."""
    parts = _MESSAGE.fullmatch(message)
    what, path = (parts["what"], parts["path"] or "") if parts else (message, "")
    expected = _EXPECTED.fullmatch(what)
    if expected is None:
        return InputError(what, object=described, field=path)
    field, value = _resolve(path, raw, expected["given"])
    wanted = [each.strip() for each in expected["wanted"].split("|")]
    words = " or ".join(_WORDS.get(each, each) for each in wanted if each != "null")
    given = _WORDS.get(expected["given"], expected["given"])
    fix = f"write {words}"
    if "str" in wanted and isinstance(value, bool | int | float):
        shown = str(value).lower() if isinstance(value, bool) else str(value)
        given, fix = f"{given} ({shown})", f'put it in quotes: "{shown}"'
    return InputError(f"must be {words}, not {given}", object=described, field=field, fix=fix)


def _resolve(path: str, raw: Any, given: str) -> tuple[str, Any]:
    """The path with the ``[...]`` that stands for a map entry replaced by the entry of the wrong type."""
    python = {"str": str, "int": int, "float": float, "bool": bool, "array": list, "object": dict}
    field, value = "", raw
    for part in re.findall(r"\[\.\.\.\]|\[\d+\]|[^.\[\]]+", path):
        if part == "[...]":
            entries = value.items() if isinstance(value, Mapping) else ()
            wrong = next(((k, v) for k, v in entries if type(v) is python.get(given, type(None))), ("?", None))
            field, value = f"{field}.{wrong[0]}", wrong[1]
        elif part.startswith("["):
            value = value[int(part[1:-1])] if isinstance(value, list) else None
            field = f"{field}{part}"
        else:
            value = value.get(part) if isinstance(value, Mapping) else None
            field = f"{field}.{part}" if field else part
    return field, value
