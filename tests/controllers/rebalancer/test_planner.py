"""Which pods move where: the fewest, only where a replacement fits, and nothing is changed by asking."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.controllers.rebalancer.planner import waves
from bayplan.controllers.rebalancer.survey import NOWHERE
from tests.controllers.rebalancer.support import REGIONS, looked, pod, pods, policy, region, replica_set
from tests.simulator.support import Manifest


def cluster(numbers: dict[str, Any], counts: dict[str, int], *more: Manifest, **spec: Any) -> Any:
    return looked(*REGIONS, policy(numbers, **spec), replica_set(sum(counts.values())), *pods(counts), *more)


@pytest.mark.parametrize("kind", ["Required", "Preferred"])
@pytest.mark.parametrize(
    ("numbers", "counts", "expected"),
    [
        ({"regionA": 5, "regionB": 3}, {"a1": 5, "b1": 3}, 0),
        ({"regionA": 3, "regionB": 5}, {"a1": 5, "b1": 3}, 2),
        ({"regionA": 0, "regionB": 8}, {"a1": 5, "b1": 3}, 5),
        ({"regionA": 5, "regionB": 5}, {"a1": 5, "b1": 3}, 0),
        ({"regionA": 2, "regionB": 2}, {"a1": 4, "b1": 4}, 0),
        ({"regionA": "25%", "regionB": "75%"}, {"a1": 5, "b1": 3}, 3),
        ({"regionA": {"weight": 1}, "regionB": {"weight": 3}}, {"a1": 5, "b1": 3}, 3),
        ({"regionA": 2, "regionB": {"remainder": True}}, {"a1": 5, "b1": 3}, 3),
    ],
    ids=["met", "two", "all of one", "too few pods", "too many everywhere", "percent", "weights", "remainder"],
)
def test_as_many_moves_as_the_numbers_ask_for(
    kind: str, numbers: dict[str, Any], counts: dict[str, int], expected: int
) -> None:
    found = cluster(numbers, counts, allocationType=kind).plan()
    assert len(found.moves) == found.needed == expected
    assert {(move.source, move.target) for move in found.moves} <= {("regionA", "regionB")}


def test_asking_changes_nothing() -> None:
    found = cluster({"regionA": 3, "regionB": 5}, {"a1": 5, "b1": 3})
    cache = found.world.scheduler.cache
    before = {pod.uid: pod for pod in cache.pods()}, cache.nodes.pods_count.tolist(), cache.nodes.req_cpu_milli.tolist()
    assert found.moved() == found.moved()
    after = {pod.uid: pod for pod in cache.pods()}, cache.nodes.pods_count.tolist(), cache.nodes.req_cpu_milli.tolist()
    assert after == before


def test_a_move_says_why_and_where_to() -> None:
    first, second = cluster({"regionA": 3, "regionB": 5}, {"a1": 5, "b1": 3}).plan().moves
    assert (first.node, first.why) == ("b1", "regionA has 5/3, regionB has 3/5")
    assert second.why == "regionA has 4/3, regionB has 4/5"


def test_replacements_must_fit_all_together() -> None:
    found = looked(
        region("a1", "regionA"), region("b1", "regionB", cpu="500m"), policy({"regionA": 3, "regionB": 5}),
        replica_set(8), *pods({"a1": 5, "b1": 3}, cpu="120m"),
    ).plan()  # fmt: skip
    assert len(found.moves) == 1
    assert found.needed == 2
    assert any("Insufficient cpu" in why or "would go to regionA" in why for why in found.kept.values())


def test_pods_that_wait_fill_the_places_first() -> None:
    found = cluster({"regionA": 3, "regionB": 5}, {"a1": 5, "b1": 3}, pod("w1"), pod("w2"))
    assert found.plan().moves == ()
    assert found.plan().needed == 0


def test_a_pod_that_waits_for_nothing_takes_no_place() -> None:
    gated = pod("w1", schedulingGates=[{"name": "later"}])
    assert len(cluster({"regionA": 3, "regionB": 5}, {"a1": 5, "b1": 3}, gated).moved()) == 2


def test_pods_outside_all_domains_go_first() -> None:
    found = looked(
        *REGIONS, region("c1", "regionC"), region("d1", None), policy({"regionA": 1, "regionB": 4}),
        replica_set(6), *pods({"a1": 3, "b1": 1, "c1": 1, "d1": 1}),
    ).moved()  # fmt: skip
    assert sorted(found[:2]) == [("c1-0", "regionC", "regionB"), ("d1-0", NOWHERE, "regionB")]
    assert [each[1:] for each in found[2:]] == [("regionA", "regionB")]


def test_a_domain_called_nothing_is_a_domain() -> None:
    found = looked(
        region("e1", ""), region("d1", None), policy({"": 2}), replica_set(2), *pods({"e1": 1, "d1": 1})
    ).moved()  # fmt: skip
    assert found == [("d1-0", NOWHERE, "")]


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"ready": False}, {}),
        ({"priority": 1}, {"priority": 5}),
        ({"annotations": {"controller.kubernetes.io/pod-deletion-cost": "-5"}}, {}),
        (
            {"meta": {"creationTimestamp": "2025-01-02T00:00:00Z"}},
            {"meta": {"creationTimestamp": "2025-01-01T00:00:00Z"}},
        ),
    ],
    ids=["not ready", "priority", "deletion cost", "youngest"],
)
def test_the_least_missed_pod_of_a_domain_goes_first(better: dict[str, Any], worse: dict[str, Any]) -> None:
    for names in (("p1", "p2"), ("p2", "p1")):
        found = looked(
            *REGIONS, policy({"regionA": 1, "regionB": 1}), replica_set(2),
            pod(names[0], "a1", **better), pod(names[1], "a1", **worse),
        ).moved()  # fmt: skip
        assert found == [(names[0], "regionA", "regionB")]


def test_another_choice_of_pods_is_tried_when_the_first_does_not_lead_far_enough() -> None:
    """The large pod would go first, and leave no room for the two small ones."""
    found = looked(
        region("a1", "regionA"), region("b1", "regionB", cpu="1"), policy({"regionA": 0, "regionB": 2}),
        replica_set(1, "large"), replica_set(2, "small"),
        pod("large", "a1", owner="large", cpu="900m"), pod("large2", "a1", owner="large", cpu="900m"),
        pod("s1", "a1", owner="small", cpu="400m", ready=True, priority=5),
        pod("s2", "a1", owner="small", cpu="400m", ready=True, priority=5),
        now=None,
    )  # fmt: skip
    found.terms = type(found.terms)("Auto", 1, 0, 0, 0, 0, True)
    assert sorted(each[0] for each in found.moved()) == ["s1", "s2"]


def test_nothing_moves_while_most_nodes_of_a_domain_are_not_ready() -> None:
    def plan(unready: int) -> Any:
        nodes = [region("a1", "regionA"), *(region(f"b{n}", "regionB") for n in (1, 2, 3))]
        for each in nodes[1 : 1 + unready]:
            each["status"]["conditions"] = [{"type": "Ready", "status": "Unknown"}]
            each["spec"]["taints"] = [{"key": "node.kubernetes.io/unreachable", "effect": "NoSchedule"}]
        numbers = policy({"regionA": 3, "regionB": 5})
        return looked(*nodes, numbers, replica_set(8), *pods({"a1": 5, "b3": 3})).plan()

    assert len(plan(1).moves) == 2
    assert {move.node for move in plan(1).moves} <= {"b2", "b3"}
    assert (plan(2).moves, plan(2).hold) == ((), "domain regionB is not ready: 2 of 3 nodes")


def test_what_bounced_back_is_not_tried_again() -> None:
    found = cluster({"regionA": 3, "regionB": 5}, {"a1": 5, "b1": 3})
    plan = found.plan(bounced={("ReplicaSet/web", "regionB")})
    assert plan.moves == ()
    assert set(plan.kept.values()) == {"its replacement did not stay in regionB before"}


def test_a_pod_whose_volume_stays_behind_stays_with_it() -> None:
    terms = [{"matchExpressions": [{"key": "region", "operator": "In", "values": ["regionA"]}]}]
    volume = {
        "apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "v"},
        "spec": {"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"], "storageClassName": "s",
                 "claimRef": {"namespace": "default", "name": "data", "uid": "c"},
                 "nodeAffinity": {"required": {"nodeSelectorTerms": terms}}},
        "status": {"phase": "Bound"},
    }  # fmt: skip
    claim = {
        "apiVersion": "v1", "kind": "PersistentVolumeClaim",
        "metadata": {"name": "data", "namespace": "default", "uid": "c",
                     "annotations": {"pv.kubernetes.io/bind-completed": "yes"}},
        "spec": {"accessModes": ["ReadWriteOnce"], "storageClassName": "s", "volumeName": "v",
                 "resources": {"requests": {"storage": "1Gi"}}},
        "status": {"phase": "Bound"},
    }  # fmt: skip
    mounted = [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}]
    web = [pod("web-0", "a1", kind="StatefulSet", volumes=mounted), pod("web-1", "a1", kind="StatefulSet")]
    numbers = policy({"regionA": 0, "regionB": 2}, allocationType="Required")
    found = looked(*REGIONS, numbers, replica_set(2, kind="StatefulSet"), volume, claim, *web).plan()
    assert [move.pod.name for move in found.moves] == ["web-1"]
    assert found.needed == 2
    assert "didn't match PersistentVolume's node affinity" in found.kept["default/web-0"]


def test_a_limit_is_kept() -> None:
    assert len(cluster({"regionA": 0, "regionB": 8}, {"a1": 5, "b1": 3}).moved(limit=2)) == 2


def test_of_many_moves_a_few_are_enough_for_now() -> None:
    many = cluster({"regionA": 0, "regionB": 25}, {"a1": 20, "b1": 5}).plan(few=3)
    assert (len(many.moves), many.needed) == (3, 20)
    assert len(cluster({"regionA": 0, "regionB": 8}, {"a1": 5, "b1": 3}).plan(few=3).moves) == 5


def test_revisions_are_planned_for_one_by_one() -> None:
    old = [pod(f"o{n}", "a1", labels={"pod-template-hash": "old"}) for n in range(2)]
    new = [pod(f"n{n}", "b1", labels={"pod-template-hash": "new"}) for n in range(2)]
    numbers = policy({"regionA": 1, "regionB": 1}, matchLabelKeys=["pod-template-hash"])
    found = looked(*REGIONS, numbers, replica_set(4), *old, *new).moved()
    assert sorted(each[1:] for each in found) == [("regionA", "regionB"), ("regionB", "regionA")]


def test_waves_are_as_large_as_the_budget() -> None:
    moves = cluster({"regionA": 0, "regionB": 8}, {"a1": 5, "b1": 3}).plan().moves
    assert waves(moves, 2) == [1, 1, 2, 2, 3]
    assert waves(moves, 0) == [1, 2, 3, 4, 5]
