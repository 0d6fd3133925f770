"""Arithmetic in 64 bits, comparisons across numbers, membership."""

import math

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("7 / 2", 3), ("-7 / 2", -3), ("-7 % 3", -1), ("7 % -3", 1), ("7u / 2u", 3), ("1.0 / 0.0", math.inf),
        ("-9223372036854775807 - 1", -(2**63)), ("'a' + 'b'", "ab"), ("b'a' + b'b'", b"ab"), ("[1] + [2]", [1, 2]),
        ("1 < 1.5", True), ("2u > 1", True), ("dyn(1) == 1.0", True), ("dyn(1) == 1u", True), ("dyn(1) == '1'", False),
        ("[1, 2] == [1, 2]", True), ("{'a': 1} == {'a': 1}", True), ("'a' < 'b'", True), ("false < true", True),
        ("2 in [1, 2]", True), ("'a' in {'a': 1}", True), ("dyn(2.0) in [1, 2]", True), ("null == null", True),
        ("duration('1h') + duration('30m') == duration('90m')", True),
        ("timestamp('2024-01-01T00:00:00Z') + duration('24h') == timestamp('2024-01-02T00:00:00Z')", True),
        ("quantity('2') != quantity('1').add(1)", True),
    ],
)  # fmt: skip
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("9223372036854775807 + 1", "integer overflow"),
        ("-9223372036854775808 / -1", "integer overflow"),
        ("-(-9223372036854775808)", "integer overflow"),
        ("3037000500 * 3037000500", "integer overflow"),
        ("0u - 1u", "unsigned integer overflow"),
        ("1 / 0", "division by zero"),
        ("1 % 0", "modulus by zero"),
        ("dyn(1) + 'a'", "no such overload"),
        ("dyn(true) - 1", "no such overload: _-_"),
        ("dyn(1) < 'a'", "no such overload"),
        ("0.0 / 0.0 < 1.0", "NaN values cannot be ordered"),
        ("dyn(semver('1.0.0')) == '1.0.0'", "no such overload"),
        ("duration('2562047h') + duration('2562047h')", "duration overflow"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
