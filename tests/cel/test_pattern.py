"""Regular expressions: the same answers as Python's, for what both know."""

import re

import pytest

from bayplan.cel.pattern import Pattern, compiled
from bayplan.cel.pattern_syntax import PatternError

TEXTS = ["", "a", "b", "ab", "aab", "abc", "aaa", "x-1", "hello world", "A1_b", "a\nb", "2024-02-29", "..", "é", "   "]
EXPRESSIONS = [
    "a", "a*", "a+b", "a?b", "^a", "b$", "^$", "a|b", "(ab)+", "(?:a|ab)(c|b)?", "[a-c]+", "[^a]", r"\d+", r"\w+$",
    r"\s", r"\bworld\b", "a{2}", "a{1,2}", "a{2,}", "h.*o", "h.*?o", "(?i)ab", "(?s)a.b", "(?m)^b", r"[\d-]+",
    r"\.", "[.]", "[]a]", "[^]a]", r"[a\-c]", "(a*)*b", "(a|a)*", "x*?", "(?:)", "a||b", r"\x61",
]  # fmt: skip


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_it_answers_as_a_backtracking_engine_does(expression: str) -> None:
    known = re.compile(expression, re.ASCII if "\\" in expression else 0)
    for text in TEXTS:
        first = known.search(text)
        assert Pattern(expression).is_in(text) == (first is not None), text
        assert Pattern(expression).find_all(text, 1) == ([first[0]] if first else []), text


def test_all_matches_are_found_from_left_to_right() -> None:
    assert compiled("a+").find_all("aa b aaa") == ["aa", "aaa"]
    assert compiled("a+").find_all("aa b aaa", 1) == ["aa"]
    assert compiled("a*").find_all("baaac") == ["", "aaa", ""]


@pytest.mark.parametrize(
    "expression", ["(", ")", "a)", "[a", "*a", "a**", r"\1", "(?=a)", "(?<!a)", "a{1001}", r"\p{Foo}", "[z-a]", "\\"]
)
def test_what_the_syntax_does_not_have_is_refused(expression: str) -> None:
    with pytest.raises(PatternError):
        Pattern(expression)


def test_classes_by_name() -> None:
    assert compiled("^[[:alpha:]]+$").is_in("abC")
    assert not compiled("^[[:^alpha:]]+$").is_in("abC")
    assert compiled(r"^\pL+$").is_in("aé")
    assert not compiled(r"\PL").is_in("aé")
    assert compiled(r"^\Qa.b\E$").is_in("a.b")


def test_a_pattern_that_keeps_others_busy_for_hours_is_done_at_once() -> None:
    assert not Pattern("(a+)+$").is_in("a" * 3000 + "b")
    assert Pattern("(a|aa)+$").is_in("a" * 3000)
