"""PreFilter and Filter: narrowing, first noes, nominated pods, partial searches, and answers that make no sense."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.engine.partial_search import how_many, stop_early
from bayplan.framework.diagnosis import FEASIBLE, UNVISITED, Diagnosis
from bayplan.framework.plugin import PreFilterExtensions
from bayplan.framework.results import PreFilterResult, Verdicts
from bayplan.framework.status import SKIP, Code, Reason, Status, unresolvable, unschedulable
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.testing import cluster, node, pod
from tests.engine.support import Cycle, Nominated, SaysFilter, SaysFilterTable, SaysPreFilter, named

NODES = [node("a"), node("b"), node("c")]
P = pod("p")
NO = Reason(Code.UNSCHEDULABLE, "node(s) were full")
NEVER = Reason(Code.UNRESOLVABLE, "node(s) were wrong")


def only(*names: str) -> PreFilterResult:
    return PreFilterResult(frozenset(names))


def test_who_narrows_may_say_what_the_nodes_outside_lack() -> None:
    near = PreFilterResult(frozenset({"a", "b"}), "node(s) are far away")
    cycle = Cycle([named(SaysPreFilter, "A", answer=near), named(SaysFilter, "F", answer=NO)], NODES)
    assert cycle.decide(P).message == "0/3 nodes are available: 1 node(s) are far away, 2 node(s) were full."
    both = [named(SaysPreFilter, "A", answer=near), named(SaysPreFilter, "B", answer=only("c"))]
    assert Cycle(both, NODES).decide(P).message == (
        "0/3 nodes are available: node(s) didn't satisfy plugin(s) [A B] simultaneously, node(s) are far away."
    )


def verdicts(cycle: Cycle, decision: Any) -> dict[str, str]:
    found: Diagnosis = decision.diagnosis
    statuses = {name: found.status_of(row) for row, name in enumerate(cycle.cache.nodes.names)}
    return {name: status.message for name, status in statuses.items() if status is not None}


# -- PreFilter narrows --


@pytest.mark.parametrize(
    ("answers", "outside", "inside"),
    [
        ({"A": only("a", "b")}, "node(s) didn't satisfy plugin(s) [A]", ["a", "b"]),
        ({"A": only("a", "b"), "B": only("b", "c")}, "node(s) didn't satisfy plugin(s) [A B]", ["b"]),
        ({"B": only("b"), "A": only("b")}, "node(s) didn't satisfy plugin(s) [A B]", ["b"]),
        ({"A": only("a"), "B": None}, "node(s) didn't satisfy plugin(s) [A]", ["a"]),
        ({"A": only("a"), "B": SKIP}, "node(s) didn't satisfy plugin(s) [A]", ["a"]),
        ({"A": only("a", "nobody")}, "node(s) didn't satisfy plugin(s) [A]", ["a"]),
    ],
)
def test_node_sets_are_intersected_and_nodes_outside_have_their_reason(
    answers: dict[str, Any], outside: str, inside: list[str]
) -> None:
    plugins = [named(SaysPreFilter, name, answer=answer) for name, answer in answers.items()]
    cycle = Cycle([*plugins, named(SaysFilter, "F", answer=NO)], NODES)
    decision = cycle.decide(P)
    told = verdicts(cycle, decision)
    assert [name for name, text in told.items() if text == NO.text] == inside
    assert {text for name, text in told.items() if name not in inside} == {outside}
    assert [node.name for _, _, node in cycle.plugin("F").asked] == inside
    assert decision.diagnosis is not None
    row = next(row for row in range(3) if cycle.cache.nodes.names[row] not in inside)
    status = decision.diagnosis.status_of(row)
    assert status is not None
    assert status.code is Code.UNRESOLVABLE
    narrowing = {name for name, answer in answers.items() if isinstance(answer, PreFilterResult)}
    assert decision.diagnosis.unschedulable_plugins == {*narrowing, "F"}


@pytest.mark.parametrize(
    ("answers", "message"),
    [
        ({"A": only()}, "node(s) didn't satisfy plugin A"),
        ({"A": only("a"), "B": only("b")}, "node(s) didn't satisfy plugin(s) [A B] simultaneously"),
        ({"B": only("a"), "A": only("b")}, "node(s) didn't satisfy plugin(s) [A B] simultaneously"),
    ],
)
def test_an_empty_intersection_ends_the_cycle_at_once(answers: dict[str, Any], message: str) -> None:
    plugins = [named(SaysPreFilter, name, answer=answer) for name, answer in answers.items()]
    cycle = Cycle([*plugins, named(SaysPreFilter, "Later"), named(SaysFilter, "F")], NODES)
    decision = cycle.decide(P)
    assert decision.message == f"0/3 nodes are available: {message}."
    assert decision.diagnosis is not None
    assert decision.diagnosis.unschedulable_plugins == set(answers)
    assert decision.diagnosis.rows_with(Code.UNRESOLVABLE).tolist() == [0, 1, 2]
    assert cycle.plugin("Later").asked == cycle.plugin("F").asked == []


def test_a_node_that_is_gone_leaves_nothing_to_search() -> None:
    cycle = Cycle([named(SaysPreFilter, "A", answer=only("gone"))], NODES)
    assert cycle.decide(P).message == "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [A]."


def test_few_nodes_are_judged_as_many_are() -> None:
    says = np.array([0, 1, 2, 0, 1, 0, 0, 0], np.uint8)
    table = named(SaysFilterTable, "T", reasons=(NO, NEVER), answer=lambda state, pod, nodes: says_of(nodes))

    def says_of(nodes: Any) -> Any:
        return np.array([says[int(name[1:])] for name in nodes.names], np.uint8)

    nodes = [node(f"n{number}") for number in range(8)]
    for names in (["n0", "n1", "n2"], [f"n{number}" for number in range(7)]):
        cycle = Cycle([named(SaysPreFilter, "A", answer=only(*names)), table], nodes)
        decision = cycle.decide(P)
        feasible = [cycle.cache.nodes.names[row] for row in decision.feasible]
        assert feasible == [name for name in names if says[int(name[1:])] == 0]
        told = verdicts(cycle, decision)
        assert {name for name, text in told.items() if text == NEVER.text} == {"n2"}


# -- Filter --


@pytest.mark.parametrize("form", [SaysFilter, SaysFilterTable])
def test_only_the_first_no_of_a_node_counts(form: Any) -> None:
    def says(state: Any, pod: Any, nodes: Any) -> Any:
        if form is SaysFilter:
            return NO if nodes.name == "b" else None
        return np.array([name == "b" for name in nodes.names], np.uint8)

    first = named(form, "First", reasons=(NO,), answer=says)
    second = named(SaysFilter, "Second", answer=unresolvable("node(s) were wrong", "node(s) were far"))
    cycle = Cycle([first, second], NODES)
    decision = cycle.decide(P)
    assert decision.message == (
        "0/3 nodes are available: 1 node(s) were full, 2 node(s) were far, 2 node(s) were wrong."
    )
    assert [node.name for _, _, node in cycle.plugin("Second").asked] == ["a", "c"]
    assert decision.diagnosis is not None
    assert decision.diagnosis.unschedulable_plugins == {"First", "Second"}


def test_reasons_made_on_the_spot_are_told_like_others() -> None:
    answer = Verdicts(np.array([2, 0, 1]), (NO, unresolvable("node(s) were at 93%")))
    cycle = Cycle([named(SaysFilterTable, "T", answer=answer)], NODES)
    decision = cycle.decide(P)
    assert verdicts(cycle, decision) == {"a": "node(s) were at 93%", "c": "node(s) were full"}
    assert decision.node == "b"


def test_a_plugin_that_waits_for_something_else_is_pending_too() -> None:
    cycle = Cycle([named(SaysFilter, "A", answer=Status(Code.PENDING, ("not yet",)))], NODES)
    decision = cycle.decide(P)
    assert decision.diagnosis is not None
    assert decision.diagnosis.unschedulable_plugins == decision.diagnosis.pending_plugins == {"A"}
    assert decision.diagnosis.rows_with(Code.UNSCHEDULABLE).tolist() == []


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [
        (None, "filter must return an array of integers, got NoneType"),
        ([0, 0, 0], "filter must return an array of integers, got list"),
        (np.zeros(3), "filter must return an array of integers, got float64"),
        (np.zeros(3, np.bool_), "filter must return an array of integers, got bool"),
        (np.full(3, np.nan), "filter must return an array of integers, got float64"),
        (np.zeros(2, np.uint8), "filter returned shape (2,) for 3 nodes"),
        (np.zeros((3, 1), np.uint8), "filter returned shape (3, 1) for 3 nodes"),
        (np.array([0, 2, 0]), "filter returned code 2, but has 1 reasons"),
        (np.array([0, -1, 0]), "filter returned code -1, but has 1 reasons"),
        (Verdicts(np.array([0, 3, 0]), (NO,)), "filter returned code 3, but has 1 reasons"),
        (RuntimeError("broken"), "RuntimeError: broken"),
    ],
)
def test_a_table_form_that_talks_nonsense_fails_its_pod_and_is_named(answer: Any, complaint: str) -> None:
    decision = Cycle([named(SaysFilterTable, "T", reasons=(NO,), answer=answer)], NODES).decide(P)
    assert decision.status.is_error
    assert decision.status.plugin == "T"
    assert decision.message.startswith('running "T" filter plugin: plugin T failed in Filter for pod default/p: ')
    assert decision.message.endswith(complaint)


@pytest.mark.parametrize(
    "answer",
    [True, 0, "no", [NO], RuntimeError("broken"), lambda *about: Status(2, ("no",))],  # type: ignore[arg-type]
)
def test_a_one_node_form_that_talks_nonsense_fails_its_pod_and_is_named(answer: Any) -> None:
    decision = Cycle([named(SaysFilter, "N", answer=answer)], NODES).decide(P)
    assert decision.status.is_error
    assert decision.message.startswith('running "N" filter plugin: plugin N failed in Filter for pod default/p: ')


# -- nominated pods: two passes --

ROOMY = node("n").cpu(2)
WAITING = pod("waiting").priority(10).cpu(2).nominated("n")


@pytest.mark.parametrize(
    ("incoming", "node_name"),
    [
        (P.priority(5).cpu(1), None),
        (P.priority(10).cpu(1), None),
        (P.priority(11).cpu(1), "n"),
        (WAITING, "n"),  # the pod itself is not counted twice
        (P.priority(5), "n"),
    ],
)
def test_pods_leave_room_for_nominated_ones_of_at_least_their_priority(incoming: Any, node_name: str | None) -> None:
    decision = Cycle([NodeResourcesFit], [ROOMY], nominated=Nominated(n=[WAITING])).decide(incoming)
    assert decision.node == node_name
    if node_name is None:
        assert decision.message == "0/1 nodes are available: 1 Insufficient cpu."
        assert decision.diagnosis is not None
        assert decision.diagnosis.rows_with(Code.UNSCHEDULABLE).tolist() == [0]


def test_a_pod_must_also_fit_without_the_nominated_ones() -> None:
    """They may never come: a pod that needs them as company is not placed on their word alone."""

    def needs_company(state: Any, pod: Any, node: Any) -> Any:
        return None if any(other.name == "waiting" for other in node.pods) else NO

    cycle = Cycle([named(SaysFilter, "Company", answer=needs_company)], [ROOMY], nominated=Nominated(n=[WAITING]))
    decision = cycle.decide(P)
    assert decision.node is None
    assert decision.message == "0/1 nodes are available: 1 node(s) were full."


def test_the_passes_stop_at_the_first_no_and_a_second_pass_needs_a_first() -> None:
    cycle = Cycle([named(SaysFilter, "A", answer=NO)], [ROOMY], nominated=Nominated(n=[WAITING]))
    cycle.filters.fits(cycle.decide(P).state, P.build(), cycle.cache.nodes.node(0))
    seen = [sorted(other.name for other in node.pods) for _, _, node in cycle.plugin("A").asked]
    assert seen[-1] == ["waiting"], "a no in the first pass is final"
    cycle.plugin("A").answer = None
    cycle.plugin("A").asked.clear()
    cycle.filters.fits(cycle.decide(P).state, P.build(), cycle.cache.nodes.node(0))
    assert [len(list(node.pods)) for _, _, node in cycle.plugin("A").asked[-2:]] == [1, 0]


class Followed(SaysPreFilter, PreFilterExtensions):
    """Follows imagined pods, and breaks if told to."""

    breaks = False

    def add_pod(self, state: Any, pod: Any, other: Any, node: Any) -> None:
        self.asked.append(("add", other.name))
        if self.breaks:
            raise ValueError("lost count")

    def remove_pod(self, state: Any, pod: Any, other: Any, node: Any) -> None:
        self.asked.append(("remove", other.name))
        if self.breaks:
            raise ValueError("lost count")


def test_plugins_follow_nominated_pods_unless_they_sit_the_cycle_out() -> None:
    for answer, expected in ((None, [("add", "waiting")]), (SKIP, [])):
        cycle = Cycle([named(Followed, "F", answer=answer)], [ROOMY], nominated=Nominated(n=[WAITING]))
        cycle.decide(P)
        assert [each for each in cycle.plugin("F").asked if each[0] == "add"] == expected


def test_a_plugin_that_cannot_follow_is_named_and_fails_the_pod() -> None:
    cycle = Cycle([named(Followed, "F", breaks=True)], [ROOMY], nominated=Nominated(n=[WAITING]))
    decision = cycle.decide(P)
    assert decision.status.is_error
    assert decision.message == (
        'running AddPod on PreFilter plugin "F": plugin F failed in AddPod for pod default/p: ValueError: lost count'
    )


def test_only_the_plugins_whose_no_stands_are_asked_again_later() -> None:
    """The first plugin's no fell away when the node was looked at together with its nominated pod."""

    def alone(state: Any, pod: Any, node: Any) -> Any:
        return None if list(node.pods) else NO

    plugins = [named(SaysFilter, "A", answer=alone), named(SaysFilter, "B", answer=NEVER)]
    decision = Cycle(plugins, [ROOMY], nominated=Nominated(n=[WAITING])).decide(P)
    assert decision.message == "0/1 nodes are available: 1 node(s) were wrong."
    assert decision.diagnosis is not None
    assert decision.diagnosis.unschedulable_plugins == {"B"}


