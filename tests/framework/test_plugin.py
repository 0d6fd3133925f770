"""The contract: either form of Filter and Score gives the other, and nonsense fails where it is written."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from bayplan.framework.cycle_state import CycleState
from bayplan.framework.events import Change, On
from bayplan.framework.plugin import EXTENSION_POINTS, FilterPlugin, Plugin, PreBindPlugin, ScorePlugin
from bayplan.framework.promise import Depends, Promise
from bayplan.framework.results import Nomination, PostFilterResult, PreFilterResult, Verdicts, Wait
from bayplan.framework.status import SKIP, Code, Reason, as_status, unresolvable
from bayplan.testing import cluster, node, pod

SMALL = Reason(Code.UNSCHEDULABLE, "node(s) were small")
ODD = Reason(Code.UNRESOLVABLE, "node(s) were odd")

NODES = cluster([node("one").cpu(1), node("two").cpu(2), node("three").cpu(3), node("four").cpu(4)]).nodes
POD = pod("p").build()
STATE = CycleState()


class ByNode(FilterPlugin, ScorePlugin):
    """Both rules in the one-node form."""

    name = "ByNode"
    reasons = (SMALL, ODD)

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        if node.alloc_cpu_milli < 2000:
            return SMALL
        return ODD if node.alloc_cpu_milli % 2000 else None

    def score_node(self, state: Any, pod: Any, node: Any) -> int:
        return int(node.alloc_cpu_milli) // 1000


class ByTable(FilterPlugin, ScorePlugin):
    """The same in the all-nodes form."""

    name = "ByTable"
    reasons = (SMALL, ODD)

    def filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        cpu = nodes.alloc_cpu_milli
        return np.select([cpu < 2000, cpu % 2000 > 0], [self.code(SMALL), self.code(ODD)], 0).astype(np.uint8)

    def score(self, state: Any, pod: Any, nodes: Any) -> Any:
        return nodes.alloc_cpu_milli // 1000


class OnTheSpot(ByTable):
    """Reasons that are made while filtering."""

    name = "OnTheSpot"

    def filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        return Verdicts(super().filter(state, pod, nodes), (SMALL, unresolvable(ODD.text)))


EXPECTED = [SMALL, None, ODD, None]


@pytest.mark.parametrize("plugin", [ByNode(), ByTable(), OnTheSpot()])
def test_the_one_node_form_is_there_whichever_was_written(plugin: Any) -> None:
    answers = [as_status(plugin.filter_node(STATE, POD, NODES.node(row))) for row in range(4)]
    assert answers == [as_status(reason) for reason in EXPECTED]
    assert [plugin.score_node(STATE, POD, NODES.node(row)) for row in range(4)] == [1, 2, 3, 4]


@pytest.mark.parametrize("plugin", [ByNode(), ByTable(), OnTheSpot()])
def test_the_all_nodes_form_is_there_whichever_was_written(plugin: Any) -> None:
    answer = plugin.filter(STATE, POD, NODES)
    codes, reasons = (answer.codes, answer.statuses) if isinstance(answer, Verdicts) else (answer, plugin.reasons)
    told = [as_status(reasons[code - 1]) if code else as_status(None) for code in codes.tolist()]
    assert told == [as_status(reason) for reason in EXPECTED]
    assert plugin.score(STATE, POD, NODES).tolist() == [1, 2, 3, 4]


def test_the_class_knows_which_form_is_derived() -> None:
    assert (ByNode._filter_derived, ByNode._score_derived) == (True, True)
    assert (ByTable._filter_derived, ByTable._score_derived) == (False, False)


@pytest.mark.parametrize(
    ("base", "complaint"),
    [
        (FilterPlugin, r"neither filter_node\(state, pod, node\) nor filter\(state, pod, nodes\)"),
        (ScorePlugin, r"neither score_node\(state, pod, node\) nor score\(state, pod, nodes\)"),
    ],
)
def test_a_plugin_with_neither_form_is_refused_when_it_is_defined(base: type[Plugin], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        type("Empty", (base,), {"name": "Empty"})


def test_a_base_without_a_name_may_leave_the_form_to_its_children() -> None:
    base = type("Base", (FilterPlugin,), {})
    child = type("Child", (base,), {"name": "Child", "filter_node": lambda *_: None})
    assert vars(child)["_filter_derived"]


@pytest.mark.parametrize("reasons", [SMALL, [SMALL], ("node(s) were small",)])
def test_reasons_that_are_no_tuple_of_reasons_are_refused_when_they_are_written(reasons: Any) -> None:
    with pytest.raises(TypeError, match=r"Wrong\.reasons is not a tuple of Reason: write reasons = \(MY_REASON,\)"):
        type("Wrong", (ByNode,), {"name": "Wrong", "reasons": reasons})


@pytest.mark.parametrize(
    "codes",
    [np.array([3], np.uint8), np.array([-1]), np.array([], np.uint8), np.array([0, 0]), np.array([math.nan])],
    ids=["a code without a reason", "negative", "none", "two", "NaN"],
)
def test_a_table_form_that_talks_nonsense_about_one_node_is_found_out(codes: Any) -> None:
    plugin = type("Wrong", (ByTable,), {"name": "Wrong", "filter": lambda *_: codes})()
    with pytest.raises(ValueError, match="for one node, and there are 2 reasons"):
        plugin.filter_node(STATE, POD, NODES.node(0))


def test_a_reason_that_was_not_listed_has_no_code() -> None:
    with pytest.raises(ValueError, match="not in tuple"):
        ByNode().code(Reason(Code.UNSCHEDULABLE, "node(s) were blue"))


@pytest.mark.parametrize(
    ("make", "error", "complaint"),
    [
        (lambda: PreFilterResult(["n1"]), TypeError, "node_names is a set of node names"),  # type: ignore[arg-type]
        (lambda: PreFilterResult("n1"), TypeError, "node_names is a set of node names"),  # type: ignore[arg-type]
        (lambda: Verdicts(np.zeros(1, np.uint8), ("no",)), TypeError, "statuses is a tuple"),  # type: ignore[arg-type]
        (lambda: PostFilterResult("n1"), TypeError, "nomination is a Nomination or None"),  # type: ignore[arg-type]
        (lambda: PostFilterResult(None, [POD]), TypeError, "victims is a tuple of pods"),  # type: ignore[arg-type]
        (lambda: PostFilterResult(status=SMALL), TypeError, "status is a Status"),  # type: ignore[arg-type]
        (lambda: PostFilterResult(None, (POD,)), ValueError, "victims without a nomination"),
        (lambda: PostFilterResult(Nomination(""), (POD,)), ValueError, "victims without a nomination"),
        (lambda: Wait("5m"), TypeError, "timeout_s is a number of seconds"),  # type: ignore[arg-type]
        (lambda: Wait(math.nan), TypeError, "timeout_s is a number of seconds"),
        (lambda: Wait(-5), ValueError, "timeout_s is 0 or more seconds, got -5"),
    ],
)
def test_an_answer_made_of_the_wrong_things_fails_where_it_is_made(
    make: Callable[[], Any], error: type[Exception], complaint: str
) -> None:
    with pytest.raises(error, match=complaint):
        make()


def test_a_plugin_that_says_nothing_about_itself_is_asked_about_everything() -> None:
    plugin = ByNode()
    assert tuple(plugin.requeue_on()) == (On("*", Change.ANY),)
    assert plugin.promise(POD.template) is None
    assert (Promise(key=()).filter, Promise(key=()).score) == (Depends.ANYTHING, Depends.ANYTHING)
    assert Promise(key=()).reserves


def test_scores_are_taken_as_they_are_unless_normalize_says_otherwise() -> None:
    scores = np.array([3, 7])
    assert ByNode().normalize(STATE, POD, scores, np.arange(2)) is scores


def test_pre_bind_expects_work_unless_its_pre_flight_says_otherwise() -> None:
    class Quiet(PreBindPlugin):
        name = "Quiet"

    assert Quiet().pre_bind_pre_flight(STATE, POD, "n1") is None
    assert not Quiet.allows_parallel


def test_extension_points_stand_in_the_order_a_pod_meets_them() -> None:
    assert list(EXTENSION_POINTS) == [
        "pre_enqueue",
        "queue_sort",
        "pre_filter",
        "filter",
        "post_filter",
        "pre_score",
        "score",
        "reserve",
        "permit",
        "pre_bind",
        "bind",
        "post_bind",
    ]
    assert all(issubclass(kind, Plugin) for kind in EXTENSION_POINTS.values())


def test_skip_is_a_verdict() -> None:
    assert as_status(SKIP).is_skip
