"""Regular expressions in time that grows with the text and never faster, whatever the expression.

Python's `re` goes back and tries again, and a short expression can keep it busy for hours. Here all ways through the
expression are followed at once; where a set of ways was seen before with the same character, the next set is known.
The regex library calls `compiled`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from bayplan.cel.pattern_syntax import is_word, program

_CACHE_LIMIT = 20_000

BEGIN: Final = "begin"


class Pattern:
    """A compiled expression."""

    def __init__(self, text: str) -> None:
        self._program = program(text)
        self._next: dict[tuple[tuple[int, ...], str, str], tuple[bool, tuple[int, ...]]] = {}

    def is_in(self, text: str) -> bool:
        """Whether it matches anywhere."""
        ways: tuple[int, ...] = (0,)
        before = BEGIN
        for letter in (*text, ""):
            key = (ways, before, letter)
            known = self._next.get(key)
            if known is None:
                known = self._stepped(ways, before, letter)
                if len(self._next) >= _CACHE_LIMIT:
                    self._next.clear()
                self._next[key] = known
            is_matched, ways = known
            if is_matched:
                return True
            before = _kind(letter)
        return False

    def find_all(self, text: str, most: int = -1) -> list[str]:
        """What it matches from left to right, without overlaps."""
        found: list[str] = []
        at, last_end = 0, -1
        while at <= len(text) and (most < 0 or len(found) < most):
            match = self._find(text, at)
            if match is None:
                break
            start, end = match
            if end > start or start != last_end:
                found.append(text[start:end])
            last_end = end
            at = end if end > start else end + 1
        return found

    def _stepped(self, ways: tuple[int, ...], before: str, letter: str) -> tuple[bool, tuple[int, ...]]:
        """All ways one character further, with a fresh start added; first, whether one of them is at its end."""
        reached: list[int] = []
        seen: set[int] = set()
        for way in ways:
            if self._follow(way, before, letter, reached, seen):
                return True, ()
        after = [way + 1 for way in reached if self._passes(way, letter)]
        return False, tuple(dict.fromkeys((*after, 0)))

    def _passes(self, way: int, letter: str) -> bool:
        test = self._program[way].test
        return test is not None and letter != "" and test(letter)

    def _follow(self, way: int, before: str, letter: str, reached: list[int], seen: set[int]) -> bool:
        """Add the tests that can be reached without a character, in order of preference; True at a match."""
        stack = [way]
        while stack:
            way = stack.pop()
            if way in seen:
                continue
            seen.add(way)
            instruction = self._program[way]
            match instruction.op:
                case "match":
                    return True
                case "test":
                    reached.append(way)
                case "jump":
                    stack.append(instruction.to)
                case "split":
                    stack += (instruction.other, instruction.to)
                case "assert":
                    if _holds(instruction.place, before, letter):
                        stack.append(way + 1)
        return False

    def _find(self, text: str, at: int) -> tuple[int, int] | None:
        """The leftmost match from `at` on, by preference among those that begin there."""
        ways: list[tuple[int, int]] = []
        best: tuple[int, int] | None = None
        for position in range(at, len(text) + 1):
            if best is None:
                ways.append((0, position))
            if not ways:
                break
            before = _kind(text[position - 1]) if position else BEGIN
            letter = text[position] if position < len(text) else ""
            seen: set[int] = set()
            after: list[tuple[int, int]] = []
            for way, start in ways:
                reached: list[int] = []
                is_matched = self._follow(way, before, letter, reached, seen)
                after += [(each + 1, start) for each in reached if self._passes(each, letter)]
                if is_matched:
                    best = (start, position)
                    break
            ways = after
        return best


def _kind(letter: str) -> str:
    """As much of the character before as a place in the text depends on."""
    if letter == "\n":
        return "newline"
    return "word" if letter and is_word(letter) else "other"


def _holds(place: str, before: str, letter: str) -> bool:
    match place:
        case "start":
            return before == BEGIN
        case "end":
            return letter == ""
        case "line start":
            return before in (BEGIN, "newline")
        case "line end":
            return letter in ("", "\n")
    is_edge = (before == "word") != (letter != "" and is_word(letter))
    return is_edge if place == "word edge" else not is_edge


@lru_cache(maxsize=512)
def compiled(text: str) -> Pattern:
    """PatternError if the text is no regular expression."""
    return Pattern(text)
