"""Label selectors, node selectors and pod terms."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.objects.affinity import NodeSelectorTerm
from bayplan.objects.meta import LabelSelector
from bayplan.objects.requirement import Requirement
from bayplan.objects.selector import (
    EVERYTHING,
    NOTHING,
    NodeRequirement,
    NodeTerm,
    PodTerm,
    Selector,
    compile_label_selector,
    compile_node_term,
    label_selector_from_map,
)

WORDS = st.sampled_from(["a", "b", "c"])
LABELS = st.dictionaries(WORDS, WORDS, max_size=3)


def selector(**written: Any) -> Selector:
    return compile_label_selector(msgspec.convert(written, LabelSelector))


def term(**written: Any) -> NodeTerm:
    return compile_node_term(msgspec.convert(written, NodeSelectorTerm))


def test_none_matches_nothing_and_empty_matches_everything() -> None:
    assert compile_label_selector(None) is NOTHING
    assert not NOTHING.matches({"a": "b"})
    assert not NOTHING.is_empty
    assert selector() == EVERYTHING
    assert EVERYTHING.matches({})
    assert EVERYTHING.is_empty
    assert label_selector_from_map(None) is NOTHING
    assert label_selector_from_map({}) == EVERYTHING


def test_all_requirements_must_hold() -> None:
    both = selector(matchLabels={"app": "web"}, matchExpressions=[{"key": "old", "operator": "DoesNotExist"}])
    assert both.matches({"app": "web", "x": "y"})
    assert not both.matches({"app": "web", "old": ""})
    assert not both.matches({"app": "api"})
    assert not both.is_empty


def test_selectors_that_mean_the_same_are_one_key() -> None:
    one = selector(matchLabels={"a": "1", "b": "2"})
    other = selector(
        matchExpressions=[
            {"key": "b", "operator": "In", "values": ["2"]},
            {"key": "a", "operator": "In", "values": ["1"]},
            {"key": "a", "operator": "In", "values": ["1"]},
        ]
    )
    assert one == other
    assert hash(one) == hash(other)
    assert len({one: 1, other: 2}) == 1
    assert one != selector(matchLabels={"a": "1"})
    assert NOTHING != EVERYTHING


def test_more_requirements_narrow_and_nothing_stays_nothing() -> None:
    extra = (Requirement("b", "In", ("2",)),)
    narrowed = selector(matchLabels={"a": "1"}).plus(extra)
    assert narrowed == selector(matchLabels={"a": "1", "b": "2"})
    assert narrowed.plus(extra) == narrowed
    assert NOTHING.plus(extra) is NOTHING


@pytest.mark.parametrize("operator", ["Gt", "Lt", "in", ""])
def test_label_selectors_know_four_operators(operator: str) -> None:
    with pytest.raises(ValueError, match="write one of In, NotIn, Exists, DoesNotExist instead"):
        selector(matchExpressions=[{"key": "a", "operator": operator, "values": ["1"]}])


def test_text_of_selectors() -> None:
    assert str(NOTHING) == "<nothing>"
    assert str(EVERYTHING) == "<everything>"
    assert str(selector(matchLabels={"b": "2", "a": "1"})) == "a in (1),b in (2)"


@given(LABELS, LABELS)
def test_a_map_selector_matches_exactly_the_labels_that_contain_it(
    wanted: dict[str, str], given: dict[str, str]
) -> None:
    assert label_selector_from_map(wanted).matches(given) == (wanted.items() <= given.items())


@given(WORDS, st.lists(WORDS, min_size=1), LABELS)
def test_not_in_is_the_opposite_of_in(key: str, values: list[str], labels: dict[str, str]) -> None:
    written = {"key": key, "values": values}
    inside = selector(matchExpressions=[{**written, "operator": "In"}])
    outside = selector(matchExpressions=[{**written, "operator": "NotIn"}])
    assert inside.matches(labels) != outside.matches(labels)


NAME = "metadata.name"


@pytest.mark.parametrize(
    ("written", "matches"),
    [
        ({}, False),
        ({"matchExpressions": [], "matchFields": []}, False),
        ({"matchExpressions": [{"key": "zone", "operator": "In", "values": ["a"]}]}, True),
        ({"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["4"]}]}, True),
        ({"matchExpressions": [{"key": "cores", "operator": "Gt", "values": ["x"]}]}, False),
        ({"matchExpressions": [{"key": "zone", "operator": "Like", "values": ["a"]}]}, False),
        ({"matchFields": [{"key": NAME, "operator": "In", "values": ["n1"]}]}, True),
        ({"matchFields": [{"key": NAME, "operator": "In", "values": ["n2"]}]}, False),
        ({"matchFields": [{"key": NAME, "operator": "NotIn", "values": ["n2"]}]}, True),
        ({"matchFields": [{"key": NAME, "operator": "NotIn", "values": ["n1"]}]}, False),
        ({"matchFields": [{"key": NAME, "operator": "In", "values": ["n1", "n2"]}]}, False),
        ({"matchFields": [{"key": NAME, "operator": "Exists"}]}, False),
        ({"matchFields": [{"key": "spec.x", "operator": "In", "values": ["n1"]}]}, False),
        ({"matchFields": [{"key": "spec.x", "operator": "NotIn", "values": ["n1"]}]}, True),
        (
            {
                "matchExpressions": [{"key": "zone", "operator": "Exists"}],
                "matchFields": [{"key": NAME, "operator": "In", "values": ["n2"]}],
            },
            False,
        ),
    ],
)
def test_node_terms(written: dict[str, Any], matches: bool) -> None:
    assert term(**written).matches("n1", {"zone": "a", "cores": "8"}) is matches


def test_an_invalid_term_keeps_its_fields() -> None:
    made = term(matchFields=[{"key": NAME, "operator": "In", "values": ["n1", "n2"]}])
    assert made.invalid
    assert made.fields[0].values == ("n1", "n2")
    assert not made.is_empty


@pytest.mark.parametrize(
    ("requirement", "matches"),
    [
        (NodeRequirement(), True),
        (NodeRequirement((("zone", "a"),)), True),
        (NodeRequirement((("zone", "b"),)), False),
        (NodeRequirement((), ()), False),
        (NodeRequirement((), (NodeTerm(),)), False),
        (NodeRequirement((), (NodeTerm(), NodeTerm((Requirement("zone", "Exists"),)))), True),
        (NodeRequirement((("zone", "b"),), (NodeTerm((Requirement("zone", "Exists"),)),)), False),
    ],
)
def test_node_selector_and_any_term_must_match(requirement: NodeRequirement, matches: bool) -> None:
    assert requirement.matches("n1", {"zone": "a"}) is matches


def test_pod_terms_look_at_namespace_or_its_labels_and_at_the_pod() -> None:
    web = label_selector_from_map({"app": "web"})
    listed = PodTerm(frozenset(("shop",)), None, web, "zone")
    assert listed.matches("shop", {}, {"app": "web"})
    assert not listed.matches("shop", {}, {"app": "api"})
    assert not listed.matches("other", {"team": "a"}, {"app": "web"})
    either = PodTerm(frozenset(("shop",)), label_selector_from_map({"team": "a"}), web, "zone")
    assert either.matches("other", {"team": "a"}, {"app": "web"})
    assert either.matches("shop", {}, {"app": "web"})
    assert not either.matches("other", {"team": "b"}, {"app": "web"})
    assert len({listed, either, listed}) == 2
