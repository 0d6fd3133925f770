"""Short ways to ask an expression without variables."""

from typing import Any

from bayplan.cel import CelRuntimeError, Environment
from bayplan.cel.types import DYN

_ENVIRONMENT = Environment({"x": DYN})


def value(expression: str, x: Any = None) -> Any:
    return _ENVIRONMENT.compile(expression).evaluate({"x": x})[0]


def cost(expression: str, x: Any = None) -> int:
    return _ENVIRONMENT.compile(expression).evaluate({"x": x})[1]


def error(expression: str, x: Any = None) -> str:
    """The text of the error that the expression ends in."""
    try:
        made = value(expression, x)
    except CelRuntimeError as raised:
        return str(raised)
    raise AssertionError(f"{expression} gives {made}")
