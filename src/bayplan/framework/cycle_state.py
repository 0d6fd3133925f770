"""
CycleState: typed scratch space for one pod's cycle, written by PreFilter and PreScore, read by the rest.

A plugin makes a ``Key`` once, as a module constant, and reads ``state[KEY]`` with the value's type known.
Preemption tries changes on ``state.clone()``: a value with a ``clone()`` method is copied by it, any other
value is shared, so plugins whose values change in ``add_pod``/``remove_pod`` must offer ``clone()``.
"""

from __future__ import annotations

from typing import Any, Generic, TypeVar, cast

T = TypeVar("T")


class Key(Generic[T]):
    """Names one value in the cycle state and carries its type."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"Key({self.name!r})"


class CycleState:
    """What plugins remember between the extension points of one cycle."""

    __slots__ = ("_values", "is_dry_run", "skip_filter", "skip_score", "skip_pre_bind")

    def __init__(self) -> None:
        self._values: dict[Key[Any], Any] = {}
        self.is_dry_run = False
        """The decision is only to be looked at (``explain``, a what-if): a plugin must record nothing about it."""
        self.skip_filter: set[str] = set()
        self.skip_score: set[str] = set()
        self.skip_pre_bind: set[str] = set()

    def __getitem__(self, key: Key[T]) -> T:
        return cast(T, self._values[key])

    def __setitem__(self, key: Key[T], value: T) -> None:
        self._values[key] = value

    def __contains__(self, key: Key[Any]) -> bool:
        return key in self._values

    def get(self, key: Key[T]) -> T | None:
        return cast("T | None", self._values.get(key))

    def discard(self, key: Key[Any]) -> None:
        """Forget a value, if there is one."""
        self._values.pop(key, None)

    def copy(self) -> CycleState:
        """A copy that shares the values: for another pod of which plugins read the same."""
        copy = CycleState.__new__(CycleState)
        copy._values = self._values.copy()
        copy.is_dry_run = self.is_dry_run
        copy.skip_filter = self.skip_filter.copy()
        copy.skip_score = self.skip_score.copy()
        copy.skip_pre_bind = set()
        return copy

    def clone(self) -> CycleState:
        """A copy whose values can be changed without touching this one."""
        copy = self.copy()
        copy.skip_pre_bind = set(self.skip_pre_bind)
        for key, value in self._values.items():
            clone = getattr(value, "clone", None)
            if clone is not None:
                copy._values[key] = clone()
        return copy
