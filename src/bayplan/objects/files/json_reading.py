"""JSON text to plain values: one object, or several one after the other.

`manifests` calls `documents` first for text that begins like JSON, and leaves what is no JSON to `yaml_reading`, which
knows lines.
"""

from __future__ import annotations

import json
import re

import msgspec

from bayplan.errors import InputError
from bayplan.objects.files import nesting
from bayplan.objects.files.yaml_reading import YamlDocument

_BLANKS = re.compile(r"[ \t\r\n]*")
# It finds where objects end; what is in them is read by the other library, which takes no NaN and no endless numbers.
_ENDS = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=str)


def documents(text: str, source: str) -> list[YamlDocument] | None:
    """The objects in it; None if this is not JSON."""
    if text.lstrip()[:1] != "{":
        return None
    nesting.check_json(text, source)
    try:
        return [YamlDocument(1, msgspec.json.decode(text))]
    except msgspec.DecodeError:
        return _stream(text, source)
    except RecursionError:  # in what only begins like JSON
        raise nesting.too_deep(source) from None


def check(text: str, source: str) -> None:
    """InputError with the line where text stops being JSON."""
    try:
        _ENDS.decode(text)
    except RecursionError:
        raise nesting.too_deep(source) from None
    except json.JSONDecodeError as error:
        told, line = _told(text, error)
        fix = "check the commas, quotes and brackets there"
        raise InputError(f"this is not JSON: {told}", source=source, line=line, fix=fix) from None


def _told(text: str, error: json.JSONDecodeError) -> tuple[str, int]:
    """What is wrong and in which line.  Pythons before 3.13 do not blame the comma before a closing bracket."""
    before = text[: error.pos].rstrip()
    closes = {"}": "object", "]": "array"}.get(text[error.pos : error.pos + 1])
    if closes is not None and before.endswith(","):
        return f"illegal trailing comma before end of {closes}", before.count("\n") + 1
    return f"{error.msg[:1].lower()}{error.msg[1:]}", error.lineno


def _stream(text: str, source: str) -> list[YamlDocument] | None:
    found: list[YamlDocument] = []
    line, at = 1, 0
    while (begin := _blank_end(text, at)) < len(text):
        line += text.count("\n", at, begin)
        try:
            _, at = _ENDS.raw_decode(text, begin)
            found.append(YamlDocument(line, msgspec.json.decode(text[begin:at])))
        except json.JSONDecodeError:
            return None
        except RecursionError:
            raise nesting.too_deep(source, line) from None
        except msgspec.DecodeError as error:
            told, fix = str(error).partition(" - at ")[0], "check the numbers and escapes there"
            raise InputError(f"this cannot be read: {told}", source=source, line=line, fix=fix) from None
        line += text.count("\n", begin, at)
    return found


def _blank_end(text: str, at: int) -> int:
    blanks = _BLANKS.match(text, at)
    return blanks.end() if blanks else at
