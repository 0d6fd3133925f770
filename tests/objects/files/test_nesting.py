"""Depth: far more than any object has is refused, however it is written; text that only looks deep is read."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.objects.files import json_reading, yaml_reading
from bayplan.objects.files.nesting import DEEPEST

MANY = 100_000


def lines(count: int) -> str:
    return "".join(f"{' ' * index}a:\n" for index in range(count))


@pytest.mark.parametrize(
    "text",
    [
        "a: " + "[" * MANY,
        "a: " + "[" * MANY + "]" * MANY,
        "a: " + "{a: " * MANY + "1" + "}" * MANY,
        "a: " + '["]", ' * MANY,
        "a: " + "['}', " * MANY,
        "# ]]]]\n" * 1000 + "a: " + "[" * 1000 + "]" * 1000,
        "- " * MANY + "a\n",
        "? " * MANY + "a\n",
        lines(1500),
        lines(DEEPEST + 2),
        "a: " + "[" * (DEEPEST + 2) + "]" * (DEEPEST + 2),
        "a: &0 [x]\n" + "".join(f"a{number}: &{number} [*{number - 1}]\n" for number in range(1, 1000)),
    ],
    ids=[
        "open",
        "closed",
        "maps",
        "quotes",
        "single",
        "comments",
        "dashes",
        "keys",
        "indent",
        "few",
        "flow",
        "aliases",
    ],
)
def test_deep_yaml_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^a.yaml(:\d+)?: (nested too deeply|a key that is not text)"):
        list(yaml_reading.documents(text, "a.yaml"))


@pytest.mark.parametrize("text", ['{"a":' * MANY, '{"a":' + "[" * 20_000 + "]" * 20_000 + "}", '{"]": [' * MANY])
def test_deep_json_is_refused(text: str) -> None:
    with pytest.raises(InputError, match=r"^a.json(:\d+)?: nested too deeply"):
        json_reading.documents(text, "a.json")


def test_text_that_only_looks_deep_is_read() -> None:
    brackets, blanks = "[" * 5000, " " * 5000
    (found,) = yaml_reading.documents(f'a: "{brackets}"\nb: |\n  x\n{blanks}y\nc: [{"[], " * 3000}]\n', "a.yaml")
    assert found.value == {"a": brackets, "b": f"x\n{blanks[2:]}y\n", "c": [[]] * 3000}
    (json,) = json_reading.documents(f'{{"a": "{brackets}", "b": "\\"["}}', "a.json") or []
    assert json.value == {"a": brackets, "b": '"['}


def test_as_deep_as_allowed_is_read() -> None:
    (found,) = yaml_reading.documents("[" * DEEPEST + "]" * DEEPEST, "a.yaml")
    assert found.value != []
