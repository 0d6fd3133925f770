"""What domains are worth: Balance and Fill in whole numbers, and domains that lack pods before all that do not."""

from __future__ import annotations

import pytest

from bayplan.framework import ScorePlugin
from bayplan.plugins import IN_TREE
from bayplan.plugins.defaults import DEFAULT_PLUGINS
from bayplan.testing import node, pod, run_score
from tests.plugins.kosmos import asking, domain, numbers, placed, policy
from tests.plugins.leaf_node_workload_policy.support import Bench


@pytest.mark.parametrize(
    ("method", "desired", "scores"),
    [
        ("Balance", 3, [100, 66, 33, 0, 0, 0]),
        ("Fill", 3, [0, 33, 66, 0, 0, 0]),
        ("Balance", 1, [100, 0, 0]),
        ("Fill", 1, [0, 0, 0]),
        ("Balance", 0, [0, 0]),
        ("Fill", 0, [0, 0]),
    ],
)
def test_scores_follow_the_method_while_pods_are_lacking(method: str, desired: int, scores: list[int]) -> None:
    made = policy(*numbers(host=desired), allocationMethod=method)
    for count, expected in enumerate(scores):
        bench = Bench([domain("host")], placed("host", count), [made])
        assert bench.scores(asking(), raw=True) == {"host": expected}


@pytest.mark.parametrize("method", ["Balance", "Fill"])
def test_nodes_of_one_domain_are_worth_the_same_however_full_they_are(method: str) -> None:
    """Balance and Fill choose between domains; other plugins choose the node."""
    nodes = [domain("host", name) for name in ("full", "some", "empty")]
    there = [*placed("full", 3), *placed("some", 1)]
    bench = Bench(nodes, there, [policy(*numbers(host=10), allocationMethod=method)])
    assert len(set(bench.scores(asking()).values())) == 1


@pytest.mark.parametrize(
    ("method", "count", "desired", "score"),
    [
        ("Balance", 4, 5, 20),
        ("Balance", 9, 10, 10),
        ("Balance", 11, 20, 45),
        ("Fill", 29, 50, 58),
        ("Fill", 29, 100, 29),
    ],
)
def test_whole_numbers_are_exact_where_fractions_fall_short_by_one(
    method: str, count: int, desired: int, score: int
) -> None:
    bench = Bench([domain("host")], placed("host", count), [policy(*numbers(host=desired), allocationMethod=method)])
    assert bench.scores(asking()) == {"host": score}


@pytest.mark.parametrize("count", range(12))
@pytest.mark.parametrize("desired", range(12))
@pytest.mark.parametrize("method", ["Balance", "Fill"])
def test_scores_are_always_between_0_and_100(method: str, desired: int, count: int) -> None:
    made = policy(*numbers(host=desired, member=1), allocationMethod=method, unlistedDomains="Allow")
    bench = Bench([domain("host"), domain("member"), node("bare")], placed("host", count), [made])
    assert all(0 <= score <= 100 for score in bench.scores(asking()).values())


@pytest.mark.parametrize("method", ["Balance", "Fill"])
def test_domains_that_lack_pods_stand_before_all_others(method: str) -> None:
    nodes = [domain("empty"), domain("nearly"), domain("full"), domain("over"), domain("none"), node("bare")]
    there = [*placed("nearly", 299), *placed("full", 3), *placed("over", 5)]
    made = policy(
        *numbers(empty=300, nearly=300, full=3, over=3, none=0), allocationMethod=method, unlistedDomains="Allow"
    )
    scores = Bench(nodes, there, [made]).scores(asking())
    lacking = min(scores["empty"], scores["nearly"])
    assert lacking > scores["full"] > scores["over"] > scores["bare"] > scores["none"] >= 0


def test_overflow_goes_where_it_weighs_least() -> None:
    nodes = [domain("small"), domain("large")]
    made = policy(*numbers(small=1, large=10))
    scores = Bench(nodes, [*placed("small", 1), *placed("large", 12)], [made]).scores(asking())
    assert scores["large"] > scores["small"], "13/10 is less than 2/1"


def test_the_domain_of_the_remainder_takes_the_overflow_first() -> None:
    made = policy({"name": "fixed", "replicas": 50}, {"name": "rest", "remainder": True})
    nodes = [domain("fixed"), domain("rest")]
    scores = Bench(nodes, [*placed("fixed", 50), *placed("rest", 9)], [made]).scores(asking())
    assert scores["rest"] > scores["fixed"]


def test_only_feasible_nodes_decide_whether_there_are_tiers() -> None:
    bench = Bench([domain("host"), domain("member")], placed("member", 1), [policy(*numbers(host=4, member=1))])
    assert bench.scores(asking(), feasible=["host"]) == {"host": 100}
    assert bench.scores(asking()) == {"host": 100, "member": 9}


def test_pods_without_a_policy_are_not_scored() -> None:
    bench = Bench([domain("host")], (), [policy(*numbers(host=1))])
    assert run_score(bench.plugin, pod("plain"), bench.cache) == {}


def test_it_outweighs_all_default_plugins_together() -> None:
    scorers = {each.name for each in IN_TREE if issubclass(each, ScorePlugin)}
    others = sum(each.weight for each in DEFAULT_PLUGINS if each.name in scorers)
    assert Bench([]).plugin.default_weight > 100 * others
