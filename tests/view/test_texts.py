"""Texts of others are cut and cannot hide anything."""

from __future__ import annotations

import pytest

from bayplan.view.texts import LONGEST, LONGEST_MESSAGE, Strings, message, shown


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("web-1", "web-1"),
        ("größe", "größe"),
        ("a\u202eb", "a<U+202E>b"),
        ("a\u2066b\u2069", "a<U+2066>b<U+2069>"),
        ("a\x1b[31m", "a<U+001B>[31m"),
        ("a\u200bb", "a<U+200B>b"),
        ("two\nlines", "two lines"),
        ("half \ud800", "half <U+D800>"),
        ("<script>alert(1)</script>", "<script>alert(1)</script>"),
    ],
)
def test_what_cannot_be_seen_is_written_out(text: str, seen: str) -> None:
    assert shown(text) == seen


def test_long_texts_are_cut() -> None:
    assert shown("x" * 10_000_000) == "x" * LONGEST + "…"
    assert len(message("y" * 10_000_000)) == LONGEST_MESSAGE + 1


def test_each_text_is_kept_once_and_long_ones_cut() -> None:
    strings = Strings()
    assert strings.numbers(["a", None, "b", "a", "", "x" * 1_000_000, "x" * 2_000_000]) == [1, 0, 2, 1, 0, 3, 3]
    assert strings.values == ["", "a", "b", "x" * LONGEST + "…"]
