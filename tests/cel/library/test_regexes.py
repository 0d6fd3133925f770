"""Regular expressions in strings."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'abc'.matches('^a.c$')", True),
        ("matches('abc', 'b')", True),
        ("'a1b22'.find('[0-9]+')", "1"),
        ("'abc'.find('x')", ""),
        ("'a1b22'.findAll('[0-9]+')", ["1", "22"]),
        ("'a1b22'.findAll('[0-9]+', 1)", ["1"]),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'a'.matches('a' + string(dyn('(')))", "error parsing regexp: missing closing ): `a(`"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
