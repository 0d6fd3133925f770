"""
The skew rule of PodTopologySpread.filter: which pods count, and when a domain has too many.

Covers: maxSkew, self-match, namespaces, terminating pods, empty and missing selectors, several constraints,
nodes without the label, and pods that have no DoNotSchedule constraint.
"""

from __future__ import annotations

import pytest

from bayplan.framework import SKIP, CycleState
from bayplan.framework.status import as_status
from bayplan.objects.node import HOSTNAME_LABEL as HOST
from bayplan.objects.pod import ZONE_LABEL as ZONE
from bayplan.plugins.pod_topology_spread import PodTopologySpread
from bayplan.testing import cluster, make, node, pod, reasons, run_filter
from bayplan.testing.builders import PodBuilder

SKEWED = "node(s) didn't match pod topology spread constraints"
MISSING = "node(s) didn't match pod topology spread constraints (missing required label)"

ZONES = [node(name).zone(name[0]) for name in ("a1", "a2", "b1", "c1")]
WEB = pod("new").label(app="web")


def web(name: str, on: str) -> PodBuilder:
    return pod(name).label(app="web").on(on)


TWO_ONE_NONE = [web("p1", "a1"), web("p2", "a2"), web("p3", "b1")]
ONE_EACH = [web("p1", "a1"), web("p2", "b1"), web("p3", "c1")]

CASES = [
    ("only the emptiest zone is left at skew 1", WEB.spread(ZONE, 1), TWO_ONE_NONE, {"a1", "a2", "b1"}),
    ("skew 2 allows the second zone", WEB.spread(ZONE, 2), TWO_ONE_NONE, {"a1", "a2"}),
    ("skew 3 allows all", WEB.spread(ZONE, 3), TWO_ONE_NONE, set()),
    ("even zones take one more each", WEB.spread(ZONE, 1), ONE_EACH, set()),
    ("an empty cluster takes a pod anywhere", WEB.spread(ZONE, 1), [], set()),
    (
        "a pod outside its own selector does not count itself",
        pod("new").label(app="db").spread(ZONE, 1, selector={"app": "web"}),
        TWO_ONE_NONE,
        {"a1", "a2"},
    ),
    ("pods of other namespaces do not count", WEB.namespace("other").spread(ZONE, 1), TWO_ONE_NONE, set()),
    (
        "terminating pods do not count",
        WEB.spread(ZONE, 1),
        [web("p1", "a1").terminating(), web("p2", "b1"), web("p3", "c1")],
        {"b1", "c1"},
    ),
    (
        "an empty selector counts no pods but matches the pod itself",
        WEB.spread(ZONE, 1, selector={}),
        TWO_ONE_NONE,
        set(),
    ),
    ("no selector matches nothing", WEB.spread(ZONE, 1, no_selector=True), TWO_ONE_NONE, set()),
    (
        "matchLabelKeys narrow to pods of the same version",
        WEB.label(version="2").spread(ZONE, 1, selector={"app": "web"}, match_label_keys=["version"]),
        [web("p1", "a1"), web("p2", "b1").label(version="2"), web("p3", "c1").label(version="2")],
        {"b1", "c1"},
    ),
    (
        "both constraints must hold",
        WEB.spread(ZONE, 1).spread(HOST, 1),
        [web("p1", "a1"), web("p2", "b1"), web("p3", "c1")],
        {"a1", "b1", "c1"},
    ),
]


@pytest.mark.parametrize(("new", "running", "rejected"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_domains_with_too_many_pods_are_rejected(
    new: PodBuilder, running: list[PodBuilder], rejected: set[str]
) -> None:
    cache = cluster(ZONES, running)
    assert reasons(run_filter(make(PodTopologySpread, cache), new, cache)) == {key: [SKEWED] for key in rejected}


def test_a_node_without_the_label_is_rejected_for_good() -> None:
    cache = cluster([*ZONES, node("bare")], [])
    found = run_filter(make(PodTopologySpread, cache), WEB.spread(ZONE), cache)
    assert reasons(found) == {"bare": [MISSING]}
    assert found["bare"] is not None
    assert found["bare"].code.title == "UnschedulableAndUnresolvable"


def test_a_skewed_node_may_be_helped_by_eviction() -> None:
    cache = cluster(ZONES, TWO_ONE_NONE)
    found = run_filter(make(PodTopologySpread, cache), WEB.spread(ZONE), cache)
    assert found["a1"] is not None
    assert found["a1"].code.title == "Unschedulable"


@pytest.mark.parametrize(
    ("first", "second", "text"),
    [(ZONE, "rack", SKEWED), ("rack", ZONE, MISSING)],
    ids=["the skewed zone comes first", "the missing rack comes first"],
)
def test_the_constraint_written_first_gives_the_reason(first: str, second: str, text: str) -> None:
    racked = [node("a1").zone("a"), node("a2").zone("a").label(rack="1"), node("b1").zone("b").label(rack="2")]
    cache = cluster(racked, [web("p1", "a2"), web("p2", "a2")])
    found = run_filter(make(PodTopologySpread, cache), WEB.spread(first, 1).spread(second, 5), cache)
    assert reasons(found)["a1"] == [text]


@pytest.mark.parametrize("new", [WEB, WEB.spread(ZONE, hard=False)], ids=["no constraint", "ScheduleAnyway alone"])
def test_a_pod_without_hard_constraints_is_skipped(new: PodBuilder) -> None:
    cache = cluster(ZONES)
    assert make(PodTopologySpread, cache).pre_filter(CycleState(), new.build(), cache.nodes) is SKIP


def test_a_selector_that_cannot_be_read_is_an_error() -> None:
    cache = cluster(ZONES)
    new = WEB.spread(ZONE, expressions=[("app", "Near", "web")])
    status = as_status(make(PodTopologySpread, cache).pre_filter(CycleState(), new.build(), cache.nodes))
    assert status.is_error
    assert status.message.startswith('obtaining pod\'s hard topology spread constraints: "Near" is not an operator')
