"""A value of the wrong type is told in the words of people who write manifests."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.objects.mismatching import mismatch


class Port(msgspec.Struct):
    number: int = 0


class Thing(msgspec.Struct):
    name: str = ""
    size: int | str | None = None
    labels: dict[str, str] = {}
    ports: list[Port] = []
    on: bool = False


def told(raw: dict[str, Any]) -> str:
    with pytest.raises(msgspec.ValidationError) as raised:
        msgspec.convert(raw, Thing)
    return str(mismatch(str(raised.value), raw, "Thing a"))


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        ({"name": 5}, 'Thing a: name: must be text, not a whole number (5); put it in quotes: "5"'),
        ({"name": True}, 'Thing a: name: must be text, not true or false (true); put it in quotes: "true"'),
        ({"name": ["a"]}, "Thing a: name: must be text, not a list; write text"),
        ({"size": [1]}, "Thing a: size: must be a whole number or text, not a list; write a whole number or text"),
        ({"on": "yes"}, "Thing a: on: must be true or false, not text; write true or false"),
        (
            {"ports": [{}, {"number": "x"}]},
            "Thing a: ports[1].number: must be a whole number, not text; write a whole number",
        ),
        (
            {"labels": {"a": "b", "c": 1}},
            'Thing a: labels.c: must be text, not a whole number (1); put it in quotes: "1"',
        ),
        ({"labels": []}, "Thing a: labels: must be a mapping, not a list; write a mapping"),
    ],
)
def test_field_and_remedy(raw: dict[str, Any], line: str) -> None:
    assert told(raw) == line


def test_another_complaint_keeps_its_words_and_its_field() -> None:
    error = mismatch("Object missing required field `name` - at `$.spec`", {"spec": {}}, "Thing a")
    assert (error.problem, error.field) == ("Object missing required field `name`", "spec")
