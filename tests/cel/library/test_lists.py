"""Lists."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[1, 2].isSorted()", True),
        ("['b', 'a'].isSorted()", False),
        ("[1, 2].sum()", 3),
        ("[1.5].sum()", 1.5),
        ("[].sum()", 0),
        ("[1, 3, 2].max()", 3),
        ("['b', 'a'].min()", "a"),
        ("[1, 2, 1].indexOf(1)", 0),
        ("[1, 2, 1].lastIndexOf(1)", 2),
        ("[1, 2, 3].slice(1, 2)", [2]),
        ("[[1], [2]].flatten()", [1, 2]),
        ("[[[1]], [[2]]].flatten(2)", [1, 2]),
        ("[3, 1, 2].sort()", [1, 2, 3]),
        ("[1, 1, 2].distinct()", [1, 2]),
        ("lists.range(3)", [0, 1, 2]),
        ("[1, 2].reverse()", [2, 1]),
        ("[1, 2].first().value()", 1),
        ("[].last().hasValue()", False),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[].max()", "max called on empty list"),
        ("[1].slice(0, 2)", "cannot slice(0, 2), list is length 1"),
        ("[9223372036854775807, 1].sum()", "integer overflow"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
