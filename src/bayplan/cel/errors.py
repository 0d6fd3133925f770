"""What can be wrong with an expression: at compile time, and while it runs."""

from __future__ import annotations


class CelError(ValueError):
    """An expression that does not compile; the text is one line with the position and what is wrong."""


class CelRuntimeError(Exception):
    """An expression that compiled ended in an error, such as ``no such key: model``."""

    cost = 0
    """What the expression had cost by then."""


class EvaluationError(CelRuntimeError):
    """One operation failed. `&&`, `||`, `all` and `exists` absorb it if the other operand decides."""


class CostLimitError(CelRuntimeError):
    """The expression did more work than it may. Nothing absorbs this error."""

    def __init__(self) -> None:
        super().__init__("operation cancelled: actual cost limit exceeded")


def no_such_overload(function: str = "") -> EvaluationError:
    """A function was called with values of types that it does not take."""
    return EvaluationError(f"no such overload: {function}" if function else "no such overload")
