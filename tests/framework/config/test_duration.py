"""Durations as Go reads and prints them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.objects.duration import format_duration, parse_duration


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("15s", 15.0),
        ("1m30s", 90.0),
        ("1h", 3600.0),
        ("100ms", 0.1),
        ("1.5s", 1.5),
        (".5m", 30.0),
        ("250us", 0.00025),
        ("250µs", 0.00025),
        ("10ns", 1e-08),
        ("-2s", -2.0),
        ("+2s", 2.0),
        ("0", 0.0),
        ("0s", 0.0),
    ],
)
def test_text_is_read_as_seconds(text: str, seconds: float) -> None:
    assert parse_duration(text) == seconds


@pytest.mark.parametrize("text", ["", "15", "s", "1 s", "1d", "1m 30s", "x", "--1s", "1e3s"])
def test_other_text_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(ValueError, match='is not a duration; write a number and a unit, such as "15s"'):
        parse_duration(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0s"),
        (15.0, "15s"),
        (90.0, "1m30s"),
        (300.0, "5m0s"),
        (3600.0, "1h0m0s"),
        (1.5, "1.5s"),
        (0.1, "100ms"),
        (0.0015, "1.5ms"),
        (0.00025, "250µs"),
        (1e-08, "10ns"),
        (-90.0, "-1m30s"),
    ],
)
def test_seconds_are_printed_as_go_does(seconds: float, text: str) -> None:
    assert format_duration(seconds) == text


@given(st.integers(min_value=-(10**15), max_value=10**15))
def test_what_is_printed_reads_back(micros: int) -> None:
    assert parse_duration(format_duration(micros / 10**6)) == pytest.approx(micros / 10**6)
