"""Strings: the standard tests and the extended functions, `format` among them."""

from __future__ import annotations

from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import CostLimitError, EvaluationError
from bayplan.cel.functions import function
from bayplan.cel.library.string_format import formatted
from bayplan.cel.values import shown

LONGEST = 10_000_000
"""No cost limit lets a longer text be read, so a longer one is not even made."""

_UPPER = {ord(letter): letter.upper() for letter in "abcdefghijklmnopqrstuvwxyz"}
_LOWER = {ord(letter): letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"}
_WHITE = "\t\n\v\f\r \x85\xa0\u1680\u2028\u2029\u202f\u205f\u3000" + "".join(map(chr, range(0x2000, 0x200B)))
_QUOTED = str.maketrans(
    {**{chr(7 + index): f"\\{letter}" for index, letter in enumerate("abtnvfr")}, "\\": "\\\\", '"': '\\"'}
)


def _out_of_range(index: int) -> EvaluationError:
    return EvaluationError(f"index out of range: {index}")


def _char_at(text: str, index: int) -> str:
    if not 0 <= index <= len(text):
        raise _out_of_range(index)
    return text[index : index + 1]


def _index_of(text: str, part: str, offset: int = 0) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return text.find(part, offset)


def _last_index_of(text: str, part: str) -> int:
    if not part:
        return len(text)
    return text.rfind(part)


def _last_index_from(text: str, part: str, offset: int) -> int:
    if not part:
        return offset
    if offset < 0:
        raise _out_of_range(offset)
    return text.rfind(part, 0, offset + len(part)) if offset < len(text) else -1


def _replace(text: str, old: str, new: str, count: int = -1) -> str:
    found = text.count(old) if count < 0 else min(text.count(old), count)
    if len(text) + found * (len(new) - len(old)) > LONGEST:
        raise CostLimitError
    return text.replace(old, new, count)


def _split(text: str, separator: str, count: int = -1) -> list[str]:
    if count == 0:
        return []
    if separator:
        return text.split(separator, count - 1 if count > 0 else -1)
    if count < 0 or count >= len(text):
        return list(text)
    return [*text[: count - 1], text[count - 1 :]]


def _substring(text: str, start: int) -> str:
    if not 0 <= start <= len(text):
        raise _out_of_range(start)
    return text[start:]


def _substring_range(text: str, start: int, end: int) -> str:
    if start > end:
        raise EvaluationError(f"invalid substring range. start: {start}, end: {end}")
    for each in (start, end):
        if not 0 <= each <= len(text):
            raise _out_of_range(each)
    return text[start:end]


def _join(texts: list[Any], separator: str = "") -> str:
    total = 0
    for each in texts:
        if type(each) is not str:
            raise EvaluationError(f"join: invalid input: {shown(each)}")
        total += len(each) + len(separator)
    if total - len(separator) > LONGEST:
        raise CostLimitError
    return separator.join(texts)


FUNCTIONS = (
    function(
        "contains", ("contains_string", "string.(string) -> bool", lambda text, part: part in text, costs.containment)
    ),
    function("endsWith", ("ends_with_string", "string.(string) -> bool", str.endswith, costs.traversal)),
    function("startsWith", ("starts_with_string", "string.(string) -> bool", str.startswith, costs.traversal)),
    function("charAt", ("string_char_at_int", "string.(int) -> string", _char_at)),
    function(
        "indexOf",
        ("string_index_of_string", "string.(string) -> int", _index_of),
        ("string_index_of_string_int", "string.(string, int) -> int", _index_of),
        cost=costs.elements,
    ),
    function(
        "lastIndexOf",
        ("string_last_index_of_string", "string.(string) -> int", _last_index_of),
        ("string_last_index_of_string_int", "string.(string, int) -> int", _last_index_from),
        cost=costs.elements,
    ),
    function(
        "lowerAscii",
        ("string_lower_ascii", "string.() -> string", lambda text: text.translate(_LOWER)),
        cost=costs.traversal,
    ),
    function(
        "upperAscii",
        ("string_upper_ascii", "string.() -> string", lambda text: text.translate(_UPPER)),
        cost=costs.traversal,
    ),
    function(
        "replace",
        ("string_replace_string_string", "string.(string, string) -> string", _replace),
        ("string_replace_string_string_int", "string.(string, string, int) -> string", _replace),
        cost=costs.traversal_and_copy,
    ),
    function(
        "split",
        ("string_split_string", "string.(string) -> list<string>", _split),
        ("string_split_string_int", "string.(string, int) -> list<string>", _split),
        cost=costs.traversal_and_copy,
    ),
    function(
        "substring",
        ("string_substring_int", "string.(int) -> string", _substring),
        ("string_substring_int_int", "string.(int, int) -> string", _substring_range),
        cost=costs.traversal,
    ),
    function("trim", ("string_trim", "string.() -> string", lambda text: text.strip(_WHITE)), cost=costs.traversal),
    function(
        "format",
        ("string_format", "string.(list<dyn>) -> string", formatted),
        stops_early=True,
    ),
    function(
        "strings.quote",
        ("strings_quote", "(string) -> string", lambda text: f'"{text.translate(_QUOTED)}"', costs.traversal),
    ),
    function(
        "join",
        ("list_join", "list<string>.() -> string", _join),
        ("list_join_string", "list<string>.(string) -> string", _join),
        cost=costs.written_result,
    ),
)
