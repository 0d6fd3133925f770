"""Load annotations are written in UTC, and read as crane-scheduler reads them."""

from __future__ import annotations

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.objects.third_party import crane_annotations
from bayplan.objects.third_party.crane_annotations import (
    Reading,
    format_hot_value,
    format_load,
    read,
    time_zone,
)
from bayplan.objects.times import format_time

TEN = datetime(2026, 1, 31, 10, 0, tzinfo=UTC).timestamp()


@pytest.mark.parametrize(
    ("fraction", "text"),
    [
        (0.63012, "0.63012,2026-01-31T10:00:00Z"),
        (0.0, "0.00000,2026-01-31T10:00:00Z"),
        (1.0, "1.00000,2026-01-31T10:00:00Z"),
        (0.123456789, "0.12346,2026-01-31T10:00:00Z"),
    ],
)
def test_a_load_has_five_decimals_and_an_hour_in_utc(fraction: float, text: str) -> None:
    assert format_load(fraction, TEN + 0.9) == text


def test_a_hot_value_is_a_whole_number() -> None:
    assert format_hot_value(7, TEN) == "7,2026-01-31T10:00:00Z"


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("0.5,2026-01-31T10:00:00Z", 0.5),
        (".5,2026-01-31T10:00:00Z", 0.5),
        ("5e-1,2026-01-31T10:00:00Z", 0.5),
        ("7,2026-01-31T10:00:00Z", 7.0),
        ("1.2,2026-01-31T10:00:00Z", 1.2),
        ("+Inf,2026-01-31T10:00:00Z", float("inf")),
    ],
)
def test_what_crane_can_read_is_read(text: str, value: float) -> None:
    assert read(text) == Reading(value, TEN)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "0.5",
        "0.5,",
        ",2026-01-31T10:00:00Z",
        "0.5,2026-01-31T10:00:00Z,more",
        "0.5, 2026-01-31T10:00:00Z",
        "0.5,2026-01-31 10:00:00",
        "0.5,2026-01-31T10:00:00+08:00",
        "0.5,2026-13-31T10:00:00Z",
        "0.5,0000-01-31T10:00:00Z",
        "much,2026-01-31T10:00:00Z",
        "NaN,2026-01-31T10:00:00Z",
        "1_0,2026-01-31T10:00:00Z",
        " 1,2026-01-31T10:00:00Z",
        "-0.1,2026-01-31T10:00:00Z",
        "1e400,2026-01-31T10:00:00Z",
        "abc",
    ],
)
def test_what_crane_cannot_read_is_nothing(text: str | None) -> None:
    assert read(text) is None


def test_an_hour_written_by_crane_is_read_in_the_zone_it_was_written_in() -> None:
    # Crane's controller in its own default zone, at ten o'clock UTC.
    assert read("0.5,2026-01-31T18:00:00Z", time_zone("Asia/Shanghai")) == Reading(0.5, TEN)
    assert read("0.5,2026-01-31T18:00:00Z") == Reading(0.5, TEN + 8 * 3600)


def test_parts_of_a_second_are_read() -> None:
    assert read("0.5,2026-01-31T10:00:00.25Z") == Reading(0.5, TEN + 0.25)


def test_a_zone_nobody_knows_is_refused_with_what_to_write() -> None:
    with pytest.raises(ValueError, match='"Mars/Olympus" is not a time zone known here; write UTC or'):
        time_zone("Mars/Olympus")
    assert time_zone("UTC") is UTC


@pytest.mark.parametrize(("age", "is_good"), [(-3600, False), (-60.1, False), (-60, True), (479.9, True), (480, False)])
def test_a_value_is_good_until_it_is_too_old_and_not_before_its_time(age: float, is_good: bool) -> None:
    assert crane_annotations.is_good(TEN, 480, TEN + age) is is_good
    assert crane_annotations.is_good(np.array([TEN, np.nan]), 480, TEN + age).tolist() == [is_good, False]


@given(st.floats(0, 1), st.integers(0, 4_000_000_000))
def test_what_is_written_is_read_back(fraction: float, at: int) -> None:
    got = read(format_load(fraction, at))
    assert got is not None
    assert got.at == at
    assert got.value == pytest.approx(fraction, abs=5e-6)
    assert len(format_time(at)) == 20
