"""
What a plugin may answer: codes, reasons and statuses.

A *no* is a value, a surprise is an exception.  Plugins return ``None`` (yes), one of their ``Reason``
constants, or a ``Status`` when the text is made on the spot; the engine turns all three into a ``Status``
that carries the plugin's name, so plugins never name themselves in their texts.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from enum import IntEnum
from typing import TypeAlias


class Code(IntEnum):
    """The codes of the scheduling framework, with upstream's numbers."""

    SUCCESS = 0
    ERROR = 1
    UNSCHEDULABLE = 2
    UNRESOLVABLE = 3
    WAIT = 4
    SKIP = 5
    PENDING = 6

    @property
    def title(self) -> str:
        """The upstream spelling, as people search for it."""
        return _TITLES[self]


_TITLES = {
    Code.SUCCESS: "Success",
    Code.ERROR: "Error",
    Code.UNSCHEDULABLE: "Unschedulable",
    Code.UNRESOLVABLE: "UnschedulableAndUnresolvable",
    Code.WAIT: "Wait",
    Code.SKIP: "Skip",
    Code.PENDING: "Pending",
}

REJECTED = frozenset({Code.UNSCHEDULABLE, Code.UNRESOLVABLE, Code.PENDING})


@dataclass(frozen=True, slots=True)
class Reason:
    """A constant a plugin says no with.  The text starts with ``node(s) …`` where it is about nodes."""

    code: Code
    text: str

    def __post_init__(self) -> None:
        if not isinstance(self.code, Code) or not isinstance(self.text, str):
            raise TypeError(f"a Reason is a Code and a text, got {self.code!r} and {self.text!r}")


@dataclass(frozen=True, slots=True)
class Status:
    """The answer of one plugin at one extension point."""

    code: Code = Code.SUCCESS
    reasons: tuple[str, ...] = ()
    plugin: str = ""
    error: BaseException | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.code, Code):
            raise TypeError(f"the code of a Status is a Code, got {self.code!r}")
        if not isinstance(self.reasons, tuple) or not all(isinstance(reason, str) for reason in self.reasons):
            raise TypeError(f"the reasons of a Status are a tuple of texts, got {self.reasons!r}")

    @property
    def is_success(self) -> bool:
        return self.code is Code.SUCCESS

    @property
    def is_skip(self) -> bool:
        return self.code is Code.SKIP

    @property
    def is_wait(self) -> bool:
        return self.code is Code.WAIT

    @property
    def is_rejected(self) -> bool:
        return self.code in REJECTED

    @property
    def is_error(self) -> bool:
        return self.code is Code.ERROR

    @property
    def message(self) -> str:
        return ", ".join(self.reasons)

    def by(self, plugin: str) -> Status:
        """The same status, stamped with the plugin that gave it."""
        return self if self.plugin == plugin else replace(self, plugin=plugin)


SUCCESS = Status()
SKIP = Status(Code.SKIP)

Verdict: TypeAlias = "None | Reason | Status"
"""What a plugin returns where it may say no: ``None`` is yes."""


def unschedulable(*reasons: str) -> Status:
    """A no that evicting pods could turn into a yes."""
    return Status(Code.UNSCHEDULABLE, reasons)


def unresolvable(*reasons: str) -> Status:
    """A no that evicting pods cannot change."""
    return Status(Code.UNRESOLVABLE, reasons)


def failed(error: BaseException | str) -> Status:
    """Something broke; the pod is retried after a backoff."""
    if isinstance(error, str):
        return Status(Code.ERROR, (error,))
    return Status(Code.ERROR, (str(error) or type(error).__name__,), error=error)


def as_status(verdict: object) -> Status:
    """Turn what a plugin returned into a ``Status``; refuse anything that is not a verdict."""
    if verdict is None:
        return SUCCESS
    if isinstance(verdict, Status):
        return verdict
    if isinstance(verdict, Reason):
        return Status(verdict.code, (verdict.text,))
    if inspect.iscoroutine(verdict):
        verdict.close()  # or Python complains on its own that nobody waited for it
    raise TypeError(f"expected None, a Reason or a Status, got {type(verdict).__name__}: {verdict!r}")