# -- how far to search --


@pytest.mark.parametrize(
    ("total", "percentage", "enough"),
    [
        *zip(
            (99, 100, 200, 250, 500, 1000, 2000, 5000, 5625, 10000, 15000),
            [0] * 11,
            (99, 100, 100, 120, 230, 420, 680, 500, 281, 500, 750),
            strict=True,
        ),
        (99, 50, 99),
        (150, 50, 100),
        (1000, 30, 300),
        (1000, 100, 1000),
    ],
)
def test_how_many_feasible_nodes_are_enough(total: int, percentage: int, enough: int) -> None:
    assert how_many(total, percentage) == enough


def searched(first_no: list[int], start: int, enough: int, implicit: frozenset[int] = frozenset()) -> Any:
    nodes = cluster(node(f"n{number}") for number in range(len(first_no))).nodes
    statuses = [unresolvable("outside"), unschedulable("full")]
    found = Diagnosis(nodes, np.array(first_no, np.int32), statuses, implicit=implicit)
    feasible, following = stop_early(found, np.arange(len(first_no)), start, enough)
    return feasible.tolist(), following, found.first_no.tolist()


F, U = FEASIBLE, UNVISITED


@pytest.mark.parametrize(
    ("first_no", "start", "enough", "feasible", "following", "seen"),
    [
        # the search ends on finding one more than enough, which is dropped with everything behind it
        ([F, 1, F, F, F], 0, 2, [0, 2], 3, [F, 1, F, U, U]),
        # it starts where the last one ended and goes round
        ([F, 1, F, F, F], 3, 2, [3, 4], 0, [U, U, U, F, F]),
        ([F, F, 1, F, F], 4, 2, [0, 4], 1, [F, U, U, U, F]),
        # noes that were met on the way count for where the next search starts
        ([1, 1, F, F, F], 0, 1, [2], 3, [1, 1, F, U, U]),
        # fewer feasible than enough: all nodes were seen
        ([F, 1, 1], 1, 2, [0], 1, [F, 1, 1]),
    ],
)
def test_a_search_that_stops_early_sees_only_so_much(
    first_no: list[int], start: int, enough: int, feasible: list[int], following: int, seen: list[int]
) -> None:
    assert searched(first_no, start, enough) == (feasible, following, seen)


def test_nodes_outside_do_not_move_the_start() -> None:
    assert searched([0, 0, F, 1, 1], 0, 2, frozenset({0})) == ([2], 3, [0, 0, F, 1, 1])
