"""Durations and timestamps."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("duration('1h30m').getMinutes()", 90),
        ("duration('-1.5s').getMilliseconds()", -1500),
        ("timestamp('2024-02-29T12:30:45.678Z').getFullYear()", 2024),
        ("timestamp('2024-02-29T12:30:45Z').getMonth()", 1),
        ("timestamp('2024-02-29T12:30:45Z').getDate()", 29),
        ("timestamp('2024-02-29T12:30:45Z').getDayOfMonth()", 28),
        ("timestamp('2024-02-29T12:30:45Z').getDayOfWeek()", 4),
        ("timestamp('2024-02-29T12:30:45Z').getDayOfYear()", 59),
        ("timestamp('2024-02-29T12:30:45.678Z').getMilliseconds()", 678),
        ("timestamp('2024-02-29T12:30:45Z').getHours('+02:00')", 14),
        ("timestamp('2024-02-29T12:30:45+01:00') == timestamp('2024-02-29T11:30:45Z')", True),
        ("timestamp('2024-02-29T12:00:00Z') - timestamp('2024-02-29T11:00:00Z') == duration('1h')", True),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("duration(['1x'][0])", "type conversion error from 'string' to 'google.protobuf.Duration'"),
        (
            "timestamp(['2024-02-30T00:00:00Z'][0])",
            "type conversion error from 'string' to 'google.protobuf.Timestamp'",
        ),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
