"""Garbage collection: what lives is left alone, looks are rare while there is work, and made up for in pauses."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator

import pytest

from bayplan.engine import gc_tuning


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    thresholds = gc.get_threshold()
    yield
    gc.set_threshold(*thresholds)
    gc.unfreeze()


def test_what_lives_when_the_cluster_is_known_is_left_alone() -> None:
    before = gc.get_freeze_count()
    gc_tuning.settle()
    assert gc.get_freeze_count() > before
    assert gc.get_threshold() == gc_tuning.THRESHOLDS
    assert gc.isenabled(), "a process that never rests must not grow for ever"


@pytest.mark.parametrize(("objects", "looks"), [(10, 0), (2 * gc_tuning.WORTH_A_LOOK, 1)])
def test_a_pause_is_used_if_it_is_worth_it(objects: int, looks: int) -> None:
    gc_tuning.settle()
    gc.collect()
    seen = []

    def note(phase: str, info: dict[str, int]) -> None:
        if phase == "start":
            seen.append(info["generation"])

    kept: list[list[None]] = [[None] for _ in range(objects)]
    gc.callbacks.append(note)
    try:
        gc_tuning.rest()
    finally:
        gc.callbacks.remove(note)
    assert len(kept) == objects
    assert seen == [1] * looks


class Loop:
    """Refers to itself, so that only the collector can free it."""

    def __init__(self) -> None:
        self.self = self


def test_what_outlives_a_pause_is_freed_in_a_later_one() -> None:
    gc_tuning.settle()
    remembered = weakref.WeakSet[Loop]()
    for _ in range(2 * gc_tuning.PAUSES):
        made = [Loop() for _ in range(gc_tuning.WORTH_A_LOOK)]
        remembered.add(made[0])
        gc_tuning.rest()
    assert len(remembered) <= gc_tuning.PAUSES + 1
