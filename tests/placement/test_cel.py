"""Expressions over clusters: what they see, and that the same ones are accepted everywhere."""

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from bayplan.cel import CelError
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.third_party.placement import ManagedCluster
from bayplan.placement.cel import MOST_FOR_BARE, compile_expressions

EU = ManagedCluster(
    metadata=ObjectMeta(
        name="eu-1", labels={"region": "eu", "version": "v1.31.2"}, annotations={"info": '{"n": [1, 2]}'}
    )
)


def _scores(cluster: str, resource: str) -> Sequence[Mapping[str, Any]] | None:
    return [{"name": "cpu", "value": 42}] if (cluster, resource) == ("eu-1", "load") else None


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ('managedCluster.metadata.name == "eu-1"', True),
        ('managedCluster.metadata.labels["region"] in ["eu", "us"]', True),
        ('managedCluster.metadata.labels.region.matches("^e")', True),
        ('managedCluster.metadata.labels["nothing"] == "x"', False),
        ('semver(managedCluster.metadata.labels.version, true).isGreaterThan(semver("1.30.0"))', True),
        ('managedCluster.scores("load").exists(s, s.name == "cpu" && s.value > 40)', True),
        ('managedCluster.scores("other").size() == 0', False),
        ('managedCluster.metadata.annotations["info"].parseJSON().n[1] == 2', True),
        ("managedCluster.metadata.name.parseJSON() == 1", False),
        ('{"metadata": {"name": "eu-1"}}.scores("load").size() == 1', False),
        ("dyn(1)", False),
    ],
)
def test_an_expression_reads_the_cluster_and_its_scores(expression: str, expected: bool) -> None:
    assert compile_expressions([expression]).matches(EU, _scores) is expected


def test_all_expressions_must_hold() -> None:
    assert compile_expressions(["true", "true"]).matches(EU, _scores)
    assert not compile_expressions(["true", "false"]).matches(EU, _scores)


def test_programs_of_two_hubs_do_not_see_each_others_scores() -> None:
    asked = compile_expressions(['managedCluster.scores("load").size() == 1'])
    assert asked.matches(EU, _scores)
    assert not asked.matches(EU, lambda cluster, resource: None)


@pytest.mark.parametrize(
    ("expression", "problem"),
    [
        ("managedCluster.metadata.name ==", "1:32: Syntax error: unexpected the end; correct the expression"),
        ("cluster.name == ''", "undeclared reference to 'cluster'"),
        ("1 + 1", "gives no truth value; write a condition"),
        ("lists.range(9000).all(x, true)", "for one cluster, and a hub asks it of every one; write something simpler"),
    ],
)
def test_a_wrong_expression_is_told(expression: str, problem: str) -> None:
    with pytest.raises(CelError) as caught:
        compile_expressions([expression])
    assert problem in str(caught.value)


def test_what_a_predicate_may_cost_is_counted_over_its_expressions() -> None:
    one = "lists.range(1000).all(x, x >= 0)"
    compile_expressions([one])
    with pytest.raises(CelError, match="for one cluster"):
        compile_expressions([one] * (MOST_FOR_BARE // 5000 + 1))
