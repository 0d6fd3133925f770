"""What an update of a node changed, as events; a heartbeat is none."""

from __future__ import annotations

import msgspec
import pytest

from bayplan.engine.update_events import node_update_events
from bayplan.framework.events import Change
from bayplan.objects.node import Node
from bayplan.testing import NodeBuilder, node

PLAIN = node("n").condition("Ready")


def with_features(made: NodeBuilder, *features: str) -> Node:
    built = made.build()
    return built.evolve(status=msgspec.structs.replace(built.status, declared_features=features))


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        (PLAIN, PLAIN, []),
        (PLAIN, PLAIN.image("app:1", "1Mi"), []),
        (PLAIN.cordoned(), PLAIN, [Change.TAINT]),
        (PLAIN, PLAIN.cordoned(), []),
        (PLAIN, PLAIN.cpu(8), [Change.ALLOCATABLE]),
        (PLAIN, PLAIN.scalar("example.com/gpu", 1), [Change.ALLOCATABLE]),
        (PLAIN, PLAIN.label(disk="ssd"), [Change.LABEL]),
        (PLAIN, PLAIN.taint("gpu"), [Change.TAINT]),
        (PLAIN.taint("gpu"), PLAIN, [Change.TAINT]),
        (PLAIN.cordoned().taint("gpu"), PLAIN, [Change.TAINT]),
        (PLAIN, PLAIN.annotation(load="0.5"), [Change.ANNOTATION]),
        (PLAIN, node("n").condition("Ready", "False"), [Change.CONDITION]),
        (PLAIN, PLAIN.condition("DiskPressure", "False"), [Change.CONDITION]),
        (
            PLAIN,
            PLAIN.cpu(8).label(disk="ssd").taint("gpu").annotation(load="1"),
            [Change.ALLOCATABLE, Change.LABEL, Change.TAINT, Change.ANNOTATION],
        ),
    ],
)
def test_each_kind_of_change_is_one_event(old: NodeBuilder, new: NodeBuilder, changes: list[Change]) -> None:
    events = node_update_events(old.build(), new.build())
    assert [event.change for event in events] == changes
    assert {event.kind for event in events} <= {"Node"}


@pytest.mark.parametrize(
    ("before", "after", "changes"),
    [
        ((), ("a",), [Change.DECLARED_FEATURE]),
        (("a", "b"), ("b", "a"), []),
        (("a",), ("a",), []),
    ],
)
def test_declared_features_are_compared_as_a_set(
    before: tuple[str, ...], after: tuple[str, ...], changes: list[Change]
) -> None:
    events = node_update_events(with_features(PLAIN, *before), with_features(PLAIN, *after))
    assert [event.change for event in events] == changes


def test_a_heartbeat_of_a_condition_is_no_change() -> None:
    old = PLAIN.build()
    conditions = tuple(
        msgspec.structs.replace(each, reason="KubeletReady", message="posted") for each in old.conditions
    )
    new = old.evolve(status=msgspec.structs.replace(old.status, conditions=conditions))
    assert new != old
    assert node_update_events(old, new) == []
