"""YAML as kubectl reads it. The table of scalars was compared with sigs.k8s.io/yaml."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.errors import InputError
from bayplan.objects.files.yaml_reading import YamlDocument, documents


def value(text: str) -> Any:
    return next(documents(text, "a.yaml")).value


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1", 1),
        ("-5", -5),
        ("+5", 5),
        ("010", 8),
        ("0o10", 8),
        ("08", 8),
        ("0x1F", 31),
        ("0b11", 3),
        ("1_000", 1000),
        ("0.5", 0.5),
        (".5", 0.5),
        ("3.0", 3),
        ("1e3", 1000),
        ("1:30", "1:30"),
        ("2026-01-31", "2026-01-31"),
        ("2026-01-31T10:00:00Z", "2026-01-31T10:00:00Z"),
        ("yes", True),
        ("No", False),
        ("on", True),
        ("OFF", False),
        ("y", True),
        ("true", True),
        ("tRue", "tRue"),
        ("~", None),
        ("null", None),
        ("", None),
        ('"yes"', "yes"),
        ("'1'", "1"),
        ("!!str 1", "1"),
        ("!!int 1", 1),
        ("!mine x", "x"),
        ("1Gi", "1Gi"),
        ("web", "web"),
        ("|\n  text\n", "text\n"),
    ],
)
def test_scalars(text: str, expected: Any) -> None:
    found = value(f"a: {text}\n")["a"]
    assert found == expected
    assert type(found) is type(expected)


def test_keys_are_text_as_in_json() -> None:
    assert value("1: a\nyes: b\n1.5: c\n") == {"1": "a", "true": "b", "1.5": "c"}


def test_documents_know_their_lines_and_empty_ones_are_skipped() -> None:
    text = "# a comment\n---\na: 1\n---\n---\n\nb: 2\n---\n# nothing\n"
    assert list(documents(text, "a.yaml")) == [YamlDocument(3, {"a": 1}), YamlDocument(7, {"b": 2})]


def test_items_know_their_lines() -> None:
    assert next(documents("kind: List\nitems:\n- a: 1\n\n- b: 2\n", "a.yaml")).item_lines == (3, 5)


def test_aliases_and_merge_keys() -> None:
    text = "base: &b {x: 1, z: 2}\none: *b\ntwo: {<<: *b, z: 3}\nthree: {<<: [{x: 9}, *b]}\n"
    assert value(text) == {
        "base": {"x": 1, "z": 2},
        "one": {"x": 1, "z": 2},
        "two": {"x": 1, "z": 3},
        "three": {"x": 9, "z": 2},
    }


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("a: 1\nb: 2\na: 3\n", 'a.yaml:3: the key "a" occurs twice in one mapping; keep one of them'),
        ("a: b: c\n", "a.yaml:1: this is not YAML: mapping values are not allowed in this context; "),
        ("a:\n\t- b\n", "a.yaml:2: this is not YAML: found character that cannot start any token; indent with spaces"),
        ("a: [1\nb: 2\n", "a.yaml:2: this is not YAML: "),
        ("a: 'x\n", "a.yaml:2: this is not YAML: found unexpected end of stream"),
        ("a: *b\n", "a.yaml:1: this is not YAML: found undefined alias"),
        ("a: &a [*a]\n", "a.yaml:1: an alias that contains itself; write it out"),
        ("a: {{ .Values.x }}\n", "a.yaml:1: a key that is not text; "),
        ("? [1]\n: 2\n", "a.yaml:1: a key that is not text; "),
        ("a: {<<: 1}\n", 'a.yaml:1: "<<" must name a mapping'),
        ("a: 1\nb: \x01\n", "a.yaml:2: the character U+0001 is not allowed in YAML; remove it"),
    ],
)
def test_broken_yaml_is_one_line_with_its_place(text: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        list(documents(text, "a.yaml"))
    assert str(caught.value).startswith(line)
    assert "\n" not in str(caught.value)


LINE = "what is repeated by aliases"
BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{level}: &a{level} [{', '.join([f'*a{level - 1}'] * 10)}]\n" for level in range(1, 9)
)


@pytest.mark.parametrize(
    "text",
    [
        BOMB,
        "---\n".join([BOMB[: BOMB.index("a6")]] * 9),
        f"b: &b {{{', '.join(f'k{number}: 1' for number in range(1000))}}}\nc: {{<<: [{', '.join(['*b'] * 1000)}]}}\n",
        f"b: &b {'x' * 100_000}\nc: [{', '.join(['*b'] * 1000)}]\n",
        f"b: &b '{'x' * 100_000}'\nc: [{', '.join(['*b'] * 1000)}]\n",
    ],
    ids=["levels", "documents", "merge keys", "long text", "quoted text"],
)
def test_what_aliases_unfold_to_is_bounded(text: str) -> None:
    with pytest.raises(InputError, match=rf"^a.yaml:\d+: {LINE} \(\*name\) adds up to more than 500000 values"):
        list(documents(text, "a.yaml"))


def test_aliases_as_people_use_them_are_read() -> None:
    text = "base: &b {x: 1, z: [a, b, c]}\nall:\n" + "- *b\n" * 10_000
    assert value(text)["all"] == [{"x": 1, "z": ["a", "b", "c"]}] * 10_000


@pytest.mark.parametrize(
    "digits", ["1" * 5000, "-" + "1" * 5000, "0x" + "f" * 5000, "1." + "1" * 5000, "1_" * 2500 + "1"]
)
def test_a_number_of_many_digits_is_refused(digits: str) -> None:
    with pytest.raises(InputError, match=r"^a.yaml:1: a number of \d+ digits; write a shorter one"):
        value(f"a: {digits}\n")
    assert value(f"a: '{digits}'\n") == {"a": digits}


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused_with_an_input_error(text: str) -> None:
    try:
        for each in documents(text, "a.yaml"):
            assert each.line >= 1
    except InputError as error:
        assert str(error).startswith("a.yaml")  # noqa: PT017
