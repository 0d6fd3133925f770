"""From one type to another: `int("3")`, `string(1.5)`, `type(x)`, and `size`."""

from __future__ import annotations

import math
import re
from typing import Any

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import function
from bayplan.cel.library.operators import timestamp
from bayplan.cel.library.times import duration_text, parsed_duration, parsed_timestamp, timestamp_text
from bayplan.cel.types import Type
from bayplan.cel.values import INT_MAX, INT_MIN, UINT_MAX, Duration, Uint, type_name

_NANOS = 10**9
_TRUTHS = {
    **dict.fromkeys(("1", "t", "true", "TRUE", "True"), True),
    **dict.fromkeys(("0", "f", "false", "FALSE", "False"), False),
}


def _failed(source: str, target: str) -> EvaluationError:
    return EvaluationError(f"type conversion error from '{source}' to '{target}'")


def _same(value: Any) -> Any:
    return value


def _text_to_bool(text: str) -> bool:
    if text not in _TRUTHS:
        raise _failed("string", "bool")
    return _TRUTHS[text]


def _text_to_double(text: str) -> float:
    plain = text.replace("_", "x").strip(" \t\r\n") == text
    try:
        if plain and not text.endswith(("x", "X")):
            return float.fromhex(text) if "0x" in text.lower() and "p" in text.lower() else float(text)
    except (ValueError, OverflowError):
        pass
    raise _failed("string", "double")


def _text_to_int(text: str) -> int:
    if re.fullmatch(r"[+-]?[0-9]{1,40}", text) and INT_MIN <= int(text) <= INT_MAX:
        return int(text)
    raise _failed("string", "int")


def _text_to_uint(text: str) -> Uint:
    if re.fullmatch(r"[0-9]{1,40}", text) and int(text) <= UINT_MAX:
        return Uint(text)
    raise _failed("string", "uint")


def _double_to_int(value: float) -> int:
    if not math.isfinite(value) or not INT_MIN < value < INT_MAX:
        raise EvaluationError("integer overflow")
    return int(value)


def _double_to_uint(value: float) -> Uint:
    if not math.isfinite(value) or value < 0 or value >= UINT_MAX:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


def _int_to_uint(value: int) -> Uint:
    if value < 0:
        raise EvaluationError("unsigned integer overflow")
    return Uint(value)


def _uint_to_int(value: Uint) -> int:
    if value > INT_MAX:
        raise EvaluationError("integer overflow")
    return int(value)


def double_text(value: float) -> str:
    """As Go writes it with the fewest digits: an exponent only below 1e-4 and from 1e21 on."""
    if value != value:
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    exponent = math.floor(math.log10(abs(value))) if value else 0
    digits = repr(value)
    if exponent < -4 or exponent >= 21:
        mantissa, _, power = (digits if "e" in digits else f"{value:e}").partition("e")
        mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
        return f"{mantissa}e{int(power):+03d}"
    if "e" in digits:
        return str(int(value))
    return digits.removesuffix(".0")


def _bytes_to_text(value: bytes) -> str:
    try:
        return value.decode()
    except UnicodeDecodeError:
        raise EvaluationError("invalid UTF-8 in bytes, cannot convert to string") from None


FUNCTIONS = (
    function("type", ("type", "(A) -> type<A>", lambda value: Type(type_name(value)))),
    function("dyn", ("to_dyn", "(A) -> dyn", _same)),
    function("bool", ("bool_to_bool", "(bool) -> bool", _same), ("string_to_bool", "(string) -> bool", _text_to_bool)),
    function(
        "bytes",
        ("bytes_to_bytes", "(bytes) -> bytes", _same),
        ("string_to_bytes", "(string) -> bytes", lambda text: text.encode(), costs.traversal),
    ),
    function(
        "double",
        ("double_to_double", "(double) -> double", _same),
        ("int64_to_double", "(int) -> double", float),
        ("string_to_double", "(string) -> double", _text_to_double),
        ("uint64_to_double", "(uint) -> double", float),
    ),
    function(
        "duration",
        ("duration_to_duration", "(duration) -> duration", _same),
        ("int64_to_duration", "(int) -> duration", Duration),
        ("string_to_duration", "(string) -> duration", parsed_duration),
    ),
    function(
        "int",
        ("int64_to_int64", "(int) -> int", _same),
        ("double_to_int64", "(double) -> int", _double_to_int),
        ("duration_to_int64", "(duration) -> int", int),
        ("string_to_int64", "(string) -> int", _text_to_int),
        ("timestamp_to_int64", "(timestamp) -> int", lambda value: int(value) // _NANOS),
        ("uint64_to_int64", "(uint) -> int", _uint_to_int),
    ),
    function(
        "string",
        ("string_to_string", "(string) -> string", _same),
        ("bool_to_string", "(bool) -> string", lambda value: "true" if value else "false"),
        ("bytes_to_string", "(bytes) -> string", _bytes_to_text, costs.traversal),
        ("double_to_string", "(double) -> string", double_text),
        ("duration_to_string", "(duration) -> string", duration_text),
        ("int64_to_string", "(int) -> string", str),
        ("timestamp_to_string", "(timestamp) -> string", timestamp_text),
        ("uint64_to_string", "(uint) -> string", lambda value: str(int(value))),
    ),
    function(
        "timestamp",
        ("timestamp_to_timestamp", "(timestamp) -> timestamp", _same),
        ("int64_to_timestamp", "(int) -> timestamp", lambda seconds: timestamp(seconds * _NANOS)),
        ("string_to_timestamp", "(string) -> timestamp", parsed_timestamp),
    ),
    function(
        "uint",
        ("uint64_to_uint64", "(uint) -> uint", _same),
        ("double_to_uint64", "(double) -> uint", _double_to_uint),
        ("int64_to_uint64", "(int) -> uint", _int_to_uint),
        ("string_to_uint64", "(string) -> uint", _text_to_uint),
    ),
    function(
        "size",
        ("size_bytes", "(bytes) -> int", len),
        ("bytes_size", "bytes.() -> int", len),
        ("size_list", "(list<A>) -> int", len),
        ("list_size", "list<A>.() -> int", len),
        ("size_map", "(map<A, B>) -> int", len),
        ("map_size", "map<A, B>.() -> int", len),
        ("size_string", "(string) -> int", len),
        ("string_size", "string.() -> int", len),
    ),
)
