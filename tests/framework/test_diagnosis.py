"""Why no node fitted, folded into the line that people and autoscalers read: kube-scheduler's text to the byte."""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.framework.diagnosis import FEASIBLE, UNVISITED, Diagnosis, fit_error, histogram
from bayplan.framework.status import Code, Status, unresolvable, unschedulable
from bayplan.testing import cluster, node

CPU = unschedulable("Insufficient cpu")
BOTH = unschedulable("Insufficient cpu", "Insufficient memory")
TAINT = unresolvable("node(s) had untolerated taint(s)")


def diagnosis(*first_no: int, statuses: tuple[Status, ...] = (CPU, BOTH, TAINT)) -> Diagnosis:
    nodes = cluster(node(f"n{number}") for number in range(len(first_no))).nodes
    return Diagnosis(nodes, np.array(first_no, np.int32), list(statuses))


@pytest.mark.parametrize(
    ("total", "reasons", "pre_filter", "post_filter", "text"),
    [
        (
            3,
            {"Insufficient cpu": 1, "node(s) had untolerated taint(s)": 2},
            "",
            "no new claims to deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for "
            "incoming pod, 2 Preemption is not helpful for scheduling.",
            "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). no new claims to "
            "deallocate, preemption: 0/3 nodes are available: 1 No preemption victims found for incoming pod, "
            "2 Preemption is not helpful for scheduling.",
        ),
        (3, {"Insufficient cpu": 3}, "", "", "0/3 nodes are available: 3 Insufficient cpu."),
        (
            1,
            {"Insufficient memory": 1},
            "",
            "no new claims to deallocate, preemption: not eligible due to preemptionPolicy=Never.",
            "0/1 nodes are available: 1 Insufficient memory. no new claims to deallocate, preemption: not "
            "eligible due to preemptionPolicy=Never.",
        ),
        (
            2,
            {'persistentvolumeclaim "x" not found': 2},
            'persistentvolumeclaim "x" not found',
            "not found",
            '0/2 nodes are available: persistentvolumeclaim "x" not found. not found',
        ),
        (
            3,
            {"node(s) didn't satisfy plugin(s) [NodeAffinity]": 3},
            "",
            "",
            "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity].",
        ),
        (12, {"b": 2, "a": 10}, "", "", "0/12 nodes are available: 10 a, 2 b."),
        (4, {}, "", "", "0/4 nodes are available:"),
        (4, {}, "", "later", "0/4 nodes are available: later"),
        # bytes are compared, not letters as people sort them
        (3, {"é": 1, "z": 1, "Z": 1}, "", "", "0/3 nodes are available: 1 Z, 1 z, 1 é."),
    ],
)
def test_the_text_of_a_fit_error(
    total: int, reasons: dict[str, int], pre_filter: str, post_filter: str, text: str
) -> None:
    assert fit_error(total, reasons, pre_filter, post_filter) == text


def test_a_node_short_of_two_things_counts_in_both() -> None:
    assert histogram([(CPU, 2), (BOTH, 3), (TAINT, 1)]) == {
        "Insufficient cpu": 5,
        "Insufficient memory": 3,
        "node(s) had untolerated taint(s)": 1,
    }


def test_statuses_are_counted_once_per_node_and_feasible_nodes_not_at_all() -> None:
    found = diagnosis(0, FEASIBLE, 2, 2, UNVISITED)
    assert list(found.counts()) == [(CPU, 1), (TAINT, 2)]


def test_the_message_of_a_diagnosis() -> None:
    found = diagnosis(0, 1, 2)
    expected = "0/3 nodes are available: 1 Insufficient memory, 1 node(s) had untolerated taint(s), 2 Insufficient cpu."
    assert found.message() == expected
    found.post_filter_message = "preemption: no."
    assert found.message() == f"{expected} preemption: no."
    found.pre_filter_message = "pod affinity terms conflict"
    assert found.message() == "0/3 nodes are available: pod affinity terms conflict. preemption: no."


def test_the_status_of_a_row() -> None:
    found = diagnosis(FEASIBLE, 1, UNVISITED)
    assert [found.status_of(row) for row in range(3)] == [None, BOTH, None]


@pytest.mark.parametrize(
    ("code", "rows"),
    [(Code.UNSCHEDULABLE, [0, 2]), (Code.UNRESOLVABLE, [1]), (Code.PENDING, []), (Code.SUCCESS, [])],
)
def test_rows_by_the_code_of_their_no(code: Code, rows: list[int]) -> None:
    assert diagnosis(1, 2, 0, FEASIBLE, UNVISITED).rows_with(code).tolist() == rows


def test_a_diagnosis_without_nodes_is_no_accident() -> None:
    assert diagnosis().message() == "0/0 nodes are available:"
