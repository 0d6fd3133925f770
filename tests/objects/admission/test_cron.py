"""Schedules of CronJobs: which there are, and what is said of others."""

from __future__ import annotations

import pytest

from bayplan.objects.admission.cron import check_schedule


@pytest.mark.parametrize(
    "text",
    [
        "* * * * *",
        "*/5 0-23 1,15 jan-MAR ?",
        "0 0 31 12 6",
        "59 23 1 1 sun",
        "1-5/2 * * * mon-fri",
        "@daily",
        "@every 1h30m",
    ],
)
def test_a_schedule_is_taken(text: str) -> None:
    check_schedule(text)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "write five fields"),
        ("* * * *", "write five fields"),
        ("* * * * * *", "write five fields"),
        ("TZ=UTC * * * * *", "write five fields"),
        ("60 * * * *", '"60" is no minute; write \\* or numbers from 0 to 59'),
        ("* 24 * * *", "is no hour"),
        ("* * 0 * *", "is no day of the month; write \\* or numbers from 1 to 31"),
        ("* * * 13 *", "is no month"),
        ("* * * sun *", "is no month"),
        ("* * * * 7", "is no day of the week"),
        ("5-1 * * * *", "is no minute"),
        ("1-2-3 * * * *", "is no minute"),
        ("*/0 * * * *", "is no minute"),
        ("1,,2 * * * *", "is no minute"),
        ("@never", "or one of @yearly"),
        ("@every soon", "soon"),
    ],
)
def test_what_is_no_schedule_is_told_with_the_field(text: str, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        check_schedule(text)
