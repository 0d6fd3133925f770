"""
What changed, and when: a journal for "what has changed since I last looked", and stamps for "is it still the same".

``engine.cache`` keeps a journal of rows, ``engine.store`` one of objects, ``engine.queue.nominations`` one of nodes.
A reader remembers a position, and asks later what was written behind it.  docs/concepts/what-guards-what.md says what
is kept by which of them.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Generic, TypeVar

T = TypeVar("T")

MAX_CHANGES = 1 << 16
"""A reader that fell further behind than this, or half of it, must look at everything again."""


class Journal(Generic[T]):
    """The latest changes, in order."""

    __slots__ = ("position", "_changes")

    def __init__(self) -> None:
        self.position = 0
        """How many changes there ever were."""
        self._changes: list[T] = []

    def append(self, change: T) -> None:
        self._changes.append(change)
        self.position += 1
        if len(self._changes) > MAX_CHANGES:
            self._trim()

    def extend(self, changes: Collection[T]) -> None:
        self._changes.extend(changes)
        self.position += len(changes)
        if len(self._changes) > MAX_CHANGES:
            self._trim()

    def cut(self) -> None:
        """From here on changes mean something else: whoever looked before must look at everything again."""
        self.position += 1
        self._changes.clear()

    def reaches(self, position: int) -> bool:
        """Can it be told what changed since then?"""
        return self.position - position <= len(self._changes)

    def since(self, position: int) -> list[T] | None:
        """What changed since then, with repetitions; ``None`` if it cannot be told."""
        behind = self.position - position
        if behind > len(self._changes):
            return None
        return self._changes[len(self._changes) - behind :]

    def _trim(self) -> None:
        del self._changes[: len(self._changes) // 2]


class Stamps:
    """Numbers that never come twice, so that equal stamps mean the same state of the same thing."""

    __slots__ = ("last",)

    def __init__(self) -> None:
        self.last = 0

    def take(self, count: int = 1) -> int:
        """The next stamp; or the last of the next few."""
        self.last += count
        return self.last
