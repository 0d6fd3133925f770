"""Evaluation: which operands are looked at, which errors are absorbed, and what each step costs."""

import pytest

from bayplan.cel import CelError
from tests.cel.evaluating import cost, error, value


@pytest.mark.parametrize(
    "expression",
    ["false && x.a", "x.a && false", "false && 1 / 0 == 1", "1 / 0 == 1 && false", "[1].all(i, i / 0 == 1 && false)"],
)
def test_a_false_operand_decides_and_whatever_the_other_is(expression: str) -> None:
    assert value(expression, {}) is False
    assert value(f"!({expression})", {}) is True


@pytest.mark.parametrize("expression", ["true || x.a", "x.a || true", "[0, 1].exists(i, 1 / i == 1)"])
def test_a_true_operand_decides_or(expression: str) -> None:
    assert value(expression, {}) is True


def test_an_error_that_nobody_decides_stays() -> None:
    assert error("x.a && true", {}) == "no such key: a"
    assert error("[0].exists(i, 1 / i == 1)") == "division by zero"
    assert error("x.a ? 1 : 2", {"a": 3}) == "no such overload"
    assert error("x[3]", [1]) == "index out of bounds: 3"


def test_a_branch_that_is_not_taken_is_not_looked_at() -> None:
    assert value("true ? 1 : 1 / 0") == 1
    assert value("optional.of(1).orValue(1 / 0)") == 1
    assert value("cel.bind(v, 1 / 0, true)") is True


def test_the_elements_of_maps_are_found_by_value() -> None:
    assert value("{1: 'a', 2: 'b'}[dyn(2.0)]") == "b"
    assert value("{true: 'a'}[true]") == "a"
    assert value("dyn(1) in {true: 'a'}") is False
    assert value("{'a': {'b': 1}}.a.b") == 1
    assert value("x.?a.?b.orValue(5)", {"a": {}}) == 5
    assert value("x.?a.b.orValue(5)", {"a": {"b": 7}}) == 7
    assert value("[1, 2, 3][?5].hasValue()") is False
    assert value("has(x.a) && !has(x.b)", {"a": 1}) is True
    assert value("{?'a': optional.none(), 'b': 1}") == {"b": 1}
    assert value("[?optional.of(1), ?optional.none()]") == [1]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("[1, 2, 3].map(i, i * 2)", [2, 4, 6]),
        ("[1, 2, 3].map(i, i > 1, i * 2)", [4, 6]),
        ("[1, 2, 3].filter(i, i > 1)", [2, 3]),
        ("[1, 2, 2].exists_one(i, i == 2)", False),
        ("{'a': 1, 'b': 2}.map(k, k)", ["a", "b"]),
        ("[10, 20].all(i, v, v == (i + 1) * 10)", True),
        ("{'a': 1}.exists(k, v, k == 'a' && v == 1)", True),
        ("[1, 2].transformList(i, v, i + v)", [1, 3]),
        ("{'a': 1}.transformMap(k, v, v + 1)", {"a": 2}),
        ("{'a': 1}.transformMapEntry(k, v, {v: k})", {1: "a"}),
        ("['bb', 'a'].sortBy(s, size(s))", ["a", "bb"]),
        ("optional.of(2).optMap(v, v + 1).value()", 3),
        ("optional.none().optMap(v, v + 1).hasValue()", False),
        ("optional.of({'a': 1}).optFlatMap(v, v.?a).value()", 1),
        ("[[1, 2], [3]].map(inner, inner.map(i, i + 1))", [[2, 3], [4]]),
    ],
)
def test_comprehensions(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1", 0),
        ("x", 1),
        ("x.a", 2),
        ("x.a.b", 3),
        ("x['a']", 2),
        ("has(x.a)", 1),
        ("x.a.b == 1", 4),
        ("true ? x.a : 1", 1),
        ("[1, 2]", 0),
        ("[x, x]", 12),
        ("{'a': x}", 31),
        ("1 + 2", 1),
        ("int('3')", 0),
        ("1 in [1, 2]", 0),
        ("x in [1, 2]", 1),
        ("'a' + '" + "b" * 29 + "'", 3),
        ("[1].all(i, true)", 4),
        ("'abcdefghij'.contains('b')", 1),
        ("'" + "a" * 100 + "'.matches('" + "b" * 8 + "')", 22),
        ("x && true || cel.bind(v, x, true)", 1),
    ],
)
def test_the_cost_is_that_of_kubernetes(expression: str, expected: int) -> None:
    assert cost(expression, {"a": {"b": 1}} if "x.a" in expression or "x[" in expression else True) == expected


def test_a_constant_that_cannot_be_is_told_when_the_expression_is_compiled() -> None:
    with pytest.raises(CelError, match="type conversion error"):
        value("duration('never')")
