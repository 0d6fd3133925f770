"""Reading on until there are candidates enough.  What the victims are is in tests/properties."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
import pytest

from bayplan.framework.preemption.dry_run import NO_COSTS, Candidates, Found, chunks, enough_of
from bayplan.framework.preemption.victims import NO_VICTIMS, Candidate, cost
from bayplan.testing import pod

VICTIM = pod("victim").build()


def candidate(number: int, violations: int) -> Candidate:
    return Candidate(f"n{number}", (VICTIM,), violations)


def part(candidates: list[Candidate], failures: int = 0) -> Found:
    costs = np.array([cost(each, 0.0) for each in candidates], np.float64).reshape(-1, NO_COSTS.shape[1])
    return Found(candidates, costs, [(NO_VICTIMS, failures)] if failures else [])


def by_hand(candidates: list[Candidate], enough: int) -> list[Candidate]:
    clean: list[Candidate] = []
    violating: list[Candidate] = []
    for each in candidates:
        if clean and len(clean) + len(violating) >= enough:
            break
        (violating if each.pdb_violations else clean).append(each)
    return clean[:enough] + violating[:enough]


@pytest.mark.parametrize("seed", range(50))
def test_it_ends_where_going_one_by_one_would_end(seed: int) -> None:
    rng = Random(seed)
    candidates = [candidate(number, rng.choice((0, 1, 1, 1))) for number in range(rng.randrange(12))]
    enough, size = rng.randint(1, 6), rng.randint(1, 5)
    parts = [part(candidates[start : start + size]) for start in range(0, len(candidates), size)]
    found = enough_of(parts, enough)
    assert [*found.candidates] == by_hand(candidates, enough)
    assert found.costs[:, 0].tolist() == [each.pdb_violations for each in found.candidates]


def test_nothing_is_read_that_is_not_needed() -> None:
    def parts() -> Iterator[Found]:
        yield part([candidate(0, 1)], failures=2)
        yield part([candidate(1, 0)], failures=1)
        raise AssertionError("two are enough")

    found = enough_of(parts(), 2)
    assert [each.node_name for each in found.candidates] == ["n1", "n0"]
    assert found.failures == [(NO_VICTIMS, 2), (NO_VICTIMS, 1)]


def test_without_candidates_the_failures_are_what_is_left() -> None:
    found = enough_of([part([], failures=3)], 1)
    assert (len(found.candidates), found.failures) == (0, [(NO_VICTIMS, 3)])


def test_parts_grow_and_none_is_left_out() -> None:
    rows = np.arange(10)
    assert [each.tolist() for each in chunks(rows, 2)] == [[0, 1], [2, 3, 4, 5], [6, 7, 8, 9]]
    assert not [*chunks(rows[:0], 5)]


def test_candidates_are_made_when_they_are_looked_at() -> None:
    made: list[int] = []

    def make(number: int) -> Candidate:
        made.append(number)
        return candidate(number, 0)

    candidates = Candidates(make, 3)
    assert (len(candidates), made) == (3, [])
    assert candidates[-1].node_name == "n2"
    assert [each.node_name for each in candidates[:2]] == ["n0", "n1"]
    assert made == [2, 0, 1]
    with pytest.raises(IndexError):
        candidates[3]
