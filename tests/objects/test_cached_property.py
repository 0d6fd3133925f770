"""What is worked out of an object is worked out once."""

from __future__ import annotations

import functools

from bayplan.objects.cached_property import cached_property


class Thing:
    """Counts how often it is asked."""

    def __init__(self) -> None:
        self.times = 0

    @cached_property
    def answer(self) -> int:
        """What it comes to."""
        self.times += 1
        return 42


def test_the_first_look_works_it_out_and_later_ones_read_it() -> None:
    one, other = Thing(), Thing()
    assert [one.answer, one.answer, one.answer] == [42, 42, 42]
    assert (one.times, other.times) == (1, 0), "each object keeps its own"
    assert vars(one)["answer"] == 42


def test_on_the_class_it_is_the_property_itself() -> None:
    found = vars(Thing)["answer"]
    assert Thing.answer is found
    assert isinstance(found, functools.cached_property)
    assert found.__doc__ == "What it comes to."
