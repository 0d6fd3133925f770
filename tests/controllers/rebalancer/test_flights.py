"""Moves under way: which pod came for which, what bounced back, and when nobody will come."""

from __future__ import annotations

from bayplan.controllers.rebalancer.flights import BOUNCED, FIRST_BOUNCE_S, MAX_BOUNCE_S, MOVED, Flights
from bayplan.controllers.rebalancer.planner import Move
from bayplan.objects.meta import ObjectMeta, OwnerReference
from bayplan.objects.pod import Condition, Pod
from bayplan.objects.pod_spec import PodSpec, PodStatus


def pod(name: str, on: str = "", *, ready: bool = True, owner: str = "web") -> Pod:
    owners = (OwnerReference(kind="ReplicaSet", name=owner, uid=owner, controller=True),)
    condition = Condition(type="Ready", status="True" if ready else "False")
    return Pod(
        metadata=ObjectMeta(name=name, namespace="default", uid=name, owner_references=owners),
        spec=PodSpec(node_name=on),
        status=PodStatus(phase="Running", conditions=(condition,)),
    )


def begun(*names: str) -> tuple[Flights, list[Pod]]:
    flights = Flights()
    before = [pod(name, "a1") for name in ("p1", "p2", "p3")]
    for one in before:
        if one.name in names:
            flights.begin(Move(one, "regionA", "regionB", "b1", ""), before, 0.0)
    return flights, before


def test_every_replacement_belongs_to_one_move() -> None:
    flights, before = begun("p1", "p2")
    flights.follow([*before[2:], pod("n1")], {"ReplicaSet/web": 3})
    assert [flight.replacement and flight.replacement.name for flight in flights.under_way] == ["n1", None]
    flights.follow([*before[2:], pod("n1"), pod("n2"), pod("other", owner="x")], {"ReplicaSet/web": 3})
    assert [flight.replacement and flight.replacement.name for flight in flights.under_way] == ["n1", "n2"]


def test_a_move_ends_when_the_replacement_is_ready() -> None:
    flights, before = begun("p1")
    flights.follow([*before[1:], pod("n1", "b1", ready=False)], {})
    assert flights.landed({"n1": "regionB"}) == []
    flights.follow([*before[1:], pod("n1", "b1")], {})
    (landing,) = flights.landed({"n1": "regionB"})
    assert (landing.result, flights.under_way) == (MOVED, [])


def test_a_replacement_that_goes_elsewhere_bounced_and_is_waited_for_longer_each_time() -> None:
    flights, before = begun("p1")
    flights.follow([*before[1:], pod("n1", "a1")], {})
    (landing,) = flights.landed({"n1": "regionA"})
    assert landing.result == BOUNCED
    flights.remember(landing, 0.0)
    assert flights.bounced(FIRST_BOUNCE_S - 1) == {("ReplicaSet/web", "regionB")}
    assert flights.next_retry(0.0) == FIRST_BOUNCE_S
    assert flights.bounced(FIRST_BOUNCE_S) == frozenset()
    flights.remember(landing, 1000.0)
    assert flights.next_retry(1000.0) == 1000.0 + 2 * FIRST_BOUNCE_S
    for _ in range(20):
        flights.remember(landing, 2000.0)
    assert flights.next_retry(2000.0) == 2000.0 + MAX_BOUNCE_S
    flights.forget_targets()
    assert flights.bounced(2000.0) == frozenset()


def test_another_domain_that_lacked_pods_will_do_as_well() -> None:
    flights, before = begun("p1")
    flights.follow([*before[1:], pod("n1", "c1")], {})
    (landing,) = flights.landed({"n1": "regionC"}, {"regionA"})
    assert (landing.result, landing.domain) == (MOVED, "regionC")
    flights, before = begun("p1")
    flights.follow([*before[1:], pod("n1", "c1")], {})
    assert flights.landed({"n1": "regionC"}, {"regionC"})[0].result == BOUNCED


def test_a_replacement_that_is_lost_is_followed_by_another() -> None:
    flights, before = begun("p1")
    flights.follow([*before[1:], pod("n1")], {"ReplicaSet/web": 3})
    flights.follow([*before[1:], pod("n2", "b1")], {"ReplicaSet/web": 3})
    assert [landing.domain for landing in flights.landed({"n2": "regionB"})] == ["regionB"]


def test_nobody_is_waited_for_when_the_workload_became_smaller() -> None:
    flights, before = begun("p1")
    flights.follow(before[1:], {"ReplicaSet/web": 3})
    assert len(flights.under_way) == 1
    flights.follow(before[1:], {"ReplicaSet/web": 2})
    assert flights.under_way == []


def test_nobody_is_waited_for_when_the_controller_is_gone_with_all_its_pods() -> None:
    flights, before = begun("p1")
    flights.follow(before[1:], {})
    assert len(flights.under_way) == 1, "others of its pods are there, so it may only be unknown"
    flights.follow([], {})
    assert flights.under_way == []


def test_when_the_policy_changed_meanwhile_a_replacement_may_go_anywhere() -> None:
    flights, before = begun("p1")
    flights.forget_targets()
    flights.follow([*before[1:], pod("n1", "a1")], {})
    assert [landing.result for landing in flights.landed({"n1": "regionA"}, {"regionA"})] == [MOVED]


def test_late_are_those_past_the_deadline() -> None:
    flights, _ = begun("p1")
    assert flights.late(9.9, 10.0) == []
    assert len(flights.late(10.0, 10.0)) == 1
