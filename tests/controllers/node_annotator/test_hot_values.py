"""Pods that a node got lately make it hot, by the published formula."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.controllers.node_annotator.hot_values import Bindings, assigned_node
from bayplan.objects.third_party.crane import HotValueRule, published_policy

RULES = published_policy().hot_value
NOW = 10_000.0


def bindings(*ages: float, rules: tuple[HotValueRule, ...] = RULES) -> Bindings:
    made = Bindings(rules)
    for age in ages:
        made.record("n", NOW - age, NOW)
    return made


@pytest.mark.parametrize(
    ("ages", "hot"),
    [
        ([], 0),
        ([5.0] * 10, 7),  # 10 // 5 in five minutes, 10 // 2 in one
        ([70.0] * 20, 4),
        ([5.0, 100.0, 200.0, 250.0], 0),
        ([5.0, 6.0], 1),
        ([60.0, 60.0], 0),  # strictly newer than a minute
        ([59.9, 59.9], 1),
        ([-3.0, -3.0], 1),  # the event's clock is ahead of ours
    ],
)
def test_every_full_count_within_a_range_is_one_step(ages: list[float], hot: int) -> None:
    assert bindings(*ages).hot_value("n", NOW) == hot


def test_nodes_do_not_warm_each_other() -> None:
    made = bindings(*[1.0] * 10)
    assert made.hot_value("other", NOW) == 0
    made.drop("n")
    assert made.hot_value("n", NOW) == 0


def test_what_is_too_old_is_not_even_kept() -> None:
    made = Bindings(RULES)
    assert not made.record("n", NOW - 300, NOW)
    assert made.record("n", NOW - 299, NOW)
    assert len(made) == 1
    made.forget(NOW + 1)
    assert len(made) == 0


def test_without_rules_nothing_is_hot_and_nothing_is_kept() -> None:
    made = bindings(0.0, 1.0, rules=())
    assert (len(made), made.hot_value("n", NOW), made.next_change("n", NOW)) == (0, 0, None)


@given(st.lists(st.floats(0, 299), max_size=30), st.floats(0.001, 400))
def test_a_node_cools_down_exactly_when_it_is_said_to(ages: list[float], later: float) -> None:
    made = bindings(*ages)
    now_hot, change = made.hot_value("n", NOW), made.next_change("n", NOW)
    if change is None:
        assert made.hot_value("n", NOW + later) == now_hot == 0
    else:
        assert change > NOW
        assert made.hot_value("n", change + 1e-3) < now_hot
        assert made.hot_value("n", (NOW + change) / 2 if change - NOW > 1e-3 else NOW) == now_hot


@pytest.mark.parametrize(
    ("message", "node"),
    [
        ("Successfully assigned shop/web-1 to node-7", "node-7"),
        ("Successfully assigned shop/web-1 to", None),
        ("0/3 nodes are available", None),
        ("", None),
    ],
)
def test_an_event_names_the_node_in_its_message(message: str, node: str | None) -> None:
    assert assigned_node(message) == node
