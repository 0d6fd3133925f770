"""Text to tree: precedence, literals, macros, and where a mistake is."""

import pytest

from bayplan.cel import CelError
from tests.cel.evaluating import value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("1 + 2 * 3", 7),
        ("(1 + 2) * 3", 9),
        ("10 - 2 - 3", 5),
        ("1 + 1 == 2 && 3 > 2 || false", True),
        ("true ? 1 : false ? 2 : 3", 1),
        ("false ? 1 : false ? 2 : 3", 3),
        ("--1", 1),
        ("!!true", True),
        ("-0x10", -16),
        ("1 in [1] == true", True),
        ("'a' + \"b\" // a comment", "ab"),
        (r"'\n\x41\u00e9\101'", "\nAéA"),
        (r"r'\n'", "\\n"),
        ("'''it's'''", "it's"),
        (r"b'\xff\141'", b"\xffa"),
        ("[1, 2,]", [1, 2]),
        ("{'a': 1,}", {"a": 1}),
        (".5 + 1e1", 10.5),
    ],
)
def test_expressions_are_read(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("1 +\n+ 2", "2:1: Syntax error: unexpected '+'"),
        ("(1", "1:3: Syntax error: unexpected the end, wanted ')'"),
        ("a ? b ? 1 : 2 : 3", "1:7: Syntax error: unexpected '?', wanted ':'"),
        ("9223372036854775808", "1:1: invalid int literal"),
        ("for", "1:1: reserved identifier: for"),
        ("'abc", "1:1: unexpected character"),
        (r"'\q'", "1:1: unable to unescape string"),
        ("has(1)", "1:5: invalid argument to has() macro"),
        ("[1].all(1, true)", "1:9: argument must be a simple name"),
        ("[1].all(k, k, true)", "duplicate variable name: k"),
        ("(" * 251 + "1" + ")" * 251, "expression recursion limit exceeded: 250"),
        ("+".join(["1"] * 252), "max recursion depth exceeded"),
        ("Pod{name: 'a'}", "messages cannot be made here"),
    ],
)
def test_a_mistake_is_told_with_its_place(expression: str, problem: str) -> None:
    with pytest.raises(CelError) as caught:
        value(expression)
    assert problem in str(caught.value)
