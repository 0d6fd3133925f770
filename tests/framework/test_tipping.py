"""What tipped it: one rule for everybody who compares the nodes of two choices."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.framework.decision import Decision
from bayplan.framework.status import unschedulable
from bayplan.framework.tipping import How, Tip, loudest_for, scores_of, tip
from bayplan.testing import node, pod
from tests.engine.support import Cycle, SaysFilter, SaysScore, named

P = pod("p")
NODES = [node(name) for name in ("a", "b", "c")]


def scoring(name: str, *scores: int) -> Any:
    """A plugin that gives the three nodes these scores."""
    return named(SaysScore, name, answer=lambda state, pod, nodes: np.array(scores, np.int64))


def rejecting(name: str, *rejected: str) -> Any:
    no = unschedulable(f"no by {name}")
    return named(SaysFilter, name, answer=lambda state, pod, node: no if node.name in rejected else None)


def decided(*plugins: Any, nodes: Any = NODES, **weights: int) -> Decision:
    return Cycle(plugins, nodes, **weights).decide(P)


def test_the_largest_weighted_difference_in_favour_of_the_chosen_node_tips_it() -> None:
    decision = decided(scoring("Small", 30, 20, 0), scoring("Large", 80, 60, 0), scoring("Against", 0, 25, 0))
    assert decision.node == "a"
    assert tip(decision, "b") == Tip(How.SCORE, "Large", total=110, other_total=105)
    assert tip(decision, "c") == Tip(How.SCORE, "Large", total=110, other_total=0)


def test_weights_count() -> None:
    decision = decided(scoring("Light", 50, 20, 0), scoring("Heavy", 30, 10, 0), Heavy=5)
    assert tip(decision, "b") == Tip(How.SCORE, "Heavy", total=200, other_total=70)
    assert scores_of(decision, "a") == {"Light": 50, "Heavy": 150}


def test_of_equally_loud_plugins_the_first_of_the_profile_tips_it() -> None:
    decision = decided(scoring("First", 50, 40, 0), scoring("Second", 30, 20, 0))
    assert tip(decision, "b").plugin == "First"


def test_equal_totals_are_a_tie_that_no_plugin_tips() -> None:
    decision = decided(scoring("One", 50, 40, 0), scoring("Other", 20, 30, 0))
    other = "b" if decision.node == "a" else "a"
    assert tip(decision, other) == Tip(How.TIE, total=70, other_total=70)


def test_without_score_plugins_all_nodes_are_equal() -> None:
    decision = decided(rejecting("Nobody"))
    other = next(name for name in "abc" if name != decision.node)
    assert tip(decision, other) == Tip(How.TIE, total=1, other_total=1)


def test_a_filter_settles_it() -> None:
    decision = decided(rejecting("First", "c"), rejecting("Second", "b", "c"), scoring("Loud", 0, 100, 100))
    assert decision.node == "a"
    assert tip(decision, "b") == Tip(How.FILTER, "Second", ("no by Second",))
    assert tip(decision, "c") == Tip(How.FILTER, "First", ("no by First",))


def test_where_no_node_fits_the_filter_of_the_other_one_is_told() -> None:
    decision = decided(rejecting("All", "a", "b", "c"))
    assert decision.node is None
    assert tip(decision, "c") == Tip(How.FILTER, "All", ("no by All",))


def test_the_same_node_is_no_difference() -> None:
    assert tip(decided(scoring("One", 1, 0, 0)), "a") == Tip(How.SAME, total=1, other_total=1)
    assert tip(decided(scoring("One", 1), nodes=NODES[:1]), "a") == Tip(How.SAME)


def test_a_node_that_was_not_looked_at_is_no_tie() -> None:
    nominated = P.nominated("b")
    decision = Cycle([rejecting("Nobody")], NODES).decide(nominated)
    assert decision.node == "b"
    assert tip(decision, "a") == Tip(How.UNSEEN)


def test_a_node_that_is_not_there() -> None:
    assert tip(decided(scoring("One", 1, 0, 0)), "z") == Tip(How.MISSING)
    assert tip(decided(scoring("One"), nodes=[]), "a") == Tip(How.MISSING)


def test_what_broke_is_told() -> None:
    told = tip(decided(named(SaysFilter, "Broken", answer=ValueError("oops"))), "a")
    assert (told.how, told.plugin) == (How.ERROR, "Broken")
    assert "oops" in told.reasons[0]


@pytest.mark.parametrize(
    ("chosen", "other", "loudest"),
    [
        ({"A": 3, "B": 5}, {"A": 1, "B": 4}, "A"),
        ({"A": 3}, {"A": 3}, ""),
        ({"A": 1}, {"A": 3}, ""),
        ({"A": 1, "B": 2}, {"A": 3}, "B"),
        ({}, {"A": 3}, ""),
    ],
)
def test_the_loudest_of_two_tables_of_scores(chosen: dict[str, int], other: dict[str, int], loudest: str) -> None:
    assert loudest_for(chosen, other) == loudest
