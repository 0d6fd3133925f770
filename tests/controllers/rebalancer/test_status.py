"""What the status of a policy says."""

from __future__ import annotations

import dataclasses
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from bayplan.controllers.rebalancer.status import as_patch, effect, satisfaction, says_the_same, status_of, validity
from bayplan.objects.third_party.kosmos import WorkloadPolicyStatus
from tests.controllers.rebalancer.support import REGIONS, Looked, looked, pod, pods, policy, replica_set
from tests.simulator.support import START


def cluster(numbers: dict[str, Any], counts: dict[str, int], waiting: int = 0, **spec: Any) -> Looked:
    made = [pod(f"w{number}") for number in range(waiting)]
    wanted = replica_set(sum(counts.values()) + waiting)
    return looked(*REGIONS, policy(numbers, **spec), wanted, *pods(counts), *made)


@pytest.mark.parametrize(
    ("found", "expected"),
    [
        (cluster({"regionA": 2, "regionB": 1}, {"a1": 2, "b1": 1}), (True, "NumbersMet", "")),
        (
            cluster({"regionA": 1, "regionB": 2}, {"a1": 2, "b1": 1}),
            (False, "PodsMisplaced", "regionB has 1/2"),
        ),
        (
            cluster({"regionA": 2, "regonB": 1}, {"a1": 2, "b1": 1}),
            (False, "PodsMisplaced", "regonB has 0/1 and no node"),
        ),
        (cluster({"regionA": 2, "regionB": 2}, {"a1": 2, "b1": 1}), (False, "TooFewPods", "regionB has 1/2")),
        (
            cluster({"regionA": 2, "regionB": 2}, {"a1": 2, "b1": 1}, 1),
            (False, "PodsPending", "regionB has 1/2; 1 pods wait for a node"),
        ),
        (
            cluster({"regionA": 2, "regionB": 1}, {"a1": 2, "b1": 1}, 2),
            (False, "PodsPending", "every domain has its number; 2 more pods wait for a node"),
        ),
        (cluster({"regionA": 1, "regionB": 1}, {"a1": 2, "b1": 1}), (True, "NumbersMet", "")),
        (
            cluster({"regionA": 1, "regionB": 1}, {"a1": 2, "b1": 1}, allocationType="Required"),
            (False, "TooManyPods", "regionA has 2/1"),
        ),
    ],
    ids=[
        "met",
        "misplaced",
        "no node",
        "too few",
        "waiting",
        "more than the numbers",
        "beyond a preference",
        "a limit",
    ],
)
def test_satisfied_or_why_not(found: Looked, expected: tuple[bool, str, str]) -> None:
    assert satisfaction(found.survey) == expected


def test_two_revisions_are_a_rollout() -> None:
    made = [pod("o", "a1", labels={"hash": "1"}), pod("n", "a1", labels={"hash": "2"})]
    found = looked(*REGIONS, policy({"regionA": 1}, matchLabelKeys=["hash"]), replica_set(2), *made)
    assert satisfaction(found.survey)[1] == "RollingOut"


def test_other_spellings_are_valid_and_told() -> None:
    found = cluster({"regionA": 1}, {"a1": 1}, allocationType="require", scheduleStrategy="Fill")
    is_valid, reason, message = validity(found.survey)
    assert (is_valid, reason) == (True, "UnusualSpelling")
    assert '"require" is read as Required' in message
    assert "scheduleStrategy is read as allocationMethod: Fill" in message


COST = "controller.kubernetes.io/pod-deletion-cost"


def test_a_policy_that_has_its_effect_says_nothing_of_it() -> None:
    owned = pods({"a1": 1}, annotations={COST: "-500", "bayplan.io/pod-deletion-cost": "-500"})
    found = looked(*REGIONS, policy({"regionA": 1}), replica_set(2), *owned, pod("fresh", "b1"))
    assert effect(found.survey) is None
    assert "Effective" not in {each.type for each in status_of(found.survey, None, START).conditions or ()}


def test_pods_that_count_and_name_no_policy_are_told() -> None:
    bare = [pod("x", "a1", meta={"labels": {"app": "web"}}), pod("y", meta={"labels": {"app": "web"}})]
    alias = pod("z", "a1", meta={"labels": {"app": "web", "workload-policy.kosmos.io": "regions"}})
    found = looked(*REGIONS, policy({"regionA": 1}), replica_set(4), *bare, alias, *pods({"b1": 1}))
    told = effect(found.survey)
    assert told is not None
    assert told[:2] == (False, "PodsWithoutLabel")
    assert told[2].startswith("2 pods match the labelSelector and name no policy")
    assert "workload-policy/kosmos.io: regions under spec.template.metadata.labels" in told[2]


def test_deletion_costs_of_somebody_else_are_told_with_whose_pods_they_are() -> None:
    given = pods({"a1": 2}, annotations={COST: "100"})
    found = looked(*REGIONS, policy({"regionA": 2}), replica_set(2), *given)
    told = effect(found.survey)
    assert told is not None
    assert told[:2] == (False, "OwnDeletionCosts")
    assert f"2 pods of ReplicaSet web have a {COST} that the rebalancer did not write" in told[2]
    assert effect(found.survey, writes_costs=False) is None
    assert told[1:] in [(each.reason, each.message) for each in status_of(found.survey, None, START).conditions or ()]


def test_costs_of_pods_that_no_controller_deletes_by_cost_are_nobodys_business() -> None:
    given = [
        pod("s", "a1", kind="StatefulSet", annotations={COST: "1"}),
        pod("b", "a1", owner=None, annotations={COST: "1"}),
    ]
    found = looked(*REGIONS, policy({"regionA": 2}), replica_set(1, kind="StatefulSet"), *given)
    assert effect(found.survey) is None


def test_counts_per_domain_and_in_all() -> None:
    numbers = policy({"regionA": 2, "regionB": 2})
    found = looked(*REGIONS, numbers, replica_set(4), *pods({"a1": 2}), pod("sick", "b1", ready=False), pod("w"))
    status = status_of(found.survey, None, START)
    assert (status.desired, status.current, status.ready, status.pending) == (4, 3, 2, 1)
    assert [(each.name, each.desired, each.current, each.ready, each.pending) for each in status.domains or ()] == [
        ("regionA", 2, 2, 2, 0), ("regionB", 2, 1, 0, 1),
    ]  # fmt: skip


def test_what_is_nothing_is_written_too() -> None:
    """A merge patch keeps the fields it does not name."""
    found = looked(*REGIONS, policy({"regionA": 0}))
    patch = as_patch(status_of(found.survey, None, START))
    assert {key: patch[key] for key in ("desired", "current", "ready", "pending")} == dict.fromkeys(
        ("desired", "current", "ready", "pending"), 0
    )
    assert patch["domains"] == [{"name": "regionA", "desired": 0, "current": 0, "ready": 0, "pending": 0}]
    assert msgspec.convert(patch, WorkloadPolicyStatus).desired == 0


def test_conditions_keep_their_time_until_they_change() -> None:
    found = cluster({"regionA": 1}, {"a1": 1})
    first = status_of(found.survey, (False, "NothingToMove", ""), START)
    known = dataclasses.replace(found.survey, policy=replace(found.survey.policy, status=first))
    again = status_of(known, (True, "Moving", "x"), START + 60)
    times = {each.type: each.last_transition_time for each in again.conditions or ()}
    assert times["Valid"] == (first.conditions or ())[0].last_transition_time
    assert times["Rebalancing"] != times["Valid"]
    assert says_the_same(first, status_of(known, (False, "NothingToMove", ""), START + 60))
    assert not says_the_same(first, again)
