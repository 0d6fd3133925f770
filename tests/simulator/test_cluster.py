"""The simulated cluster: what it does when asked, and the events it answers with."""

from __future__ import annotations

import asyncio

import pytest

from bayplan.engine.events import ObjectChanged, PodAdded, PodChanged, PodDeleted
from bayplan.engine.intents import PatchStatus
from bayplan.errors import ConflictError, NotFoundError
from bayplan.objects.pod import Pod
from bayplan.simulator.world import World
from tests.simulator.support import START, budget, node, pod, workload, world


def named(here: World, name: str) -> Pod:
    found = here.cluster.pod(f"default/{name}")
    assert found is not None
    return found


def test_a_bound_pod_runs_at_once_and_the_engine_is_told() -> None:
    here = world(node("n1"), pod("a"))
    asyncio.run(here.cluster.bind(named(here, "a"), "n1"))
    (event,) = here.cluster.events
    assert isinstance(event, PodChanged)
    assert (event.old.node_name, event.new.node_name) == ("", "n1")
    assert event.new.status.phase == "Running"
    assert event.new.start_time == START
    assert here.cluster.records[event.new.uid].bound_at == 0.0


def test_a_pod_is_bound_once() -> None:
    here = world(node("n1"), pod("a"))
    asyncio.run(here.cluster.bind(named(here, "a"), "n1"))
    with pytest.raises(ConflictError, match="already assigned to node n1"):
        asyncio.run(here.cluster.bind(named(here, "a"), "n1"))


def test_a_pod_of_the_same_name_but_another_uid_is_not_found() -> None:
    here = world(node("n1"), workload("StatefulSet", "db", replicas=1))
    gone = named(here, "db-0")
    asyncio.run(here.cluster.delete_pod(gone))
    assert named(here, "db-0").uid != gone.uid
    with pytest.raises(NotFoundError):
        asyncio.run(here.cluster.bind(gone, "n1"))


def test_deleting_a_pod_tells_of_it_and_its_controller_makes_another() -> None:
    here = world(node("n1"), workload("ReplicaSet", "web", replicas=1))
    first = next(iter(here.cluster.records.values())).pod
    asyncio.run(here.cluster.delete_pod(first))
    gone, made = here.cluster.events
    assert isinstance(gone, PodDeleted)
    assert gone.pod.uid == first.uid
    assert isinstance(made, PodAdded)
    assert made.pod.name != first.name
    assert here.cluster.records[first.uid].is_gone


def test_deleting_a_pod_twice_is_no_error() -> None:
    here = world(pod("a"))
    first = named(here, "a")
    asyncio.run(here.cluster.delete_pod(first))
    asyncio.run(here.cluster.delete_pod(first))
    assert len(here.cluster.events) == 1


def test_status_is_merged_and_conditions_are_merged_by_type() -> None:
    here = world(pod("a", status={"conditions": [{"type": "Ready", "status": "False", "reason": "Old"}]}))
    patch = {
        "nominatedNodeName": "n1",
        "conditions": [{"type": "Ready", "status": "True"}, {"type": "X", "status": "True"}],
    }
    asyncio.run(here.cluster.patch_pod_status(named(here, "a"), patch))
    status = named(here, "a").status
    assert status.nominated_node_name == "n1"
    assert [(each.type, each.status, each.reason) for each in status.conditions or ()] == [
        ("Ready", "True", "Old"),
        ("X", "True", ""),
    ]
    asyncio.run(here.cluster.patch_pod_status(named(here, "a"), {"nominatedNodeName": None}))
    assert named(here, "a").nominated_node_name == ""


def test_a_patch_that_changes_nothing_tells_nothing() -> None:
    here = world(pod("a"))
    asyncio.run(here.cluster.patch_pod_status(named(here, "a"), {"nominatedNodeName": None}))
    assert not here.cluster.events


def test_a_pod_that_was_not_placed_keeps_the_message_and_tells_only_of_nominations() -> None:
    here = world(node("n1"), pod("a"))
    first = named(here, "a")
    here.cluster.failed(PatchStatus(first, "Unschedulable", "no room"))
    assert here.cluster.records[first.uid].message == "no room"
    assert not here.cluster.events
    here.cluster.failed(PatchStatus(first, "Unschedulable", "no room", "n1"))
    (event,) = here.cluster.events
    assert isinstance(event, PodChanged)
    assert event.new.nominated_node_name == "n1"


def test_a_preempted_pod_says_why_it_goes() -> None:
    here = world(node("n1"), pod("a", nodeName="n1"))
    here.cluster.preempt(named(here, "a"), "for another")
    (event,) = here.cluster.events
    assert isinstance(event, PodDeleted)
    condition = event.pod.condition("DisruptionTarget")
    assert condition is not None
    assert condition.reason == "PreemptionByScheduler"


def test_budgets_follow_binds_and_deletions() -> None:
    labels = {"labels": {"app": "web"}}
    here = world(node("n1"), pod("a", meta=labels), budget("b", {"app": "web"}, minAvailable=0))
    asyncio.run(here.cluster.bind(named(here, "a"), "n1"))
    allowed = [event.new.disruptions_allowed for event in here.cluster.events if isinstance(event, ObjectChanged)]
    assert allowed == [1]


def test_a_budget_with_a_status_of_its_own_keeps_it() -> None:
    own = budget("b", {"app": "web"}, minAvailable=0) | {"status": {"disruptionsAllowed": 7}}
    here = world(node("n1"), pod("a", meta={"labels": {"app": "web"}}), own)
    asyncio.run(here.cluster.bind(named(here, "a"), "n1"))
    assert not any(isinstance(event, ObjectChanged) for event in here.cluster.events)
    found = here.scheduler.cache.objects.get("PodDisruptionBudget", "default", "b")
    assert found is not None
    assert found.disruptions_allowed == 7
