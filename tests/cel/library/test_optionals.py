"""Values that may be missing."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("optional.of(1).value()", 1),
        ("optional.none().hasValue()", False),
        ("optional.ofNonZeroValue('').hasValue()", False),
        ("optional.ofNonZeroValue(1).hasValue()", True),
        ("optional.none().or(optional.of(2)).value()", 2),
        ("optional.none().orValue(3)", 3),
        ("[optional.of(1), optional.none()].unwrapOpt()", [1]),
        ("optional.unwrap([optional.of(1)])", [1]),
        ("optional.of(1) == optional.of(1)", True),
        ("optional.none() == optional.of(1)", False),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("optional.none().value()", "optional.none() dereference"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
