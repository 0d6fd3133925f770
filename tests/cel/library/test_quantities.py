"""Quantities."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("quantity('1Gi').isGreaterThan(quantity('1G'))", True),
        ("quantity('500m').isLessThan(quantity('1'))", True),
        ("quantity('1k').compareTo(quantity('1000'))", 0),
        ("quantity('1k').asInteger()", 1000),
        ("quantity('1500m').isInteger()", False),
        ("quantity('1500m').asApproximateFloat()", 1.5),
        ("sign(quantity('-3'))", -1),
        ("quantity('1').add(quantity('2')).sub(1) == quantity('2')", True),
        ("isQuantity('1.5Gi')", True),
        ("isQuantity('1 Gi')", False),
        ("quantity('1') == quantity('1000m')", True),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        (
            "quantity('x')",
            "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'",
        ),
        ("quantity('1500m').asInteger()", "cannot convert value to integer"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
