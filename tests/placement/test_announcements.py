"""Events on a placement: who joined and left, what is missing, what is wrong; and nothing where nothing is new."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.objects.meta import ObjectMeta, StatusCondition
from bayplan.objects.third_party import placement as api
from bayplan.placement.announcements import LONGEST, Announcement, announcements
from bayplan.placement.decision_writes import Create, Delete, PatchStatus, Update, Write
from tests.placement.fleet_building import decided, placement


def created(name: str) -> Create:
    return Create({"metadata": {"name": name}}, {"decisions": []})


@pytest.mark.parametrize(
    ("had", "has", "write", "expected"),
    [
        ((), ("a", "b"), created("p-decision-1"), ("DecisionCreate", "p-decision-1: 2 clusters joined: a, b")),
        (
            ("a", "b"),
            ("b", "c"),
            Update("p-decision-1", None, {}),
            ("DecisionUpdate", "p-decision-1: 1 cluster joined: c; 1 cluster left: a"),
        ),
        (("a",), (), Delete("p-decision-2"), ("DecisionDelete", "p-decision-2: 1 cluster left: a")),
        (
            ("a",),
            ("a",),
            Update("p-decision-1", {}, None),
            ("DecisionUpdate", "p-decision-1: the same clusters as before"),
        ),
    ],
)
def test_a_page_that_was_written_is_told(
    had: tuple[str, ...], has: tuple[str, ...], write: Write, expected: tuple[str, str]
) -> None:
    assert announcements(placement(), [decided("p", *had)], has, [write]) == [Announcement("Normal", *expected)]


def test_nothing_written_is_nothing_told() -> None:
    assert announcements(placement(), [decided("p", "a")], ("a",), []) == []


def test_pages_of_one_kind_are_one_event() -> None:
    writes: list[Write] = [created("p-decision-1"), created("p-decision-2"), Update("p-decision-3", None, {})]
    told = announcements(placement(), [], (), [*writes, Update("p-decision-3", {}, {})])
    assert [(each.reason, each.note.partition(":")[0]) for each in told] == [
        ("DecisionCreate", "p-decision-1, p-decision-2"),
        ("DecisionUpdate", "p-decision-3"),
    ]


def test_however_many_there_are_it_fits() -> None:
    names = tuple(f"{number:03d}-{'ä' * 120}" for number in range(300))
    (told,) = announcements(placement(), [], names, [created("p-decision-1")])
    assert "300 clusters joined" in told.note
    assert len(told.note.encode()) <= LONGEST


SHORT = StatusCondition(type="PlacementSatisfied", status="False", reason="NotAllDecisionsScheduled", message="1 more")
FINE = StatusCondition(type="PlacementSatisfied", status="True", reason="AllDecisionsScheduled", message="all")
WRONG = StatusCondition(type="PlacementMisconfigured", status="True", reason="Misconfigured", message="because")


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        (None, SHORT, [Announcement("Warning", "NotAllDecisionsScheduled", "1 more")]),
        (SHORT, SHORT, []),
        (None, FINE, []),
        (SHORT, FINE, [Announcement("Normal", "AllDecisionsScheduled", "all")]),
        (FINE, FINE, []),
        (None, WRONG, [Announcement("Warning", "Misconfigured", "because")]),
    ],
)
def test_conditions_are_told_when_they_change(
    before: StatusCondition | None, after: StatusCondition, expected: list[Announcement]
) -> None:
    held = api.Placement(
        metadata=ObjectMeta(name="p"), status=api.PlacementStatus(conditions=(before,) if before else None)
    )
    write = PatchStatus({"conditions": [{"message": "", **msgspec.to_builtins(after)}]})
    assert announcements(held, [], (), [write]) == expected
