"""The search for a shopping list, against clusters that are only arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from bayplan.simulator.fit.shopping import MOST_TRIES, Plan, search


def bought(
    prices: Mapping[str, float], holds: Mapping[str, int], waiting: int, most: Mapping[str, int] | None = None
) -> tuple[Plan, int]:
    """The list for pods that are all alike; ``most`` is how many of them a template can hold in all."""

    def left(plan: Plan) -> int:
        held = sum(min(count * holds[name], (most or {}).get(name, waiting)) for name, count in plan.items())
        return max(0, waiting - held)

    least = {name: max(1, -(-waiting // holds[name])) if holds[name] else 1 for name in prices}
    proposals = search(prices, least, waiting)
    plan, tries = next(proposals), 0
    while True:
        tries += 1
        try:
            plan = proposals.send(left(plan))
        except StopIteration as found:
            return {name: count for name, count in found.value.items() if count}, tries


def test_the_cheaper_template_is_bought() -> None:
    assert bought({"small": 1.0, "large": 1.5}, {"small": 1, "large": 2}, 10)[0] == {"large": 5}


def test_the_last_one_may_be_small() -> None:
    assert bought({"small": 1.0, "large": 1.9}, {"small": 1, "large": 2}, 5)[0] == {"large": 2, "small": 1}


def test_several_small_ones_may_come_in_the_place_of_a_large_one() -> None:
    """Two large ones hold all but two pods; a third would cost more than two small ones."""
    assert bought({"small": 1.0, "large": 3.5}, {"small": 1, "large": 7}, 16)[0] == {"large": 2, "small": 2}
    assert bought({"small": 1.0, "large": 3.0}, {"small": 1, "large": 7}, 17)[0] in (
        {"large": 3},
        {"large": 2, "small": 3},
    )


def test_templates_are_put_together_where_one_alone_cannot_do() -> None:
    assert bought({"a": 1.0, "b": 1.0}, {"a": 2, "b": 2}, 10, most={"a": 6, "b": 6})[0] in (
        {"a": 3, "b": 2}, {"a": 2, "b": 3},
    )  # fmt: skip


def test_of_what_holds_nobody_nothing_is_bought() -> None:
    assert bought({"a": 1.0}, {"a": 0}, 5)[0] == {}


@pytest.mark.parametrize("waiting", [1, 7, 100, 4096])
def test_as_few_as_do_are_found_in_few_tries(waiting: int) -> None:
    plan, tries = bought({"a": 1.0}, {"a": 3}, waiting)
    assert plan == {"a": -(-waiting // 3)}
    assert tries <= MOST_TRIES


def test_fewer_than_amounts_ask_for_are_never_enough_and_more_are_found() -> None:
    """Where nodes hold less than their amounts say, the search grows beyond the least."""
    waiting = 90

    def left(plan: Plan) -> int:
        return max(0, waiting - 2 * plan.get("a", 0))

    proposals = search({"a": 1.0}, {"a": 10}, waiting)
    plan = next(proposals)
    found: Plan | None = None
    while found is None:
        try:
            plan = proposals.send(left(plan))
        except StopIteration as ended:
            found = ended.value
    assert found == {"a": 45}
