"""The mistakes in names."""

from __future__ import annotations

import pytest

from bayplan.objects.admission import name_checks
from bayplan.objects.mistakes import Mistakes


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (name_checks.label("metadata.namespace", "Shop"), 'metadata.namespace: "Shop" is not a name; write lower-case'),
        (name_checks.subdomain("spec.nodeName", ""), "spec.nodeName: empty; write a name: lower-case letters"),
        (name_checks.port("ports[0].name", "8080"), 'ports[0].name: "8080" is not a name; write at most 15'),
        (name_checks.unique("volumes", ["a", "b", "a"]), 'volumes: "a" is there 2 times; give each a name of its own'),
    ],
)
def test_a_mistake_names_the_field_and_what_to_write(found: Mistakes, said: str) -> None:
    (mistake,) = found
    assert str(mistake).startswith(said)


def test_good_names_are_let_through() -> None:
    checks = [
        name_checks.label("a", "web"),
        name_checks.subdomain("a", "web.example.com"),
        name_checks.port("a", "http"),
    ]
    assert not [mistake for check in checks for mistake in check]
    assert not list(name_checks.unique("a", ["x", "y"]))
