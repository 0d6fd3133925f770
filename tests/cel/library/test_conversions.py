"""From one type to another."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int('-12')", -12), ("int(3.9)", 3), ("int(-3.9)", -3), ("uint('7')", 7), ("double('1.5')", 1.5), ("bool('t')", True),
        ("string(1.0)", "1"), ("string(1.5)", "1.5"), ("string(1e300)", "1e+300"), ("string(0.00001)", "1e-05"),
        ("string(100000000000000000000.0)", "100000000000000000000"), ("string(b'abc')", "abc"), ("bytes('é')", "é".encode()),
        ("string(duration('90m'))", "5400s"), ("string(duration('1500ms'))", "1.5s"), ("string(true)", "true"),
        ("string(timestamp('2024-02-29T12:00:00.5Z'))", "2024-02-29T12:00:00.5Z"), ("int(timestamp('1970-01-01T00:01:00Z'))", 60),
        ("type(1) == int", True), ("type('a') == type(b'a')", False), ("type([]) == list", True), ("size('é')", 1), ("{'a': 1}.size()", 1),
    ],
)  # fmt: skip
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("int(x)", "type conversion error from 'string' to 'int'"),
        ("uint(x)", "type conversion error from 'string' to 'uint'"),
        ("double(x)", "type conversion error from 'string' to 'double'"),
        ("bool(x)", "type conversion error from 'string' to 'bool'"),
        ("int(double(1e300 * double(size(x))))", "integer overflow"),
        ("uint(-size(x))", "unsigned integer overflow"),
        ("size(dyn(x == 'a'))", "no such overload: size"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression, "no number") == expected
