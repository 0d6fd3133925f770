"""Lists as sets."""

import pytest

from tests.cel.evaluating import value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("sets.contains([1, 2, 3], [2])", True),
        ("sets.contains([1], [1, 2])", False),
        ("sets.equivalent([1, 1], [1])", True),
        ("sets.intersects([1], [2])", False),
        ("sets.intersects([1, 2], [2])", True),
        ("sets.contains([], [])", True),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected
