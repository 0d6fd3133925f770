"""PreScore, Score, NormalizeScore, weights, and the pick of one winner."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

from bayplan.engine.scoring import pick, scramble
from bayplan.framework.plugin import MAX_SCORE, Plugin
from bayplan.framework.status import SKIP, Code, Status
from bayplan.testing import node, pod
from tests.engine.support import Cycle, SaysFilter, SaysPreScore, SaysScore, SaysScoreNode, named

NODES = [node("a"), node("b"), node("c")]
P = pod("p")


def scores(*numbers: float, dtype: Any = np.int64) -> Any:
    return np.array(numbers, dtype)


# -- sums --


def test_scores_are_weighted_and_added_up() -> None:
    plugins = [named(SaysScore, "A", answer=scores(10, 20, 30)), named(SaysScore, "B", answer=scores(50, 10, 0))]
    decision = Cycle(plugins, NODES, A=2, B=3).decide(P)
    assert decision.totals.tolist() == [170, 70, 60]
    assert (decision.node, decision.ties) == ("a", 1)
    assert [(each.plugin, each.weight, each.weighted.tolist()) for each in decision.scores] == [
        ("A", 2, [20, 40, 60]),
        ("B", 3, [150, 30, 0]),
    ]


def test_raw_scores_are_normalised_over_the_feasible_nodes_and_kept_as_they_were() -> None:
    seen: list[Any] = []

    def normal(raw: Any) -> Any:
        seen.append(raw.tolist())
        return raw * MAX_SCORE // raw.max()

    filtering = named(SaysFilter, "F", answer=lambda state, pod, node: no_a(node))
    plugins = [filtering, named(SaysScore, "A", answer=scores(999, 2, 4), normal=staticmethod(normal))]
    decision = Cycle(plugins, NODES).decide(P)
    assert seen == [[2, 4]]
    (found,) = decision.scores
    assert (found.raw.tolist(), found.normalized.tolist()) == ([2, 4], [50, 100])
    assert decision.node == "c"


def no_a(node: Any) -> Any:
    return Status(Code.UNSCHEDULABLE, ("no",)) if node.name == "a" else None


def test_the_one_node_form_is_asked_about_feasible_nodes_alone() -> None:
    by_name = {"b": 7, "c": 3}
    plugins = [
        named(SaysFilter, "F", answer=lambda state, pod, node: no_a(node)),
        named(SaysScoreNode, "N", answer=lambda state, pod, node: by_name[node.name]),
    ]
    decision = Cycle(plugins, NODES).decide(P)
    assert decision.totals.tolist() == [7, 3]
    assert decision.node == "b"


def test_a_plugin_that_skips_pre_score_adds_nothing_to_anybody() -> None:
    skipping = named(SaysPreScore, "A", SaysScoreNode, answer=SKIP)
    cycle = Cycle([skipping, named(SaysScore, "B", answer=scores(1, 2, 3))], NODES)
    decision = cycle.decide(P)
    assert decision.totals.tolist() == [1, 2, 3]
    assert [each.plugin for each in decision.scores] == ["B"]


def test_pre_score_sees_the_feasible_rows() -> None:
    plugins = [named(SaysFilter, "F", answer=lambda state, pod, node: no_a(node)), named(SaysPreScore, "A")]
    cycle = Cycle(plugins, NODES)
    cycle.decide(P)
    ((_, _, nodes, feasible),) = cycle.plugin("A").asked
    assert [nodes.names[row] for row in feasible] == ["b", "c"]


def test_one_feasible_node_is_taken_without_scoring() -> None:
    plugins = [named(SaysPreScore, "A"), named(SaysScore, "B", answer=RuntimeError("not to be asked"))]
    cycle = Cycle(plugins, [node("only")])
    decision = cycle.decide(P)
    assert (decision.node, decision.ties, decision.scores) == ("only", 1, [])
    assert cycle.plugin("A").asked == cycle.plugin("B").asked == []


def test_without_score_plugins_every_node_is_worth_the_same() -> None:
    decision = Cycle([], NODES).decide(P)
    assert decision.totals.tolist() == [1, 1, 1]
    assert decision.ties == 3


# -- answers that make no sense --

SCORE = 'running Score plugins: plugin "S" failed with: plugin S failed in Score for pod default/p: '
RANGE = "it should in the range of [0, 100] after normalizing"
NORMALIZE = "running Normalize on Score plugins: plugin S failed in NormalizeScore for pod default/p: "


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (None, "scores must be an array of numbers, got NoneType"),
        ([1, 2, 3], "scores must be an array of numbers, got list"),
        (np.array(["a", "b", "c"]), "the score of node a is 'a'; return a whole number, 0 to 100"),
        (np.array([1, None, 3]), "the score of node b is None; return a whole number, 0 to 100"),
        (scores(1, 2), "got scores of shape (2,) for 3 nodes"),
        (np.zeros((3, 2)), "got scores of shape (3, 2) for 3 nodes"),
        (scores(1, np.nan, 3, dtype=float), "the score of node b is nan; return a whole number, 0 to 100"),
        (scores(1, np.inf, 3, dtype=float), "the score of node b is inf; return a whole number, 0 to 100"),
        (scores(1, 1e30, 3, dtype=float), "the score of node b is 1e+30; return a whole number, 0 to 100"),
        (
            np.array([1, 2**63, 3], np.uint64),
            "the score of node b is 9223372036854775808; return a whole number, 0 to 100",
        ),
        (scores(0, 101, 0), f'plugin "S" returns an invalid score 101, {RANGE}'),
        (scores(0, -1, 500), f'plugin "S" returns an invalid score -1, {RANGE}'),
        (KeyError("load"), "KeyError: 'load'"),
    ],
)
def test_scores_that_make_no_sense_fail_the_pod_and_name_the_plugin(answer: Any, complaint: str) -> None:
    decision = Cycle([named(SaysScore, "S", answer=answer)], NODES).decide(P)
    assert decision.node is None
    assert decision.status.is_error
    assert decision.status.plugin == "S"
    assert decision.message.startswith(SCORE)
    assert decision.message.endswith(complaint)


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        (None, "None"),
        ("100", "'100'"),
        (np.nan, "nan"),
        (float("inf"), "inf"),
        (10**30, f"1{'0' * 30}"),
        (10**400, f"1{'0' * 56}..."),
        pytest.param(10**5000, "a number of thousands of digits", id="beyond what Python writes"),
        ([1, 2], "[1, 2]"),
        (1j, "1j"),
    ],
)
@pytest.mark.parametrize("beside", [1, 1.5, None], ids=["whole", "fraction", "the same"])
def test_a_score_of_one_node_is_told_with_the_node(answer: Any, shown: str, beside: Any) -> None:
    odd = named(
        SaysScoreNode, "S", answer=lambda state, pod, node: answer if node.name == "b" or not beside else beside
    )
    decision = Cycle([odd], NODES).decide(P)
    assert decision.status.is_error
    name = "b" if beside else "a"
    assert (
        decision.message == f"{SCORE}ValueError: the score of node {name} is {shown}; return a whole number, 0 to 100"
    )


def test_a_score_of_one_node_that_is_raised_is_told() -> None:
    decision = Cycle([named(SaysScoreNode, "S", answer=KeyError("load"))], NODES).decide(P)
    assert decision.message == f"{SCORE}KeyError: 'load'"


@pytest.mark.parametrize(
    "normal",
    [
        lambda raw: None,
        lambda raw: raw[:1],
        lambda raw: raw / 0.0,
        lambda raw: raw.tolist(),
        lambda raw: raw["zone"],
        lambda raw: raw.__imul__(2),
    ],
    ids=["nothing", "too few", "infinite", "a list", "raises", "writes into the raw scores"],
)
def test_normalising_into_nonsense_fails_the_pod_and_names_the_plugin(normal: Any) -> None:
    plugin = named(SaysScore, "S", answer=scores(1, 2, 3), normal=staticmethod(normal))
    with np.errstate(divide="ignore"):
        decision = Cycle([plugin], NODES).decide(P)
    assert decision.status.is_error
    assert decision.message.startswith(NORMALIZE)


def test_floats_are_cut_not_rounded_and_truths_count_as_numbers() -> None:
    plugins = [
        named(SaysScore, "A", answer=scores(1.9, 2.1, 0.5, dtype=float)),
        named(SaysScore, "B", answer=np.array([True, False, True])),
    ]
    assert Cycle(plugins, NODES).decide(P).totals.tolist() == [2, 2, 1]


@pytest.mark.parametrize(
    ("plugin", "point"),
    [
        (named(SaysPreScore, "X", answer=RuntimeError("broken")), 'running PreScore plugin "X": '),
        (named(SaysPreScore, "X", answer=True), 'running PreScore plugin "X": '),
    ],
)
def test_a_pre_score_that_breaks_is_named(plugin: type[Plugin], point: str) -> None:
    decision = Cycle([plugin], NODES).decide(P)
    assert decision.status.is_error
    assert decision.message.startswith(f"{point}plugin X failed in PreScore for pod default/p: ")


# -- the winner --


@pytest.mark.parametrize(("totals", "winner"), [([1, 5, 3], 1), ([7], 0), ([0, 0, 1], 2), ([-3, -1, -2], 1)])
def test_the_highest_total_wins(totals: list[int], winner: int) -> None:
    assert pick(scores(*totals), scramble(3, 9)) == (winner, 1)


def test_a_tie_is_broken_by_seed_and_cycle_alone() -> None:
    tied = scores(1, 5, 3, 5, 5)
    for seed in range(5):
        for cycle in range(50):
            chosen, ties = pick(tied, scramble(seed, cycle))
            assert (chosen in (1, 3, 4), ties) == (True, 3)
            assert pick(tied, scramble(seed, cycle)) == (chosen, ties)
    assert len({tuple(pick(tied, scramble(seed, cycle))[0] for cycle in range(20)) for seed in range(5)}) == 5


def test_ties_are_broken_evenly() -> None:
    chosen = Counter(pick(scores(5, 5, 5, 5), scramble(0, cycle))[0] for cycle in range(4000))
    assert all(900 < count < 1100 for count in chosen.values())


def test_the_mixing_repeats_and_fills_64_bits() -> None:
    numbers = [scramble(0, number) for number in range(1000)]
    assert numbers == [scramble(0, number) for number in range(1000)]
    assert len(set(numbers)) == 1000
    assert max(numbers) < 2**64
    assert min(number.bit_length() for number in numbers[:3]) > 32
