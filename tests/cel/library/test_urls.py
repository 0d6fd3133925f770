"""URLs."""

import pytest

from tests.cel.evaluating import error, value


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("url('https://user@example.com:80/a/b?x=1&x=2#f').getHost()", "example.com:80"),
        ("url('https://example.com:80/').getHostname()", "example.com"),
        ("url('https://[::1]:80/').getHostname()", "::1"),
        ("url('https://[::1]:80/').getPort()", "80"),
        ("url('https://example.com/a b').getEscapedPath()", "/a%20b"),
        ("url('/a?x=1&x=2&y=').getQuery()", {"x": ["1", "2"], "y": [""]}),
        ("url('https://example.com').getScheme()", "https"),
        ("isURL('example.com')", False),
        ("isURL('/a')", True),
        ("isURL('https://a:b:c/')", False),
        ("url('/a') == url('/a')", True),
    ],
)
def test_values(expression: str, expected: object) -> None:
    assert value(expression) == expected


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("url('bad')", 'URL parse error during conversion from string: parse "bad": invalid URI for request'),
    ],
)
def test_errors(expression: str, expected: str) -> None:
    assert error(expression) == expected
