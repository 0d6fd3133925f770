"""Text to tokens. The parser calls `tokens`."""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from bayplan.cel.errors import CelError
from bayplan.cel.syntax import Source
from bayplan.cel.values import Uint

_STRING = r"""(?:[rR](?:\"\"\"(?s:.*?)\"\"\"|'''(?s:.*?)'''|"[^"\n\r]*"|'[^'\n\r]*')
    |\"\"\"(?s:\\.|[^\\])*?\"\"\"|'''(?s:\\.|[^\\])*?'''
    |"(?:\\[^\n\r]|[^\\"\n\r])*"|'(?:\\[^\n\r]|[^\\'\n\r])*')"""

_TOKEN = re.compile(
    rf"""(?P<blank>(?:[\t \r\n\f]|//[^\n]*)+)
    |(?P<bytes>[bB]{_STRING})
    |(?P<string>{_STRING})
    |(?P<double>\d+\.\d+(?:[eE][+-]?\d+)?|\d+[eE][+-]?\d+|\.\d+(?:[eE][+-]?\d+)?)
    |(?P<uint>(?:0x[0-9a-fA-F]+|\d+)[uU])
    |(?P<int>0x[0-9a-fA-F]+|\d+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*)
    |(?P<quoted>`[A-Za-z0-9_./\- ]+`)
    |(?P<symbol>==|!=|<=|>=|&&|\|\||[<>\[\]{{}}().,\-!?:+*/%])
    """,
    re.VERBOSE | re.ASCII,
)

RESERVED = frozenset(
    {"as", "break", "const", "continue", "else", "for", "function", "if", "import", "in", "let", "loop", "package"}
    | {"namespace", "return", "var", "void", "while", "true", "false", "null"}
)
_ESCAPES = {
    "a": 7, "b": 8, "f": 12, "n": 10, "r": 13, "t": 9, "v": 11, "\\": 92, "'": 39, '"': 34, "`": 96, "?": 63,
}  # fmt: skip
_WIDTHS = {"x": 2, "X": 2, "u": 4, "U": 8}


class Token(NamedTuple):
    """kind: one of string, bytes, int, uint, double, name, quoted, symbol, end."""

    kind: str
    text: str
    at: int
    value: Any = None


def tokens(source: Source) -> list[Token]:
    """All tokens, ended by one of kind "end"; CelError at the first character that belongs to none."""
    text, at, found = source.text, 0, []
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise CelError(f"{source.place(at)}: unexpected character {text[at]!r}")
        kind = str(match.lastgroup)
        if kind != "blank":
            found.append(Token(kind, match[0], at, _value(kind, match[0], source, at)))
        at = match.end()
    found.append(Token("end", "", len(text)))
    return found


def _value(kind: str, text: str, source: Source, at: int) -> Any:
    if kind == "int":
        return int(text, 0) if text.startswith("0x") else int(text[:40])  # longer ones are out of range anyway
    if kind == "uint":
        number = int(text[:-1], 0) if text.startswith("0x") else int(text[:-1][:40])
        if number >= 2**64:
            raise CelError(f"{source.place(at)}: invalid uint literal")
        return Uint(number)
    if kind == "double":
        return float(text)
    try:
        if kind == "string":
            return _unescaped(text)
        if kind == "bytes":
            return _unescaped_bytes(text[1:])
    except ValueError as error:
        raise CelError(f"{source.place(at)}: {error}") from None
    return text


def _content(text: str) -> tuple[str, bool]:
    """What is between the quotes, and whether escapes count."""
    raw = text[0] in "rR"
    text = text[1:] if raw else text
    width = 3 if len(text) >= 6 and text[:3] in ('"""', "'''") else 1
    return text[width:-width].replace("\r\n", "\n").replace("\r", "\n"), not raw


def _unescaped(text: str) -> str:
    content, escapes = _content(text)
    if not escapes or "\\" not in content:
        return content
    made = [chr(_checked(part)) if escaped else chr(part) for part, escaped in _parts(content)]
    return "".join(made)


def _checked(point: int) -> int:
    if point > 0x10FFFF or 0xD800 <= point < 0xE000:
        raise ValueError("invalid unicode code point")
    return point


def _unescaped_bytes(text: str) -> bytes:
    content, escapes = _content(text)
    if not escapes:
        return content.encode()
    made = bytearray()
    for part, escaped in _parts(content, is_bytes=True):
        made += bytes([part]) if escaped else chr(part).encode()
    return bytes(made)


def _parts(content: str, is_bytes: bool = False) -> list[tuple[int, bool]]:
    """Code points, and whether each was written as a number."""
    parts: list[tuple[int, bool]] = []
    at = 0
    while at < len(content):
        letter = content[at]
        at += 1
        if letter != "\\":
            parts.append((ord(letter), False))
            continue
        escape = content[at]
        at += 1
        if escape in _ESCAPES:
            parts.append((_ESCAPES[escape], False))
            continue
        if escape in "0123":
            digits, base = content[at - 1 : at + 2], 8
            at += 2
        elif escape in _WIDTHS and not (is_bytes and escape in "uU"):
            digits, base = content[at : at + _WIDTHS[escape]], 16
            at += _WIDTHS[escape]
        else:
            raise ValueError("unable to unescape string")
        if len(digits) != (3 if base == 8 else _WIDTHS[escape]) or not re.fullmatch("[0-9a-fA-F]+", digits):
            raise ValueError("unable to unescape string")
        parts.append((int(digits, base), True))
    return parts
