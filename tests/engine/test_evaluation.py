"""One cycle from PreFilter to PostFilter: what each code means at each point, and what each error says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bayplan.framework.results import Nomination, PostFilterResult, PreFilterResult
from bayplan.framework.status import SKIP, SUCCESS, Code, Status, failed, unresolvable, unschedulable
from bayplan.testing import cluster, node, pod
from tests.engine.support import (
    Cycle,
    SaysFilter,
    SaysPostFilter,
    SaysPreFilter,
    SaysPreScore,
    SaysScore,
    SaysScoreNode,
    named,
)

NODES = [node("a"), node("b")]
P = pod("p")
UNS, UUR = unschedulable("full"), unresolvable("wrong")
PENDING, WAIT, ERROR = Status(Code.PENDING, ("not yet",)), Status(Code.WAIT), failed("the disk is gone")
RAISES = RuntimeError("boom")


def raised(point: str) -> str:
    return f"plugin A failed in {point} for pod default/p: RuntimeError: boom"


# -- PreFilter --


@pytest.mark.parametrize(
    ("answer", "later_asked", "filters_asked", "post_filter_asked", "code", "message"),
    [
        (None, True, True, True, Code.UNSCHEDULABLE, "0/2 nodes are available: 2 no."),
        (SUCCESS, True, True, True, Code.UNSCHEDULABLE, "0/2 nodes are available: 2 no."),
        (SKIP, True, False, False, Code.SUCCESS, ""),
        (UNS, True, False, True, Code.UNSCHEDULABLE, "0/2 nodes are available: full."),
        (UUR, False, False, True, Code.UNSCHEDULABLE, "0/2 nodes are available: wrong."),
        (PENDING, False, False, False, Code.ERROR, 'running PreFilter plugin "A": not yet'),
        (WAIT, False, False, False, Code.ERROR, 'running PreFilter plugin "A": answered Wait'),
        (ERROR, False, False, False, Code.ERROR, 'running PreFilter plugin "A": the disk is gone'),
        (RAISES, False, False, False, Code.ERROR, f'running PreFilter plugin "A": {raised("PreFilter")}'),
    ],
    ids=["None", "Success", "Skip", "UNS", "UUR", "Pending", "Wait", "Error", "raises"],
)
def test_what_pre_filter_may_say(
    answer: Any, later_asked: bool, filters_asked: bool, post_filter_asked: bool, code: Code, message: str
) -> None:
    class Both(SaysPreFilter, SaysFilter):
        filters: list[Any]

        def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
            self.filters = [*getattr(self, "filters", []), node.name]
            return unschedulable("no")

    cycle = Cycle(
        [named(Both, "A", answer=answer), named(SaysPreFilter, "Later"), named(SaysPostFilter, "Post", answer=UNS)],
        NODES,
    )
    decision = cycle.decide(P)
    assert bool(cycle.plugin("Later").asked) is later_asked
    assert hasattr(cycle.plugin("A"), "filters") is filters_asked
    assert bool(cycle.plugin("Post").asked) is post_filter_asked
    assert decision.status.code is code
    assert decision.message == (f"{message} full" if post_filter_asked else message)


def test_of_several_unschedulable_noes_the_last_one_is_told_and_all_nodes_have_it() -> None:
    plugins = [
        named(SaysPreFilter, "A", answer=unschedulable("first")),
        named(SaysPreFilter, "B", answer=unschedulable("last")),
    ]
    decision = Cycle(plugins, NODES).decide(P)
    assert decision.message == "0/2 nodes are available: last."
    assert decision.diagnosis is not None
    assert decision.diagnosis.rows_with(Code.UNSCHEDULABLE).tolist() == [0, 1]
    assert decision.diagnosis.unschedulable_plugins == {"B"}


@pytest.mark.parametrize(("answer", "rejectors"), [(UNS, {"A", "N"}), (UUR, {"A"})])
def test_who_narrowed_before_a_no_is_asked_again_after_an_unschedulable_one_only(
    answer: Status, rejectors: set[str]
) -> None:
    plugins = [
        named(SaysPreFilter, "N", answer=PreFilterResult(frozenset("a"))),
        named(SaysPreFilter, "A", answer=answer),
    ]
    decision = Cycle(plugins, NODES).decide(P)
    assert decision.diagnosis is not None
    assert decision.diagnosis.unschedulable_plugins == rejectors


# -- Filter --


@pytest.mark.parametrize(
    ("answer", "next_asked", "post_filter_asked", "code", "message"),
    [
        (None, True, False, Code.SUCCESS, ""),
        (SUCCESS, True, False, Code.SUCCESS, ""),
        (UNS, False, True, Code.UNSCHEDULABLE, "0/2 nodes are available: 2 full. full"),
        (UUR, False, True, Code.UNSCHEDULABLE, "0/2 nodes are available: 2 wrong. full"),
        (PENDING, False, True, Code.UNSCHEDULABLE, "0/2 nodes are available: 2 not yet. full"),
        (SKIP, False, False, Code.ERROR, 'running "A" filter plugin: answered Skip'),
        (WAIT, False, False, Code.ERROR, 'running "A" filter plugin: answered Wait'),
        (ERROR, False, False, Code.ERROR, 'running "A" filter plugin: the disk is gone'),
        (RAISES, False, False, Code.ERROR, f'running "A" filter plugin: {raised("Filter")}'),
    ],
    ids=["None", "Success", "UNS", "UUR", "Pending", "Skip", "Wait", "Error", "raises"],
)
def test_what_filter_may_say(answer: Any, next_asked: bool, post_filter_asked: bool, code: Code, message: str) -> None:
    plugins = [
        named(SaysFilter, "A", answer=answer),
        named(SaysFilter, "Next"),
        named(SaysPostFilter, "Post", answer=UNS),
    ]
    cycle = Cycle(plugins, NODES)
    decision = cycle.decide(P)
    assert bool(cycle.plugin("Next").asked) is next_asked
    assert bool(cycle.plugin("Post").asked) is post_filter_asked
    assert (decision.status.code, decision.message) == (code, message)


# -- PostFilter --

HELP = PostFilterResult(Nomination("a"), (pod("victim").on("a").build(),))
GIVE_UP = PostFilterResult(Nomination(""), status=unschedulable("nothing helps"))
STOP = PostFilterResult(Nomination(""), status=unresolvable("stop"))


@pytest.mark.parametrize(
    ("answer", "next_asked", "nominated", "message"),
    [
        (HELP, False, "a", ""),
        (None, False, None, ""),
        (UNS, True, None, "full, last"),
        (PENDING, True, None, "not yet, last"),
        (GIVE_UP, True, "", "nothing helps, last"),
        (UUR, False, None, "wrong"),
        (STOP, False, "", "stop"),
        (SKIP, False, None, "answered Skip"),
        (WAIT, False, None, "answered Wait"),
        (ERROR, False, None, "the disk is gone"),
        (RAISES, False, None, raised("PostFilter")),
        (7, False, None, "expected None, a Reason or a Status, got int: 7"),
    ],
    ids=["Success", "None", "UNS", "Pending", "clears", "UUR", "ends", "Skip", "Wait", "Error", "raises", "junk"],
)
def test_what_post_filter_may_say(answer: Any, next_asked: bool, nominated: str | None, message: str) -> None:
    plugins = [
        named(SaysFilter, "F", answer=unschedulable("no")),
        named(SaysPostFilter, "A", answer=answer),
        named(SaysPostFilter, "Next", answer=unschedulable("last")),
    ]
    cycle = Cycle(plugins, NODES)
    decision = cycle.decide(P)
    assert decision.status.code is Code.UNSCHEDULABLE, "the pod stays unschedulable whatever PostFilter says"
    assert bool(cycle.plugin("Next").asked) is next_asked
    assert (decision.nomination.node_name if decision.nomination else None) == nominated
    text = "0/2 nodes are available: 2 no."
    assert decision.message.startswith(text)
    assert decision.message.removeprefix(text).lstrip().endswith(message)
    assert bool(decision.message.removeprefix(text)) is bool(message)
    assert [victim.name for victim in decision.victims] == (["victim"] if answer is HELP else [])


@pytest.mark.parametrize(
    ("last", "nominated"),
    [(UNS, ""), (GIVE_UP, ""), (HELP, "a"), (None, None), (UUR, None), (ERROR, None)],
    ids=["UNS keeps it", "UNS+clear", "Success replaces it", "Success", "UUR", "Error"],
)
def test_an_earlier_nomination_stands_unless_a_later_plugin_ends_the_search(last: Any, nominated: str | None) -> None:
    plugins = [
        named(SaysFilter, "F", answer=UNS),
        named(SaysPostFilter, "A", answer=GIVE_UP),
        named(SaysPostFilter, "B", answer=last),
    ]
    decision = Cycle(plugins, NODES).decide(P)
    assert (decision.nomination.node_name if decision.nomination else None) == nominated


def test_without_post_filter_plugins_a_nomination_is_cleared() -> None:
    decision = Cycle([named(SaysFilter, "F", answer=UNS)], NODES).decide(P)
    assert decision.nomination == Nomination("")


def test_post_filter_runs_even_when_no_node_could_be_helped() -> None:
    cycle = Cycle([named(SaysFilter, "F", answer=UUR), named(SaysPostFilter, "Post", answer=UNS)], NODES)
    cycle.decide(P)
    ((_, _, diagnosis),) = cycle.plugin("Post").asked
    assert diagnosis.rows_with(Code.UNSCHEDULABLE).tolist() == []


# -- PreScore --


@pytest.mark.parametrize(
    ("answer", "scored", "message"),
    [
        (None, True, ""),
        (SUCCESS, True, ""),
        (SKIP, False, ""),
        (UNS, False, 'running PreScore plugin "A": full'),
        (UUR, False, 'running PreScore plugin "A": wrong'),
        (PENDING, False, 'running PreScore plugin "A": not yet'),
        (WAIT, False, 'running PreScore plugin "A": answered Wait'),
        (ERROR, False, 'running PreScore plugin "A": the disk is gone'),
        (RAISES, False, f'running PreScore plugin "A": {raised("PreScore")}'),
    ],
    ids=["None", "Success", "Skip", "UNS", "UUR", "Pending", "Wait", "Error", "raises"],
)
def test_what_pre_score_may_say(answer: Any, scored: bool, message: str) -> None:
    class Both(SaysPreScore, SaysScoreNode):
        def score_node(self, state: Any, pod: Any, node: Any) -> Any:
            return 1

    cycle = Cycle([named(Both, "A", answer=answer), named(SaysPostFilter, "Post", answer=UNS)], NODES)
    decision = cycle.decide(P)
    assert bool(decision.scores) is scored
    assert decision.message == message
    assert decision.status.is_error is bool(message)
    assert cycle.plugin("Post").asked == [], "PostFilter is for pods that fit nowhere, not for errors"


# -- before and beside the search --


def test_without_nodes_there_is_nothing_to_ask() -> None:
    cycle = Cycle([named(SaysPreFilter, "A"), named(SaysPostFilter, "Post", answer=UNS)], [])
    decision = cycle.decide(P)
    assert (decision.status.code, decision.message) == (Code.UNRESOLVABLE, "no nodes available to schedule pods")
    assert decision.diagnosis is None
    assert cycle.plugin("A").asked == cycle.plugin("Post").asked == []


def test_a_nominated_node_that_fits_is_taken_without_search_or_scoring() -> None:
    plugins = [named(SaysFilter, "F"), named(SaysScore, "S", answer=np.array([100, 0]))]
    cycle = Cycle(plugins, NODES)
    cycle.settings.percentage, cycle.settings.start = 50, 1
    decision = cycle.decide(P.nominated("b"))
    assert decision.node == "b"
    assert [node.name for _, _, node in cycle.plugin("F").asked] == ["b"]
    assert cycle.plugin("S").asked == []
    assert cycle.settings.start == 1


@pytest.mark.parametrize("nominated", ["a", "gone"])
def test_a_nominated_node_that_does_not_fit_means_the_full_search(nominated: str) -> None:
    def not_a(state: Any, pod: Any, node: Any) -> Any:
        return UNS if node.name == "a" else None

    cycle = Cycle([named(SaysFilter, "F", answer=not_a)], NODES)
    assert cycle.decide(P.nominated(nominated)).node == "b"


def test_a_nominated_node_outside_the_narrowed_set_is_not_taken() -> None:
    cycle = Cycle([named(SaysPreFilter, "A", answer=PreFilterResult(frozenset("a")))], NODES)
    assert cycle.decide(P.nominated("b")).node == "a"


def test_a_nominated_node_outside_the_narrowed_set_is_told_what_its_filters_say() -> None:
    narrows = named(SaysPreFilter, "A", answer=PreFilterResult(frozenset("a")))
    cycle = Cycle([narrows, named(SaysFilter, "F", answer=unschedulable("node(s) were no good"))], NODES)
    told = "0/2 nodes are available: 2 node(s) were no good."
    assert cycle.decide(P.nominated("b")).message.startswith(told)
    other = "0/2 nodes are available: 1 node(s) didn't satisfy plugin(s) [A], 1 node(s) were no good."
    assert cycle.decide(P).message.startswith(other)


def test_deciding_changes_nothing() -> None:
    cycle = Cycle([named(SaysFilter, "F")], NODES, [pod("x").on("a")])
    before = cycle.cache.generation, cycle.cache.pod_count
    first, second = cycle.decide(P), cycle.decide(P)
    assert first.node == second.node
    assert (cycle.cache.generation, cycle.cache.pod_count) == before


def test_the_time_of_each_point_is_kept() -> None:
    assert set(Cycle([], NODES).decide(P).timings) == {"PreFilter", "Filter", "Score"}
    rejected = Cycle([named(SaysFilter, "F", answer=UNS)], NODES).decide(P)
    assert set(rejected.timings) == {"PreFilter", "Filter", "PostFilter"}


# -- partial searches --


def crowd(*plugins: Any, count: int = 300) -> Cycle:
    cycle = Cycle(plugins, [])
    cycle.cache = cluster(node(f"n{number}") for number in range(count))
    cycle.settings.order = cycle.cache.node_order
    return cycle


def test_a_share_of_the_nodes_is_searched_and_the_next_search_goes_on_from_there() -> None:
    cycle = crowd(named(SaysScoreNode, "S", answer=1))
    cycle.settings.percentage = 50
    starts, seen = [], []
    for _ in range(3):
        decision = cycle.decide(P)
        seen.append(decision.feasible.tolist())
        starts.append(cycle.settings.start)
    assert starts == [150, 0, 150]
    assert seen == [list(range(150)), list(range(150, 300)), list(range(150))]


def test_without_anybody_to_score_the_first_feasible_node_is_enough() -> None:
    cycle = crowd()
    cycle.settings.percentage = 50
    assert [cycle.decide(P).node for _ in range(3)] == ["n0", "n1", "n2"]


def test_the_share_is_taken_of_what_pre_filter_left() -> None:
    half = PreFilterResult(frozenset(f"n{number}" for number in range(250)))
    cycle = crowd(named(SaysPreFilter, "A", answer=half), named(SaysScoreNode, "S", answer=1), count=500)
    cycle.settings.percentage = 60
    assert len(cycle.decide(P).feasible) == 150


def test_by_default_all_nodes_are_searched() -> None:
    cycle = crowd(named(SaysScoreNode, "S", answer=1))
    assert len(cycle.decide(P).feasible) == 300
    assert cycle.settings.start == 0
