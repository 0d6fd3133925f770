"""Events of several watches come back in the order in which the API server made them."""

from __future__ import annotations

from typing import Any

from bayplan.controllers.shadow.event_order import Dated, EventOrder, subject_of, version_of
from bayplan.engine.events import NodeAdded, ObjectDeleted, PodAdded, PodChanged, PodDeleted, Tick
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Service
from bayplan.testing import node


def pod_at(version: str, name: str = "p") -> Pod:
    return Pod(metadata=ObjectMeta(name=name, namespace="default", uid=name, resource_version=version))


def taken(order: EventOrder, now: float) -> list[Any]:
    found = []
    while (dated := order.take(now)) is not None:
        found.append(dated.event)
    return found


def test_versions_decide_and_not_arrival() -> None:
    order = EventOrder(1.0)
    second, first = PodAdded(pod_at("12")), PodDeleted(pod_at("9", "q"))
    order.put(Dated(10.0, second))
    order.put(Dated(10.5, first))
    assert taken(order, 11.2) == []  # the older one came later, and both wait for it
    assert order.next_at() == 11.5
    assert [dated.event for dated in order.ahead()] == [first, second]
    assert taken(order, 11.5) == [first, second]
    assert (len(order), order.next_at()) == (0, float("inf"))


def test_what_has_no_version_comes_after_what_is_known() -> None:
    order = EventOrder(0.0)
    events = [PodAdded(pod_at("7")), NodeAdded(node("n").build()), PodAdded(pod_at("8", "q"))]
    for event in events:
        order.put(Dated(1.0, event))
    assert taken(order, 1.0) == events


def test_what_was_found_by_listing_again_is_not_put_into_the_past() -> None:
    order = EventOrder(0.0)
    before, late = PodAdded(pod_at("20")), PodDeleted(pod_at("3", "q"))
    order.put(Dated(1.0, before))
    order.put(Dated(1.0, late, is_late=True))
    assert taken(order, 1.0) == [before, late]


def test_what_an_event_is_about() -> None:
    old, new = pod_at("1"), pod_at("2")
    service = Service(metadata=ObjectMeta(name="s", resource_version="x1"))
    assert subject_of(PodChanged(old, new)) is new
    assert subject_of(ObjectDeleted("Service", service)) is service
    assert subject_of(Tick()) is None
    assert [version_of(each) for each in (PodChanged(old, new), ObjectDeleted("Service", service), Tick())] == [2, 0, 0]
