"""Deletion costs as kube-controller-manager reads them."""

from __future__ import annotations

import pytest

from bayplan.objects.deletion_cost import DELETION_COST, deletion_cost
from bayplan.testing import pod


@pytest.mark.parametrize(
    ("text", "cost"),
    [
        ("5", 5),
        ("-5", -5),
        ("0", 0),
        ("2147483647", 2147483647),
        ("-2147483648", -2147483648),
        ("2147483648", 0),
        ("--5", 0),
        ("+5", 0),
        ("05", 0),
        ("٣", 0),
        ("", 0),
        ("9" * 5000, 0),
    ],
)
def test_a_cost_is_a_number_of_32_bits_or_nothing(text: str, cost: int) -> None:
    assert deletion_cost(pod("a").annotation({DELETION_COST: text}).build()) == cost


def test_a_pod_without_a_cost_costs_nothing() -> None:
    assert deletion_cost(pod("a").build()) == 0
