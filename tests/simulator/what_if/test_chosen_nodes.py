"""Nodes by name or by selector, and one line for what selects none."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.simulator.what_if.chosen_nodes import chosen_nodes
from bayplan.testing import node

NODES = {
    each.name: each
    for each in (node("n1").zone("a").build(), node("n2").zone("b").build(), node("m1").label(zone="c").build())
}


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ["n1"]),
        ("zone=a", ["n1"]),
        ("zone==b", ["n2"]),
        ("zone=c", ["m1"]),
        ("zone!=a", ["n2", "m1"]),
        ("zone in (a,c)", ["n1", "m1"]),
        ("zone notin (a)", ["n2", "m1"]),
        ("kubernetes.io/hostname=n1,zone=a", ["n1"]),
        ("topology.kubernetes.io/zone in (a,b)", ["n1", "n2"]),
        ("!topology.kubernetes.io/zone", ["m1"]),
    ],
)
def test_a_name_or_a_selector_chooses(text: str, names: list[str]) -> None:
    assert [each.name for each in chosen_nodes(text, NODES, "--remove")] == names


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("n11", '--remove: there is no node "n11"; did you mean "n1"?'),
        ("rack=r1", '--remove: no node is selected by "rack=r1"; no node has a label "rack"'),
        ("zone=z", '--remove: no node is selected by "zone=z"; zone is a, b, c'),
    ],
)
def test_what_chooses_nothing_is_told(text: str, told: str) -> None:
    with pytest.raises(InputError) as raised:
        chosen_nodes(text, NODES, "--remove")
    assert str(raised.value) == told
