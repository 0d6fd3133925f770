"""Selectors as people type them."""

from __future__ import annotations

import pytest

from bayplan.objects.selector import EVERYTHING
from bayplan.objects.selector_parsing import parse_selector


@pytest.mark.parametrize(
    ("text", "meaning"),
    [
        ("a=b", "a in (b)"),
        ("a==b", "a in (b)"),
        ("a = b , c", "a in (b),c"),
        ("a!=b", "a notin (b)"),
        ("a=", "a in ()"),
        ("a in (x, y),b notin (z)", "a in (x,y),b notin (z)"),
        ("!a,b", "!a,b"),
        ("example.com/n>5,n<3", "example.com/n>5,n<3"),
    ],
)
def test_reads_what_kubectl_reads(text: str, meaning: str) -> None:
    assert str(parse_selector(text)) == meaning


@pytest.mark.parametrize("text", ["", "  "])
def test_nothing_typed_means_everything(text: str) -> None:
    assert parse_selector(text) is EVERYTHING


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("a=b,,c", "a comma too many"),
        (",a", "a comma too many"),
        ("a,", "a comma too many"),
        ("a in x", "is not a condition"),
        ("a in (x", "is not a condition"),
        ("=b", "is not a condition"),
        ("a b", "is not a condition"),
        ("a>b", "compares whole numbers"),
        ("a=b!", "is not a condition"),
        ("-a=b", "is not a label key"),
    ],
)
def test_refuses_the_rest_with_a_sentence(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        parse_selector(text)
