"""Regular expressions in the syntax of RE2 to instructions of a small machine. `pattern` runs them.

What RE2 does not have (backreferences, looking around) is an error here too. Of the Unicode classes those by general
category are known, such as `\\pL`; those by script are not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import NamedTuple, TypeAlias

Test: TypeAlias = Callable[[str], bool]

_MOST_REPEATS = 1000
_LONGEST_PROGRAM = 20_000
_DEEPEST = 100

_SPACE = frozenset("\t\n\f\r ")
_ESCAPES = {"a": "\a", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
_POSIX = {
    "alnum": "0-9A-Za-z", "alpha": "A-Za-z", "ascii": "\\x00-\\x7F", "blank": "\\t ", "cntrl": "\\x00-\\x1F\\x7F",
    "digit": "0-9", "graph": "!-~", "lower": "a-z", "print": " -~", "punct": "!-\\/:-@\\[-`{-~", "space": "\\s\\v",
    "upper": "A-Z", "word": "0-9A-Za-z_", "xdigit": "0-9A-Fa-f",
}  # fmt: skip


def is_word(letter: str) -> bool:
    return letter.isascii() and (letter.isalnum() or letter == "_")


def _is_digit(letter: str) -> bool:
    return "0" <= letter <= "9"


_CLASSES: dict[str, Test] = {"d": _is_digit, "w": is_word, "s": _SPACE.__contains__}


class Instruction(NamedTuple):
    """op: test (a character), split (try `to` first, then `other`), jump, assert (a place), match."""

    op: str
    to: int = 0
    other: int = 0
    test: Test | None = None
    place: str = ""


class PatternError(ValueError):
    """The text is not a regular expression."""


class _Flags(NamedTuple):
    ignore_case: bool = False
    dot_all: bool = False
    multiline: bool = False
    ungreedy: bool = False


Piece: TypeAlias = Callable[["list[Instruction]"], None]
"""Writes itself to the end of a program."""


def program(text: str) -> list[Instruction]:
    """The instructions, begun at the first and ended by a match; PatternError if the text is wrong."""
    parser = _Parser(text)
    piece = parser.alternatives(_Flags(), 0)
    if parser.at < len(text):
        raise PatternError("unexpected ): " + text)
    made: list[Instruction] = []
    piece(made)
    made.append(Instruction("match"))
    return made


def _emit(out: list[Instruction], instruction: Instruction) -> int:
    if len(out) >= _LONGEST_PROGRAM:
        raise PatternError("expression too large")
    out.append(instruction)
    return len(out) - 1


def _nothing(out: list[Instruction]) -> None:
    """Matches the empty text."""


def _tested(test: Test) -> Piece:
    def write(out: list[Instruction]) -> None:
        _emit(out, Instruction("test", test=test))

    return write


def _asserted(place: str) -> Piece:
    def write(out: list[Instruction]) -> None:
        _emit(out, Instruction("assert", place=place))

    return write


def _in_order(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]

    def write(out: list[Instruction]) -> None:
        for each in pieces:
            each(out)

    return write


def _either(pieces: list[Piece]) -> Piece:
    if len(pieces) == 1:
        return pieces[0]

    def write(out: list[Instruction]) -> None:
        jumps = []
        for each in pieces[:-1]:
            split = _emit(out, Instruction("split"))
            each(out)
            jumps.append(_emit(out, Instruction("jump")))
            out[split] = Instruction("split", split + 1, len(out))
        pieces[-1](out)
        for jump in jumps:
            out[jump] = Instruction("jump", len(out))

    return write


def _split(first: int, second: int, greedy: bool) -> Instruction:
    return Instruction("split", first, second) if greedy else Instruction("split", second, first)


def _repeated(piece: Piece, least: int, most: int | None, greedy: bool) -> Piece:
    def write(out: list[Instruction]) -> None:
        for _ in range(least):
            piece(out)
        if most is None:
            split = _emit(out, Instruction("split"))
            piece(out)
            _emit(out, Instruction("jump", split))
            out[split] = _split(split + 1, len(out), greedy)
            return
        splits = []
        for _ in range(most - least):
            splits.append(_emit(out, Instruction("split")))
            piece(out)
        for split in splits:
            out[split] = _split(split + 1, len(out), greedy)

    return write


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def _error(self, problem: str) -> PatternError:
        return PatternError(f"error parsing regexp: {problem}: `{self._text}`")

    def _take(self, text: str) -> bool:
        if self._text.startswith(text, self.at):
            self.at += len(text)
            return True
        return False

    def _take_match(self, form: str) -> re.Match[str] | None:
        found = re.compile(form, re.ASCII).match(self._text, self.at)
        if found is not None:
            self.at = found.end()
        return found

    def _letter(self) -> str:
        if self.at >= len(self._text):
            raise self._error("trailing backslash at end of expression")
        self.at += 1
        return self._text[self.at - 1]

    def alternatives(self, flags: _Flags, depth: int) -> Piece:
        if depth > _DEEPEST:
            raise self._error("expression nests too deeply")
        choices: list[Piece] = []
        pieces: list[Piece] = []
        while self.at < len(self._text) and not self._text.startswith(")", self.at):
            if self._take("|"):
                choices.append(_in_order(pieces))
                pieces = []
                continue
            changed = self._flags_group(flags)
            if changed is not None:
                flags = changed
                continue
            pieces.append(self._repetition(self._atom(flags, depth), flags))
        return _either([*choices, _in_order(pieces or [_nothing])])

    def _flags_group(self, flags: _Flags) -> _Flags | None:
        """``(?i)`` changes what follows in the group."""
        found = self._take_match(r"\(\?([imsU]*)(?:-([imsU]+))?\)")
        if found is None:
            return None
        if not (found[1] or found[2]):
            raise self._error("missing argument to repetition operator")
        return self._changed(flags, found[1], found[2])

    @staticmethod
    def _changed(flags: _Flags, on: str, off: str | None) -> _Flags:
        names = {"i": "ignore_case", "s": "dot_all", "m": "multiline", "U": "ungreedy"}
        wanted = {names[each]: True for each in on} | {names[each]: False for each in off or ""}
        return flags._replace(**wanted)

    def _repetition(self, piece: Piece, flags: _Flags) -> Piece:
        repeated = False
        while True:
            if self._take("*"):
                least, most = 0, None
            elif self._take("+"):
                least, most = 1, None
            elif self._take("?"):
                least, most = 0, 1
            else:
                counted = self._take_match(r"\{(\d{1,9})(,(\d{0,9}))?\}")
                if counted is None:
                    return piece
                least = int(counted[1])
                most = least if counted[2] is None else int(counted[3]) if counted[3] else None
                if max(least, most or 0) > _MOST_REPEATS or (most is not None and most < least):
                    raise self._error("invalid repeat count")
            if repeated:
                raise self._error("invalid nested repetition operator")
            lazy = self._take("?")
            piece = _repeated(piece, least, most, greedy=lazy == flags.ungreedy)
            repeated = True

    def _atom(self, flags: _Flags, depth: int) -> Piece:
        start = self.at
        if self._take("("):
            return self._group(flags, depth)
        if self._take("["):
            return _tested(self._class(flags))
        letter = self._letter()
        if letter == ".":
            return _tested((lambda each: True) if flags.dot_all else (lambda each: each != "\n"))
        if letter == "^":
            return _asserted("line start" if flags.multiline else "start")
        if letter == "$":
            return _asserted("line end" if flags.multiline else "end")
        if letter in "*+?":
            self.at = start
            raise self._error("missing argument to repetition operator")
        if letter == "\\":
            return self._escape(flags)
        return _tested(_same(letter, flags))

    def _group(self, flags: _Flags, depth: int) -> Piece:
        if self._take("?"):
            found = self._take_match(r"P?<[A-Za-z0-9_]+>|:|([imsU]*)(?:-([imsU]+))?:")
            if found is None:
                raise self._error("invalid or unsupported Perl syntax")
            if found[1] is not None or found[2] is not None:
                flags = self._changed(flags, found[1] or "", found[2])
        made = self.alternatives(flags, depth + 1)
        if not self._take(")"):
            raise self._error("missing closing )")
        return made

    def _escape(self, flags: _Flags) -> Piece:
        letter = self._letter()
        places = {"A": "start", "z": "end", "b": "word edge", "B": "no word edge"}
        if letter in places:
            return _asserted(places[letter])
        if letter == "Q":
            end = self._text.find("\\E", self.at)
            quoted = self._text[self.at : end if end >= 0 else None]
            self.at = end + 2 if end >= 0 else len(self._text)
            return _in_order([_tested(_same(each, flags)) for each in quoted] or [_nothing])
        found = self._class_escape(letter)
        return _tested(found if found is not None else _same(self._single(letter), flags))

    def _class_escape(self, letter: str) -> Test | None:
        """``\\d``, ``\\pL`` and their opposites."""
        if letter.lower() in _CLASSES:
            test = _CLASSES[letter.lower()]
            return _not(test) if letter.isupper() else test
        if letter in "pP":
            name = self._take_match(r"\{(\^?)([A-Za-z_]+)\}|()([A-Z])")
            if name is None:
                raise self._error("invalid character class range")
            category = name[2] or name[4]
            if category != "Any" and not re.fullmatch("[CLMNPSZ][a-z]?", category):
                raise self._error(f"invalid character class range: `\\p{{{category}}}`")
            test = (lambda each: True) if category == "Any" else _has_category(category)
            return _not(test) if (letter == "P") != bool(name[1]) else test
        return None

    def _single(self, letter: str) -> str:
        """The character that an escape stands for."""
        if letter in _ESCAPES:
            return _ESCAPES[letter]
        if letter == "x":
            found = self._take_match(r"([0-9A-Fa-f]{2})|\{([0-9A-Fa-f]{1,8})\}")
            if found is None or int(found[1] or found[2], 16) > 0x10FFFF:
                raise self._error("invalid escape sequence")
            return chr(int(found[1] or found[2], 16))
        if letter in "01234567":
            self.at -= 1
            found = self._take_match(r"0[0-7]{0,2}|[1-7][0-7]{1,2}")
            if found is None:
                raise self._error("invalid escape sequence")
            return chr(int(found[0], 8))
        if letter.isascii() and not is_word(letter):
            return letter
        raise self._error("invalid escape sequence")

    def _class(self, flags: _Flags) -> Test:
        """What is between brackets."""
        negated = self._take("^")
        tests: list[Test] = []
        first = True
        while first or not self._take("]"):
            if self.at >= len(self._text):
                raise self._error("missing closing ]")
            tests.append(self._class_part(flags))
            first = False

        def test(letter: str) -> bool:
            return any(each(letter) for each in tests)

        return _not(test) if negated else test

    def _class_part(self, flags: _Flags) -> Test:
        named = self._take_match(r"\[:(\^?)([a-z]+):\]")
        if named is not None:
            if named[2] not in _POSIX:
                raise self._error("invalid character class range")
            test = _Parser(_POSIX[named[2]] + "]")._class(flags)
            return _not(test) if named[1] else test
        low = self._class_letter()
        if callable(low):
            return low
        if not self._text.startswith("-", self.at) or self._text.startswith("-]", self.at):
            return _same(low, flags)
        self.at += 1
        high = self._class_letter()
        if callable(high) or high < low:
            raise self._error("invalid character class range")
        if not flags.ignore_case:
            return lambda letter: low <= letter <= high
        return lambda letter: any(low <= each <= high for each in {letter, letter.lower(), letter.upper()})

    def _class_letter(self) -> str | Test:
        letter = self._letter()
        if letter != "\\":
            return letter
        escaped = self._letter()
        found = self._class_escape(escaped)
        return found if found is not None else self._single(escaped)


def _same(letter: str, flags: _Flags) -> Test:
    if not flags.ignore_case:
        return letter.__eq__
    wanted = frozenset({letter, letter.lower(), letter.upper()})
    return wanted.__contains__


def _not(test: Test) -> Test:
    return lambda letter: not test(letter)


def _has_category(name: str) -> Test:
    return lambda letter: unicodedata.category(letter).startswith(name)
