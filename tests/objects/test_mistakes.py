"""Checks of single fields: what is said of a wrong one, and nothing of a right one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bayplan.objects import mistakes
from bayplan.objects.mistakes import Mistakes


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (mistakes.count, None),
        (mistakes.count, 0),
        (mistakes.int32, 2**31 - 1),
        (mistakes.int32, -(2**31)),
        (mistakes.int32, "50%"),
        (mistakes.count_or_percent, 3),
        (mistakes.count_or_percent, "0%"),
        (mistakes.count_or_percent, "100%"),
        (mistakes.labels, {"app": "web", "example.com/tier": ""}),
        (mistakes.labels, None),
        (mistakes.quantities, {"cpu": "250m", "memory": 0}),
        (mistakes.not_negative, "1Gi"),
    ],
)
def test_what_is_right_is_not_spoken_of(check: Callable[[str, Any], Mistakes], value: Any) -> None:
    assert list(check("spec.field", value)) == []


@pytest.mark.parametrize(
    ("check", "value", "field", "line"),
    [
        (mistakes.count, -1, "spec.field", "-1 is less than nothing; write 0 or more"),
        (mistakes.count, 2**31, "spec.field", "2147483648 is too large; write a 32-bit whole number"),
        (mistakes.int32, -(2**31) - 1, "spec.field", "-2147483649 is too small; write a 32-bit whole number"),
        (mistakes.count_or_percent, "101%", "spec.field", "101% is more than all; write at most 100%"),
        (
            mistakes.count_or_percent,
            "half",
            "spec.field",
            '"half" is neither a whole number nor a percentage; write 1 or "50%", for example',
        ),
        (
            mistakes.count_or_percent,
            "-5%",
            "spec.field",
            '"-5%" is neither a whole number nor a percentage; write 1 or "50%", for example',
        ),
        (mistakes.quantities, {"cpu": "-1"}, "spec.field.cpu", "-1 is less than nothing; write 0 or more"),
        (mistakes.quantities, {"memory": "1 Gi"}, "spec.field.memory", '"1 Gi" is not a quantity; write "1Gi" instead'),
    ],
)
def test_what_is_wrong_is_told_with_its_field_and_what_to_write(
    check: Callable[[str, Any], Mistakes], value: Any, field: str, line: str
) -> None:
    (found,) = check("spec.field", value)
    assert found.field == field
    assert str(found) == f"{field}: {line}"


def test_each_wrong_label_is_told_by_its_key() -> None:
    found = list(mistakes.labels("metadata.labels", {"app": "web!", "_": "x", "fine": "yes"}))
    assert [each.field for each in found] == ["metadata.labels.app", "metadata.labels._"]


def test_the_words_that_are_possible_are_named() -> None:
    (found,) = mistakes.one_of("type", "Blue", ("Red", "Green"))
    assert found.fix == "write Red or Green instead"
    assert list(mistakes.one_of("type", "Red", ("Red", "Green"))) == []


def test_a_sentence_is_split_into_what_is_wrong_and_what_to_write() -> None:
    both = mistakes.told("f", ValueError("a; b; write c"))
    assert (both.problem, both.fix) == ("a; b", "write c")
    alone = mistakes.told("f", ValueError("only this"))
    assert (alone.problem, alone.fix) == ("only this", "")


@pytest.mark.parametrize(("word", "meant"), [("replica", "replicas"), ("REPLICAS", "replicas"), ("zebra", None)])
def test_the_word_that_was_probably_meant(word: str, meant: str | None) -> None:
    assert mistakes.nearest(word, ["replicas", "template"]) == meant
