"""Durations are text in Go's form; the table of forms is in tests/framework/config/test_duration.py, which reads the same."""

from __future__ import annotations

import pytest

from bayplan.framework.config import duration as field
from bayplan.objects import duration


def test_objects_and_configuration_read_durations_with_the_same_functions() -> None:
    assert field.parse_duration is duration.parse_duration
    assert field.format_duration is duration.format_duration


def test_text_without_a_unit_is_refused_with_what_to_write() -> None:
    with pytest.raises(ValueError, match='"15" is not a duration; write a number and a unit'):
        duration.parse_duration("15")


def test_go_counts_nanoseconds_in_64_bits_and_refuses_what_is_longer() -> None:
    assert duration.parse_duration("2562047h") == 2562047 * 3600
    for text in ("2562048h", "-2562048h", "99999999h"):
        with pytest.raises(ValueError, match=f'"{text}" is too long; write at most "2562047h"'):
            duration.parse_duration(text)
