"""Cluster events: the order of their bits, their names in metrics, and which registration matches which event."""

from __future__ import annotations

import pytest

from bayplan.framework.events import (
    ASSIGNED_POD_DELETE,
    FORCE_ACTIVATE,
    ON_ANYTHING,
    UNSCHEDULABLE_TIMEOUT,
    UNSCHEDULED_POD_ADD,
    UNSCHEDULED_POD_UPDATE,
    Change,
    ClusterEvent,
    On,
)


def test_the_bits_stand_in_upstreams_order() -> None:
    ordered = [
        Change.ADDED,
        Change.DELETED,
        Change.ALLOCATABLE,
        Change.LABEL,
        Change.TAINT,
        Change.CONDITION,
        Change.ANNOTATION,
        Change.DECLARED_FEATURE,
        Change.POD_LABEL,
        Change.POD_SCALE_DOWN,
        Change.POD_TOLERATION,
        Change.POD_GATES_ELIMINATED,
        Change.POD_GENERATED_CLAIM,
    ]
    assert [int(change) for change in ordered] == [1 << bit for bit in range(13)]
    assert Change.UPDATED | Change.ADDED | Change.DELETED == Change.ANY
    assert not Change.UPDATED & (Change.ADDED | Change.DELETED)


@pytest.mark.parametrize(
    ("event", "label"),
    [
        (ASSIGNED_POD_DELETE, "AssignedPodDelete"),
        (UNSCHEDULED_POD_ADD, "UnschedulablePodAdd"),
        (UNSCHEDULED_POD_UPDATE, "UnschedulablePodUpdate"),
        (ClusterEvent("Node", Change.ADDED), "NodeAdd"),
        (ClusterEvent("Node", Change.TAINT), "NodeUpdateNodeTaint"),
        (ClusterEvent("AssignedPod", Change.POD_SCALE_DOWN), "AssignedPodUpdatePodScaleDown"),
        (ClusterEvent("Node", Change.TAINT | Change.LABEL), "NodeUpdate"),
        (UNSCHEDULABLE_TIMEOUT, "UnschedulableTimeout"),
        (FORCE_ACTIVATE, "ForceActivate"),
    ],
)
def test_events_are_named_as_in_upstreams_metrics(event: ClusterEvent, label: str) -> None:
    assert event.label == label


NODE, POD, ASSIGNED, WAITING = "Node", "Pod", "AssignedPod", "UnschedulablePod"


@pytest.mark.parametrize(
    ("registered", "event", "matches"),
    [
        # a registration on all pods takes both kinds, one on a kind takes that kind alone
        (On(POD, Change.DELETED), ClusterEvent(ASSIGNED, Change.DELETED), True),
        (On(POD, Change.DELETED), ClusterEvent(WAITING, Change.DELETED), True),
        (On(ASSIGNED, Change.DELETED), ClusterEvent(WAITING, Change.DELETED), False),
        (On(ASSIGNED, Change.DELETED), ClusterEvent(POD, Change.DELETED), False),
        (On(NODE, Change.ADDED), ClusterEvent(ASSIGNED, Change.ADDED), False),
        # bits must meet
        (On(NODE, Change.ADDED | Change.TAINT), ClusterEvent(NODE, Change.TAINT), True),
        (On(NODE, Change.ADDED | Change.TAINT), ClusterEvent(NODE, Change.LABEL), False),
        # an event with more than was registered for does not match: numbers are compared too
        (On(NODE, Change.LABEL), ClusterEvent(NODE, Change.LABEL | Change.TAINT), False),
        (On(POD, Change.POD_LABEL), ClusterEvent(WAITING, Change.UPDATED), False),
        (On(POD, Change.UPDATED), ClusterEvent(WAITING, Change.UPDATED), True),
        (On(POD, Change.UPDATED), ClusterEvent(WAITING, Change.POD_LABEL), True),
        # the wildcard takes everything, also itself; a star with one action takes that action of every kind
        (ON_ANYTHING[0], ClusterEvent("StorageClass", Change.ADDED), True),
        (ON_ANYTHING[0], UNSCHEDULABLE_TIMEOUT, True),
        (On("*", Change.ADDED), ClusterEvent("StorageClass", Change.ADDED), True),
        (On("*", Change.ADDED), ClusterEvent("StorageClass", Change.DELETED), False),
        (On(NODE, Change.ANY), UNSCHEDULABLE_TIMEOUT, False),
    ],
)
def test_a_registration_matches_an_event(registered: On, event: ClusterEvent, matches: bool) -> None:
    assert registered.matches(event) is matches


def test_only_the_two_wildcard_events_are_for_everybody() -> None:
    assert UNSCHEDULABLE_TIMEOUT.is_wildcard
    assert FORCE_ACTIVATE.is_wildcard
    assert not ClusterEvent("Node", Change.ANY).is_wildcard
    assert not ClusterEvent("*", Change.ADDED).is_wildcard
