"""Regular expressions in strings: `matches`, `find` and `findAll`."""

from __future__ import annotations

from bayplan.cel import costs
from bayplan.cel.errors import EvaluationError
from bayplan.cel.functions import function
from bayplan.cel.pattern import Pattern, compiled
from bayplan.cel.pattern_syntax import PatternError


def _pattern(text: str) -> Pattern:
    try:
        return compiled(text)
    except PatternError as error:
        raise EvaluationError(str(error)) from None


def _matches(text: str, expression: str) -> bool:
    return _pattern(expression).is_in(text)


def _find(text: str, expression: str) -> str:
    return next(iter(_pattern(expression).find_all(text, 1)), "")


def _find_all(text: str, expression: str, most: int = -1) -> list[str]:
    return _pattern(expression).find_all(text, most)


FUNCTIONS = (
    function(
        "matches",
        ("matches", "(string, string) -> bool", _matches),
        ("matches_string", "string.(string) -> bool", _matches, costs.pattern),
    ),
    function("find", ("string_find_string", "string.(string) -> string", _find), cost=costs.pattern),
    function(
        "findAll",
        ("string_find_all_string", "string.(string) -> list<string>", _find_all),
        ("string_find_all_string_int", "string.(string, int) -> list<string>", _find_all),
        cost=costs.pattern,
        stops_early=True,
    ),
)
