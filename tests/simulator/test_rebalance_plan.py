"""The plan as a document and as a table."""

from __future__ import annotations

from bayplan.simulator.rebalance_plan import as_text, plan_world
from tests.controllers.rebalancer.support import REGIONS, pods, policy, region, replica_set
from tests.simulator.support import Manifest, world


def planned(*manifests: Manifest) -> Manifest:
    return plan_world(world(*manifests))


def test_moves_in_waves_with_what_each_is_for() -> None:
    document = planned(*REGIONS, policy({"regionA": 3, "regionB": 5}), replica_set(8), *pods({"a1": 5, "b1": 3}))
    (found,) = document["policies"]
    assert (document["kind"], document["summary"]) == ("RebalancePlan", {"policies": 1, "satisfied": 0, "moves": 2})
    assert (found["mode"], found["satisfied"], found["reason"], found["needed"]) == ("Auto", False, "PodsMisplaced", 2)
    assert found["moves"][0] == {
        "wave": 1, "pod": "a1-0", "owner": "ReplicaSet/web", "fromDomain": "regionA", "fromNode": "a1",
        "toDomain": "regionB", "toNode": "b1", "why": "regionA has 5/3, regionB has 3/5",
    }  # fmt: skip
    assert [each["wave"] for each in found["moves"]] == [1, 2]
    text = as_text(document)
    assert "default/regions   Auto   PodsMisplaced   regionA   5/3    5" in text
    assert text.endswith("0 of 1 policies are satisfied; 2 moves are planned")


def test_policies_that_are_off_are_planned_for_too() -> None:
    off = policy({"regionA": 3, "regionB": 5}, rebalance={"mode": "Off"})
    document = planned(*REGIONS, off, replica_set(8), *pods({"a1": 5, "b1": 3}))
    assert document["policies"][0]["mode"] == "Off"
    assert document["summary"]["moves"] == 2


def test_pods_that_stay_say_why_where_they_are_missed() -> None:
    numbers = policy({"regionA": 3, "regionB": 5})
    text = as_text(planned(*REGIONS, numbers, *pods({"a1": 5, "b1": 3}, owner=None)))
    assert "default/a1-0 stays: nobody would make another one in its place" in text
    assert text.endswith("nothing to move")


def test_a_hold_and_no_policies_are_told() -> None:
    lost = region("b1", "regionB")
    lost["status"]["conditions"] = [{"type": "Ready", "status": "False"}]
    numbers = policy({"regionA": 3, "regionB": 5})
    text = as_text(planned(REGIONS[0], lost, numbers, replica_set(8), *pods({"a1": 5, "b1": 3})))
    assert "default/regions: nothing moves: domain regionB is not ready: 1 of 1 nodes" in text
    assert as_text(planned(*REGIONS)) == "there is no WorkloadPolicy"
