"""Answers to writes stand in for what the watch has not told yet."""

from __future__ import annotations

from bayplan.app.placement.read_your_writes import ReadYourWrites
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.third_party.placement import Placement


def at(version: int, name: str = "p") -> Placement:
    return Placement(metadata=ObjectMeta(name=name, namespace="web", resource_version=str(version)))


def test_the_newer_of_answer_and_watch_counts() -> None:
    written = ReadYourWrites()
    written.note(at(7))
    assert written.over(Placement, [at(5), at(6, "q")]) == [at(7), at(6, "q")]
    assert written.over(Placement, [at(9)]) == [at(9)]
    assert written.over(Placement, []) == [at(7)]


def test_an_answer_is_dropped_when_the_watch_has_caught_up() -> None:
    written = ReadYourWrites()
    written.note(at(7))
    written.seen(at(6))
    assert written.over(Placement, [at(6)]) == [at(7)]
    written.seen(at(7))
    assert written.over(Placement, []) == []


def test_an_answer_is_dropped_when_the_object_is_gone() -> None:
    written = ReadYourWrites()
    written.note(at(7))
    written.seen(at(6), is_gone=True)
    assert written.over(Placement, []) == []
    written.note(at(8))
    written.forget(Placement, "web/p")
    assert written.over(Placement, []) == []
