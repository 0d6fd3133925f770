"""Disruption budgets and classes."""

from __future__ import annotations

import pytest

from bayplan.objects import policy
from tests.objects.making import make


def test_a_budget_knows_whom_it_protects_and_how_many_may_go() -> None:
    budget = make(
        policy.PodDisruptionBudget,
        spec={"minAvailable": "50%", "selector": {"matchLabels": {"app": "web"}}},
        status={"disruptionsAllowed": 2, "disruptedPods": {"web-1": "2026-01-01T00:00:00Z"}},
    )
    assert budget.selector.matches({"app": "web"})
    assert budget.disruptions_allowed == 2
    assert budget.disrupted_pods == {"web-1"}
    assert budget.spec.min_available == "50%"


@pytest.mark.parametrize(("selector", "matches"), [(None, False), ({}, True)])
def test_no_selector_protects_nobody_and_an_empty_one_everybody(selector: object, matches: bool) -> None:
    assert make(policy.PodDisruptionBudget, spec={"selector": selector}).selector.matches({}) is matches


def test_classes_carry_their_values() -> None:
    high = make(policy.PriorityClass, value=1000, globalDefault=True, preemptionPolicy="Never")
    assert (high.value, high.global_default, high.preemption_policy) == (1000, True, "Never")
    runtime = make(policy.RuntimeClass, handler="vm", overhead={"podFixed": {"cpu": "250m"}})
    assert runtime.overhead is not None
    assert runtime.overhead.pod_fixed == {"cpu": "250m"}
