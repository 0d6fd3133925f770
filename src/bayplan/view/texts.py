"""
Texts of others as they are shown: cut, and with nothing in them that changes how the text around them reads.

Names, labels and messages come from whoever may write to a cluster.  Everything in a ``View`` goes through here.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

LONGEST = 300
"""Longer than any name or label the API server takes."""
LONGEST_MESSAGE = 2000
_CUT = "…"
_HIDDEN = ("Cc", "Cf", "Cs", "Co", "Zl", "Zp")
"""Categories of characters that show nothing: controls, marks of direction, halves of pairs, breaks."""


def shown(text: object, longest: int = LONGEST) -> str:
    """The text, cut, with characters that cannot be seen written out such as ``<U+202E>``."""
    whole = text if isinstance(text, str) else str(text)
    cut = whole[:longest] + _CUT if len(whole) > longest else whole
    return cut if cut.isascii() and cut.isprintable() else "".join(map(_visible, cut))


def message(text: str) -> str:
    """As ``shown``, with room for a few sentences."""
    return shown(text, LONGEST_MESSAGE)


def shown_all(value: Any) -> Any:
    """A document with every text in it as it is shown."""
    if isinstance(value, str):
        return message(value)
    if isinstance(value, dict):
        return {shown(key): shown_all(each) for key, each in value.items()}
    return [shown_all(each) for each in value] if isinstance(value, list | tuple) else value


@lru_cache(maxsize=4096)
def _visible(character: str) -> str:
    if character in "\n\t":
        return " "
    return f"<U+{ord(character):04X}>" if unicodedata.category(character) in _HIDDEN else character


class Strings:
    """Texts by number, each kept once; 0 is the empty one."""

    def __init__(self) -> None:
        self.values: list[str] = [""]
        self._numbers: dict[str, int] = {"": 0}

    def number(self, text: str | None, longest: int = LONGEST) -> int:
        """The number of a text, as it is shown."""
        if not text:
            return 0
        known = self._numbers.get(text)
        if known is None:
            made = shown(text, longest)
            known = self._numbers.get(made)
            if known is None:
                known = self._numbers[made] = len(self.values)
                self.values.append(made)
            if len(text) <= longest:
                self._numbers[text] = known
        return known

    def numbers(self, texts: Iterable[str | None], longest: int = LONGEST) -> list[int]:
        return [self.number(text, longest) for text in texts]
