"""Times on the wire."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.objects.times import format_micro_time, format_time, parse_time


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        (None, None),
        ("", None),
        ("1970-01-01T00:00:00Z", 0.0),
        ("2026-01-31T10:00:00Z", 1769853600.0),
        ("2026-01-31T10:00:00.25Z", 1769853600.25),
        ("2026-01-31T12:00:00+02:00", 1769853600.0),
        ("2026-01-31T10:00:00.123456789Z", 1769853600.123456),
    ],
)
def test_wire_times_become_epoch_seconds(text: str | None, seconds: float | None) -> None:
    assert parse_time(text) == seconds


@pytest.mark.parametrize(
    "text", ["yesterday", "2026-01-31", "2026-01-31T10:00:00", "2026-13-01T00:00:00Z", "1769853600"]
)
def test_other_times_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match="write it like 2026-01-31T10:00:00Z"):
        parse_time(text)


def test_times_are_written_in_utc() -> None:
    assert format_time(1769853600.75) == "2026-01-31T10:00:00Z"
    assert format_micro_time(1769853600.75) == "2026-01-31T10:00:00.750000Z"
    assert format_micro_time(1769853600) == "2026-01-31T10:00:00.000000Z"


@given(st.integers(0, 250_000_000_000))
def test_what_is_written_is_read_back(at: int) -> None:
    assert parse_time(format_time(at)) == at
    assert parse_time(format_micro_time(at + 0.5)) == at + 0.5
