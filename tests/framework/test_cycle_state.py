"""The scratch space of one cycle: typed keys, and copies that can be changed alone."""

from __future__ import annotations

import pytest

from bayplan.framework.cycle_state import CycleState, Key


class Counts:
    def __init__(self, *numbers: int) -> None:
        self.numbers = list(numbers)

    def clone(self) -> Counts:
        return Counts(*self.numbers)


COUNTS: Key[Counts] = Key("counts")
NAMES: Key[list[str]] = Key("names")


def test_a_value_is_read_back_under_its_key() -> None:
    state = CycleState()
    assert NAMES not in state
    assert state.get(NAMES) is None
    state[NAMES] = ["a"]
    assert NAMES in state
    assert state[NAMES] == ["a"]
    assert state.get(NAMES) == ["a"]


def test_reading_what_nobody_wrote_is_an_error_that_names_the_key() -> None:
    with pytest.raises(KeyError, match=r"Key\('counts'\)"):
        CycleState()[COUNTS]


def test_two_keys_of_one_name_do_not_meet() -> None:
    state = CycleState()
    state[COUNTS] = Counts(1)
    assert Key("counts") not in state


def test_a_clone_copies_what_offers_to_be_copied_and_shares_the_rest() -> None:
    state = CycleState()
    state[COUNTS], state[NAMES] = Counts(1), ["a"]
    copy = state.clone()
    copy[COUNTS].numbers.append(2)
    assert state[COUNTS].numbers == [1]
    assert copy[NAMES] is state[NAMES]


def test_a_value_written_to_a_clone_stays_there() -> None:
    state = CycleState()
    state.clone()[NAMES] = ["a"]
    assert NAMES not in state


@pytest.mark.parametrize("skips", ["skip_filter", "skip_score", "skip_pre_bind"])
def test_a_clone_knows_who_sits_out_and_keeps_its_own_list(skips: str) -> None:
    state = CycleState()
    getattr(state, skips).add("A")
    copy = state.clone()
    getattr(copy, skips).add("B")
    assert getattr(state, skips) == {"A"}
    assert getattr(copy, skips) == {"A", "B"}
