"""NodeAffinity: selectors and required terms, nodes named in fields, preferred terms, added affinity, requeueing."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework import SKIP, Change, Code, CycleState, Depends, PreFilterResult
from bayplan.framework.status import as_status
from bayplan.plugins.node_affinity import CONFLICT, NodeAffinity
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.harness import OUTSIDE, rows_of

NO_MATCH = "node(s) didn't match Pod's node affinity/selector"
NOT_ENFORCED = "node(s) didn't match scheduler-enforced node affinity"
NAME = "metadata.name"

NODES = [
    node("n1").label(disk="ssd", cores="8"),
    node("n2").label(disk="hdd", cores="16"),
    node("n3").label(cores="many"),
]

REQUIRED = [
    ("a selector pair", pod("a").node_selector(disk="ssd"), "n1"),
    ("all selector pairs", pod("a").node_selector(disk="ssd", cores="16"), ""),
    ("In", pod("a").requires_node("disk", "In", "ssd", "hdd"), "n1 n2"),
    ("NotIn matches a node without the label", pod("a").requires_node("disk", "NotIn", "ssd"), "n2 n3"),
    ("Exists", pod("a").requires_node("disk", "Exists"), "n1 n2"),
    ("DoesNotExist", pod("a").requires_node("disk", "DoesNotExist"), "n3"),
    ("Gt compares numbers and skips words", pod("a").requires_node("cores", "Gt", "8"), "n2"),
    ("Lt compares numbers and skips words", pod("a").requires_node("cores", "Lt", "9"), "n1"),
    ("any term", pod("a").requires_node("disk", "In", "hdd").requires_node("cores", "In", "8"), "n1 n2"),
    ("all of a term", pod("a").requires_node_term([("disk", "Exists"), ("cores", "In", "16")]), "n2"),
    ("selector and terms", pod("a").node_selector(disk="ssd").requires_node("disk", "In", "hdd"), ""),
    ("an empty term matches nothing", pod("a").requires_node_term(), ""),
    ("an unknown operator matches nothing", pod("a").requires_node("disk", "Near", "ssd"), ""),
    ("a wrong term and a right one", pod("a").requires_node("disk", "Near").requires_node("disk", "Exists"), "n1 n2"),
    ("a field NotIn", pod("a").requires_node_term([], [(NAME, "NotIn", "n2")]), "n1 n3"),
]


def passing(asked: PodBuilder, **args: Any) -> str:
    statuses = run_filter(make(NodeAffinity, **args), asked, cluster(NODES))
    assert all(status.code is Code.UNRESOLVABLE for status in statuses.values() if status is not None)
    return " ".join(name for name, status in statuses.items() if status is None)


@pytest.mark.parametrize(("case", "asked", "fitting"), REQUIRED, ids=[each[0] for each in REQUIRED])
def test_required_terms(case: str, asked: PodBuilder, fitting: str) -> None:
    assert passing(asked) == fitting
    told = reasons(run_filter(make(NodeAffinity), asked, cluster(NODES)))
    assert all(each == [NO_MATCH] for each in told.values())


def pre_filter(asked: PodBuilder, **args: Any) -> Any:
    return make(NodeAffinity, **args).pre_filter(CycleState(), asked.build(), cluster(NODES).nodes)


def by_name(*names: str) -> list[tuple[str, ...]]:
    return [(NAME, "In", *names)]


def test_a_pod_that_asks_for_nothing_is_left_alone() -> None:
    assert pre_filter(pod("a")) is SKIP
    assert pre_filter(pod("a").prefers_node(1, "disk", "Exists")) is SKIP


@pytest.mark.parametrize(
    ("asked", "names"),
    [
        (pod("a").requires_node_term([], by_name("n1")), {"n1"}),
        (pod("a").requires_node_term([], by_name("n1")).requires_node_term([], by_name("n3")), {"n1", "n3"}),
        (pod("a").requires_node_term([("disk", "Exists")], by_name("n1")), {"n1"}),
        (pod("a").requires_node_term([], by_name("n1")).requires_node("disk", "Exists"), None),
        (pod("a").requires_node_term([], [(NAME, "NotIn", "n1")]), None),
        (pod("a").node_selector(disk="ssd"), None),
    ],
)
def test_terms_that_all_name_nodes_narrow_the_search(asked: PodBuilder, names: set[str] | None) -> None:
    answer = pre_filter(asked)
    assert answer == (None if names is None else PreFilterResult(frozenset(names)))


@pytest.mark.parametrize("fields", [[(NAME, "In", "n1")], []])
def test_what_is_said_of_nodes_depends_on_their_objects_and_is_kept_unless_the_pod_names_them(
    fields: list[Any],
) -> None:
    asked = pod("p").requires_node_term(fields=fields) if fields else pod("p").node_selector(disk="ssd")
    promised = make(NodeAffinity).promise(asked.build().template)

    assert promised is not None
    assert (promised.filter, promised.score, promised.keep) == (Depends.OBJECT, Depends.OBJECT, not fields)


def test_a_term_that_names_two_different_nodes_at_once_conflicts() -> None:
    asked = pod("a").requires_node_term([], by_name("n1") + by_name("n2"))
    assert pre_filter(asked) is CONFLICT
    assert as_status(CONFLICT).message == "pod affinity terms conflict"


def test_a_field_with_two_values_narrows_the_search_but_matches_nothing() -> None:
    asked = pod("a").requires_node_term([], by_name("n1", "n2"))
    assert pre_filter(asked) == PreFilterResult(frozenset({"n1", "n2"}))
    told = reasons(run_filter(make(NodeAffinity), asked, cluster(NODES)))
    assert told == {"n1": [NO_MATCH], "n2": [NO_MATCH], "n3": [OUTSIDE]}


@pytest.mark.parametrize(
    ("asked", "raw", "normalized"),
    [
        (pod("a").prefers_node(5, "disk", "In", "ssd").prefers_node(3, "cores", "In", "16"), [5, 3, 0], [100, 60, 0]),
        (pod("a").prefers_node(5, "disk", "Exists").prefers_node(2, "cores", "Exists"), [7, 7, 2], [100, 100, 28]),
        (pod("a").prefers_node_term(7, [], by_name("n3")), [0, 0, 7], [0, 0, 100]),
        (pod("a").prefers_node(5, "disk", "In", "tape"), [0, 0, 0], [0, 0, 0]),
        (pod("a").prefers_node_term(5), [0, 0, 0], [0, 0, 0]),
    ],
)
def test_preferred_terms_add_their_weights(asked: PodBuilder, raw: list[int], normalized: list[int]) -> None:
    cache = cluster(NODES)
    assert list(run_score(make(NodeAffinity), asked, cache, normalize=False).values()) == raw
    assert list(run_score(make(NodeAffinity), asked, cache).values()) == normalized


def test_without_preferred_terms_nothing_is_scored() -> None:
    assert run_score(make(NodeAffinity), pod("a").node_selector(disk="ssd"), cluster(NODES)) == {}


def test_a_preferred_term_that_cannot_be_read_is_an_error() -> None:
    cache, asked = cluster(NODES), pod("a").prefers_node(1, "disk", "Near").build()
    status = as_status(make(NodeAffinity).pre_score(CycleState(), asked, cache.nodes, rows_of(cache)))
    assert status.is_error


def required(*expressions: dict[str, Any]) -> dict[str, Any]:
    terms = {"nodeSelectorTerms": [{"matchExpressions": list(expressions)}]}
    return {"addedAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": terms}}


HAS_DISK = {"key": "disk", "operator": "Exists"}


def test_added_affinity_is_asked_of_every_pod_before_its_own() -> None:
    args = required(HAS_DISK)
    assert passing(pod("a"), **args) == "n1 n2"
    told = reasons(run_filter(make(NodeAffinity, **args), pod("a").node_selector(disk="ssd"), cluster(NODES)))
    assert told == {"n2": [NO_MATCH], "n3": [NOT_ENFORCED]}


def test_added_preferred_terms_count_for_every_pod() -> None:
    preferred = [{"weight": 4, "preference": {"matchExpressions": [HAS_DISK]}}]
    args: dict[str, Any] = {"addedAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": preferred}}
    plugin = make(NodeAffinity, **args)
    assert list(run_score(plugin, pod("a"), cluster(NODES), normalize=False).values()) == [4, 4, 0]
    asked = pod("a").prefers_node(1, "disk", "In", "ssd")
    assert list(run_score(plugin, asked, cluster(NODES), normalize=False).values()) == [5, 4, 0]


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (required({"key": "disk", "operator": "Near"}), r'"Near" is not an operator here'),
        (required({"key": "disk", "operator": "In"}), "needs at least one value"),
        (required({"key": "disk", "operator": "Exists", "value": "x"}), "unknown field"),
        ({"addedAffinity": {"required": {}}}, "unknown field"),
    ],
)
def test_added_affinity_that_cannot_be_read_is_refused(args: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidArgsError, match=message):
        make(NodeAffinity, **args)


@pytest.mark.parametrize(
    ("old", "new", "helps"),
    [
        (None, node("n").label(disk="ssd"), True),
        (None, node("n").label(disk="hdd"), False),
        (node("n"), node("n").label(disk="ssd"), True),
        (node("n").label(disk="ssd"), node("n").label(disk="ssd", more="x"), False),
        (node("n").label(disk="ssd"), node("n"), False),
    ],
)
def test_nodes_that_match_now_bring_pods_back(old: NodeBuilder | None, new: NodeBuilder, helps: bool) -> None:
    (rule,) = make(NodeAffinity).requeue_on()
    assert (rule.kind, rule.change) == ("Node", Change.ADDED | Change.LABEL)
    assert rule.hint is not None
    asked = pod("a").node_selector(disk="ssd").build()
    assert rule.hint(asked, old.build() if old else None, new.build()) is helps


def test_a_node_that_does_not_match_the_added_affinity_brings_nobody_back() -> None:
    (rule,) = make(NodeAffinity, **required({"key": "rack", "operator": "Exists"})).requeue_on()
    assert rule.hint is not None
    asked = pod("a").node_selector(disk="ssd").build()
    assert not rule.hint(asked, None, node("n").label(disk="ssd").build())
    assert rule.hint(asked, None, node("n").label(disk="ssd", rack="1").build())
