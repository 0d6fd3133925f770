"""Garbage collection: what lives is left alone, looks are rare while there is work, and made up for in pauses."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from bayplan.engine import collecting


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_lives_when_the_cluster_is_known_is_left_alone() -> None:
    before = gc.get_freeze_count()
    collecting.settle()
    assert gc.get_freeze_count() > before
    assert gc.get_threshold() == collecting.THRESHOLDS
    assert gc.isenabled(), "a process that never rests must not grow for ever"


@pytest.mark.parametrize(("objects", "looks"), [(10, 0), (2 * collecting.WORTH_A_LOOK, 1)])
def test_a_pause_is_used_if_it_is_worth_it(objects: int, looks: int) -> None:
    collecting.settle()
    gc.collect()
    seen = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    kept: list[list[None]] = [[None] for _ in range(objects)]
    gc.callbacks.append(note)
    try:
        collecting.rest()
    finally:
        gc.callbacks.remove(note)
    assert len(kept) == objects
    assert seen == [1] * looks


class Loop:
    """Refers to itself, so that only the collector can free it."""

    def __init__(self) -> None:
        self.self = self


def test_what_outlives_a_pause_is_freed_in_a_later_one() -> None:
    collecting.settle()
    remembered = weakref.WeakSet[Loop]()
    for _ in range(2 * collecting.PAUSES):
        made = [Loop() for _ in range(collecting.WORTH_A_LOOK)]
        remembered.add(made[0])
        collecting.rest()
    assert len(remembered) <= collecting.PAUSES + 1
