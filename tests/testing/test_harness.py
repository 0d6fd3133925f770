"""The harness runs a plugin as the engine would: PreFilter and PreScore first, their skips and noes honoured."""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework import (
    SKIP,
    CycleState,
    FilterPlugin,
    NodeTable,
    NodeView,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    failed,
    unresolvable,
)
from bayplan.objects.pod import Pod
from bayplan.plugins.node_name import NodeName
from bayplan.testing import cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.harness import OUTSIDE

CACHE = cluster([node("n1"), node("n2")])


class Obedient(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Does what the pod's name says."""

    name = "Obedient"

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult | Verdict:
        answers = {"skip": SKIP, "reject": unresolvable("no"), "narrow": PreFilterResult(frozenset({"n1"}))}
        return answers.get(pod.name)  # type: ignore[return-value]

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return unresolvable("not n1") if node.name != "n1" else None

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        return {"skip": SKIP, "reject": failed("broken")}.get(pod.name)

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return np.arange(len(nodes), dtype=np.float64 if pod.name == "float" else np.int64)

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        return scores * 10


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("plain", {"n2": ["not n1"]}),
        ("skip", {}),
        ("reject", {"n1": ["no"], "n2": ["no"]}),
        ("narrow", {"n2": [OUTSIDE]}),
    ],
)
def test_filter_follows_pre_filter(name: str, told: dict[str, list[str]]) -> None:
    assert reasons(run_filter(make(Obedient), pod(name), CACHE)) == told


def test_score_follows_pre_score() -> None:
    assert run_score(make(Obedient), pod("plain"), CACHE) == {"n1": 0, "n2": 10}
    assert run_score(make(Obedient), pod("plain"), CACHE, normalize=False) == {"n1": 0, "n2": 1}
    assert run_score(make(Obedient), pod("plain"), CACHE, feasible=["n2"]) == {"n2": 10}
    assert run_score(make(Obedient), pod("skip"), CACHE) == {}


@pytest.mark.parametrize(("name", "message"), [("reject", "said Error: broken"), ("float", "must give an int64")])
def test_a_broken_scorer_is_told_so(name: str, message: str) -> None:
    with pytest.raises(AssertionError, match=message):
        run_score(make(Obedient), pod(name), CACHE)


def test_pods_of_a_cluster_need_a_node() -> None:
    with pytest.raises(ValueError, match=r"pod default/a is on no node; add \.on"):
        cluster([node("n")], [pod("a")])


def test_unknown_nodes_and_args_are_refused() -> None:
    with pytest.raises(KeyError, match="no such node: n9"):
        run_score(make(Obedient), pod("plain"), CACHE, feasible=["n9"])
    with pytest.raises(InvalidArgsError, match="NodeName takes no args"):
        make(NodeName, limit=1)


def test_a_made_plugin_sees_the_cluster_through_its_handle() -> None:
    handle = make(NodeName, CACHE).handle
    assert handle is not None
    assert handle.snapshot().nodes is CACHE.nodes
    assert list(handle.nominated.nominated_nodes()) == []
