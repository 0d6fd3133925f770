"""The rules by themselves: what they say, and that taking and putting back leaves them as they were."""

from __future__ import annotations

from bayplan.plugins.dynamic_resources.device_score.rules import Change, Pack, Rule, Tightest, Together

VALUES = [("int", 0), ("int", 0), ("int", 1), None]


def test_what_is_lost_counts_beside_what_is_taken() -> None:
    rule = Tightest([250, 1000, 500])
    rule.take(Change(0, None, [0, 1], {}))
    assert rule.at_best() == 10_000 * 1000 // (1000 + 1250)


def test_of_a_shared_device_the_share_is_lost() -> None:
    rule = Tightest([500])
    rule.take(Change(0, 200, [], {}))
    assert rule.at_best() == 10_000 * 1000 // 1100


def test_a_pair_taken_together_counts_more_than_all_that_are_left_together() -> None:
    together, apart = Together(VALUES, [0, 1, 2]), Together(VALUES, [0, 1, 2])
    for position in (0, 1):
        together.take(Change(position, None, [position], {}))
    for position in (2, 3):
        apart.take(Change(position, None, [position] if position == 2 else [], {}))
    assert (together.at_best(), apart.at_best()) == (10_000 * 2 // 3, 10_000 // 3)


def test_without_free_neighbours_nothing_is_pulled_apart() -> None:
    rule = Together(VALUES, [0, 2])
    rule.take(Change(0, None, [0], {}))
    assert rule.at_best() == 10_000


def test_one_that_is_full_counts_more_than_two_half_full() -> None:
    one, two = Pack({0: 500, 1: 0}, 1, is_spread=False), Pack({0: 500, 1: 0}, 1, is_spread=False)
    one.take(Change(0, 500, [], {0: 1000}))
    two.take(Change(1, 500, [], {1: 500}))
    assert (one.at_best(), two.at_best()) == (5000, 2500)


def test_a_rule_is_as_before_when_all_is_put_back() -> None:
    changes = [Change(0, None, [0, 1], {0: 1000}), Change(2, None, [2], {1: 700})]
    made: list[Rule] = [
        Tightest([250, 1000, 500]),
        Together(VALUES, [0, 1, 2]),
        Pack({0: 100, 1: 0}, 1, is_spread=False),
        Pack({0: 100, 1: 0}, 1, is_spread=True),
    ]
    for rule in made:
        before = [rule.at_best(more) for more in range(3)]
        for change in changes:
            rule.take(change)
        # What it may say at most comes down to what it says.
        assert rule.at_best() <= before[2]
        for change in reversed(changes):
            rule.put_back(change)
        assert [rule.at_best(more) for more in range(3)] == before
