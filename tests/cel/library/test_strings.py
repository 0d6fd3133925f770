"""Strings and their formats."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'hello'.charAt(1)", "e"),
        ("'hello'.charAt(5)", ""),
        ("'abcb'.indexOf('b')", 1),
        ("'abcb'.indexOf('b', 2)", 3),
        ("'abcb'.lastIndexOf('b')", 3),
        ("'abcb'.lastIndexOf('b', 2)", 1),
        ("'aBé'.upperAscii()", "ABé"),
        ("'AB'.lowerAscii()", "ab"),
        ("'aaa'.replace('a', 'b')", "bbb"),
        ("'aaa'.replace('a', 'b', 2)", "bba"),
        ("'a,b,c'.split(',')", ["a", "b", "c"]),
        ("'a,b,c'.split(',', 2)", ["a", "b,c"]),
        ("'abc'.split('')", ["a", "b", "c"]),
        ("'abc'.split('', 2)", ["a", "bc"]),
        ("'abc'.split(',', 0)", []),
        ("'hello'.substring(3)", "lo"),
        ("'hello'.substring(1, 3)", "el"),
        ("'\\t a '.trim()", "a"),
        ("['a', 'b'].join('-')", "a-b"),
        ("strings.quote('a\\nb')", '"a\\nb"'),
        ("'%s|%d|%.2f|%x|%X|%b|%o|%%'.format(['a', 1, 1.5, 255, 'hi', 5, 8])", "a|1|1.50|ff|6869|101|10|%"),
        ("'%s'.format([[1, 'a']])", "[1, a]"),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("'a'.charAt(2)", "index out of range: 2"),
        ("'a'.substring(2)", "index out of range: 2"),
        ("'abc'.substring(2, 1)", "invalid substring range. start: 2, end: 1"),
        ("'a'.indexOf('b', -1)", "index out of range: -1"),
        ("dyn(1).startsWith('a')", "no such overload"),
        ("'%d'.format(dyn(['a']))", "error during formatting: %d cannot be used on string"),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
