from __future__ import annotations

from random import Random

import pytest

from bayplan.engine import journal as journal_module
from bayplan.engine.journal import Journal, Stamps


def test_a_reader_is_told_what_came_after_its_position() -> None:
    journal: Journal[str] = Journal()
    journal.append("a")
    seen = journal.position
    assert journal.since(seen) == []
    journal.append("b")
    journal.extend(["c", "b"])
    assert journal.since(seen) == ["b", "c", "b"]
    assert journal.since(0) == ["a", "b", "c", "b"]


def test_a_cut_is_a_change_that_cannot_be_told() -> None:
    journal: Journal[str] = Journal()
    seen = journal.position
    journal.cut()
    assert journal.since(seen) is None
    assert not journal.reaches(seen)
    seen = journal.position
    assert journal.since(seen) == []
    journal.append("a")
    assert journal.reaches(seen)


def test_nobody_has_looked_before_the_beginning() -> None:
    assert Journal[str]().since(-1) is None


@pytest.mark.parametrize("seed", range(5))
def test_what_is_told_is_what_was_written_however_short_the_memory(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(journal_module, "MAX_CHANGES", 8)
    rng, journal = Random(seed), Journal[int]()
    written: list[int] = []
    for number in range(200):
        if rng.random() < 0.3:
            more = [number] * rng.randrange(4)
            journal.extend(more)
            written += more
        else:
            journal.append(number)
            written.append(number)
        assert journal.position == len(written)
        since = rng.randrange(len(written) + 1)
        told = journal.since(since)
        assert (told is not None) == journal.reaches(since)
        assert told is None or told == written[since:]
        assert not written or journal.since(len(written) - 1) == written[-1:]


def test_a_stamp_never_comes_twice() -> None:
    stamps = Stamps()
    first, last = stamps.take(), stamps.take(3)
    assert (first, last, stamps.take()) == (1, 4, 5)
