"""What the API server's own estimator (Kubernetes v1.36.4) said of expressions, to the unit."""

import json
from pathlib import Path

import pytest

from bayplan.cel import COST_LIMIT
from bayplan.cel.devices import highest_cost

_LINES = (Path(__file__).parent / "reference_estimates.jsonl").read_text().splitlines()
CASES = [json.loads(line) for line in _LINES]


@pytest.mark.parametrize("start", range(0, len(CASES), 100))
def test_estimates_are_those_of_kubernetes(start: int) -> None:
    for case in CASES[start : start + 100]:
        assert highest_cost(case["expression"]) == case["estimate"], case


def test_the_recorded_expressions_lie_on_both_sides_of_the_limit() -> None:
    over = sum(case["estimate"] > COST_LIMIT for case in CASES)
    assert len(CASES) > 1000
    assert over > 150


def test_names_cost_one_and_literals_nothing() -> None:
    assert highest_cost("true") == 0
    assert highest_cost("device.allowMultipleAllocations") == 2
    assert highest_cost("has(device.attributes['a'].b)") == 3


def test_a_loop_costs_its_body_for_every_entry_there_can_be() -> None:
    once = highest_cost("device.attributes.all(a, true)")
    twice = highest_cost("device.attributes.all(a, device.attributes.all(b, true))")
    assert twice > 32 * (once - 32)


def test_a_bound_name_keeps_what_is_known_of_its_value() -> None:
    assert highest_cost("cel.bind(d, device.driver, d.matches('a'))") < 100
    assert highest_cost("cel.bind(d, ['a'].join(), d.matches('a'))") > COST_LIMIT
