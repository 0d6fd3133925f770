"""The real kube-scheduler does what we believe it does, sentence by sentence, and Bayplan does the same."""

from __future__ import annotations

import pytest

from tests.parity.comparing import compare
from tests.parity.oracle import Oracle
from tests.parity.replaying import judge
from tests.parity.scenarios import SCENARIOS, Scenario

pytestmark = pytest.mark.kube


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_both_schedulers_do_what_the_scenario_says(scenario: Scenario, oracle: Oracle) -> None:
    cases = oracle.record(scenario.cluster())
    assert cases, f"{scenario.title}: something interfered with the scheduler"
    assert scenario.check(cases[0].result) == [], scenario.title
    differences = compare(cases[0], judge(cases[0])(cases[0]))
    assert bool(differences) == scenario.bayplan_differs, differences


def test_names_of_scenarios_are_unique() -> None:
    names = [scenario.name for scenario in SCENARIOS]
    assert len(names) == len(set(names))
