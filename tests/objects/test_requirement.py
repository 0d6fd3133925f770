"""One condition on labels: all operators, and what is refused."""

from __future__ import annotations

import pytest

from bayplan.objects.requirement import NODE_OPERATORS, Requirement, parse_int64, requirement

LABELS = {"zone": "a", "cores": "8", "empty": "", "word": "x"}


@pytest.mark.parametrize(
    ("key", "op", "values", "expected"),
    [
        ("zone", "In", ["a", "b"], True),
        ("zone", "In", ["b"], False),
        ("gone", "In", [""], False),
        ("empty", "In", [""], True),
        ("zone", "NotIn", ["b"], True),
        ("zone", "NotIn", ["a"], False),
        ("gone", "NotIn", ["a"], True),
        ("zone", "Exists", None, True),
        ("gone", "Exists", [], False),
        ("zone", "DoesNotExist", None, False),
        ("gone", "DoesNotExist", None, True),
        ("cores", "Gt", ["7"], True),
        ("cores", "Gt", ["8"], False),
        ("cores", "Lt", ["9"], True),
        ("cores", "Lt", ["8"], False),
        ("cores", "Gt", ["-1"], True),
        ("word", "Gt", ["1"], False),
        ("gone", "Lt", ["1"], False),
    ],
)
def test_operators(key: str, op: str, values: list[str] | None, expected: bool) -> None:
    negative = bool(values) and values == ["-1"]  # a label value cannot begin with "-", the comparison still can
    made = Requirement(key, op, tuple(values or ())) if negative else requirement(key, op, values, NODE_OPERATORS)
    assert made.matches(LABELS) is expected


@pytest.mark.parametrize(
    ("key", "op", "values", "problem"),
    [
        ("a", "Matches", ["x"], '"Matches" is not an operator here; write one of In, NotIn'),
        ("a", "In", [], "operator In needs at least one value"),
        ("a", "Exists", ["x"], "operator Exists takes no values"),
        ("a", "Gt", ["1", "2"], "takes exactly one value"),
        ("a", "Lt", ["many"], 'compares whole numbers, and "many" is none'),
        ("", "Exists", [], "is not a label key"),
        ("-a", "Exists", [], "is not a label key"),
        ("a" * 64, "Exists", [], "is not a label key"),
        ("Bad_/a", "Exists", [], "must be a DNS name"),
        ("a/b/c", "Exists", [], "must be a DNS name"),
        ("/a", "Exists", [], "must be a DNS name"),
        ("a", "In", ["has space"], '"has space" is not a label value'),
        ("a", "In", ["x" * 64], "is not a label value"),
    ],
)
def test_mistakes_are_refused_with_a_sentence(key: str, op: str, values: list[str], problem: str) -> None:
    with pytest.raises(ValueError, match="; ") as caught:
        requirement(key, op, values, NODE_OPERATORS)
    assert problem in str(caught.value)


def test_numbers_do_not_go_with_label_selectors() -> None:
    with pytest.raises(ValueError, match='"Gt" is not an operator here'):
        requirement("a", "Gt", ["1"])


def test_values_are_put_in_order_so_that_equal_conditions_are_equal() -> None:
    assert requirement("a", "In", ["y", "x", "y"]) == requirement("a", "In", ["x", "y"])


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12", 12),
        ("-3", -3),
        ("+3", 3),
        ("9223372036854775807", 2**63 - 1),
        ("9223372036854775808", None),
        ("1.5", None),
        ("", None),
        ("１", None),
    ],
)
def test_only_64_bit_whole_numbers_count_as_numbers(text: str, number: int | None) -> None:
    assert parse_int64(text) == number


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (Requirement("a", "In", ("x", "y")), "a in (x,y)"),
        (Requirement("a", "NotIn", ("x",)), "a notin (x)"),
        (Requirement("a", "Exists"), "a"),
        (Requirement("a", "DoesNotExist"), "!a"),
        (Requirement("a", "Gt", ("5",)), "a>5"),
        (Requirement("a", "Lt", ("5",)), "a<5"),
    ],
)
def test_reads_back_as_text(made: Requirement, text: str) -> None:
    assert str(made) == text
