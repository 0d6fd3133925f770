"""The rebalancer in virtual time: waves, budgets, holds and bounces, with the same controller as in life."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.objects.files.manifests import AT
from bayplan.simulator.report.simulation_report import as_table
from tests.controllers.rebalancer.support import LABEL, pods, policy, region
from tests.simulator.support import Manifest, budget, simulated, workload

REGIONS = [region(f"{name}{number}", f"region{name.upper()}") for name in "ab" for number in (1, 2)]
AT_ONCE = {"mode": "Auto", "stabilizationSeconds": 0, "intervalSeconds": 0}


def later(manifest: Manifest, at: str = "1m") -> Manifest:
    meta = manifest["metadata"]
    return {**manifest, "metadata": {**meta, "annotations": {**(meta.get("annotations") or {}), AT: at}}}


def web(replicas: int, kind: str = "Deployment", **spec: Any) -> Manifest:
    made = workload(kind, "web", replicas=replicas, **spec)
    made["spec"]["template"]["metadata"]["labels"] |= {LABEL: "regions"}
    return made


def numbers(a: int, b: int, rebalance: Manifest | None = None, **spec: Any) -> Manifest:
    return policy({"regionA": a, "regionB": b}, allocationType="Required", rebalance=rebalance or AT_ONCE, **spec)


def per_region(document: Manifest) -> dict[str, int]:
    bound = [each["node"] for each in document["pods"] if each["state"] == "Bound"]
    return {name: sum(node.startswith(name) for node in bound) for name in "ab"}


def finding(document: Manifest, kind: str) -> Manifest:
    (policy_then,) = document["policies"]
    found: Manifest = next(each for each in policy_then["conditions"] if each["type"] == kind)
    return found


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet"])
def test_five_and_three_become_three_and_five_in_two_moves(kind: str) -> None:
    document = simulated(
        *REGIONS, numbers(5, 3), later(numbers(3, 5)), web(8, kind), budget("web", {"app": "web"}, maxUnavailable=1)
    )
    assert [(each["fromDomain"], each["toDomain"]) for each in document["moves"]] == [("regionA", "regionB")] * 2
    assert per_region(document) == {"a": 3, "b": 5}
    assert finding(document, "Satisfied")["status"] == "True"
    assert finding(document, "Rebalancing")["reason"] == "NothingToMove"


@pytest.mark.parametrize("mode", ["Off", "DryRun"])
def test_nothing_moves_unless_the_policy_says_so(mode: str) -> None:
    document = simulated(*REGIONS, numbers(5, 3), later(numbers(3, 5, {"mode": mode})), web(8))
    assert document["moves"] == []
    assert per_region(document) == {"a": 5, "b": 3}
    assert finding(document, "Satisfied")["reason"] == "PodsMisplaced"
    if mode == "DryRun":
        assert finding(document, "Rebalancing")["message"].startswith("would move web-")


def test_waves_are_as_large_as_the_policy_allows_and_keep_their_distance() -> None:
    terms = {"mode": "Auto", "stabilizationSeconds": 20, "intervalSeconds": 60, "maxUnavailable": 2}
    document = simulated(*REGIONS, numbers(5, 3, terms), later(numbers(0, 8, terms)), web(8))
    assert [each["at"] for each in document["moves"]] == [80.0, 80.0, 140.0, 140.0, 200.0]


def test_a_percentage_is_of_all_pods() -> None:
    terms = {**AT_ONCE, "maxUnavailable": "50%"}
    document = simulated(*REGIONS, numbers(5, 3, terms), later(numbers(0, 8, terms)), web(8))
    assert [each["at"] for each in document["moves"]] == [60.0] * 5


def test_without_anything_said_one_pod_moves_at_a_time_after_half_a_minute() -> None:
    document = simulated(*REGIONS, numbers(5, 3, {"mode": "Auto"}), later(numbers(3, 5, {"mode": "Auto"})), web(8))
    assert [each["at"] for each in document["moves"]] == [90.0, 100.0]


def test_a_budget_of_none_moves_nothing() -> None:
    terms = {**AT_ONCE, "maxUnavailable": 0}
    document = simulated(*REGIONS, numbers(5, 3, terms), later(numbers(3, 5, terms)), web(8))
    assert document["moves"] == []
    assert finding(document, "Rebalancing")["reason"] == "PodsUnavailable"


def test_a_disruption_budget_that_allows_nothing_is_asked_now_and_then() -> None:
    none = budget("web", {"app": "web"}, maxUnavailable=0)
    document = simulated(*REGIONS, numbers(5, 3), later(numbers(3, 5)), web(8), none, run_for_s=600)
    assert document["moves"] == []
    assert finding(document, "Rebalancing")["reason"] == "EvictionRefused"


def test_a_budget_that_never_allows_anything_does_not_keep_the_simulation_going() -> None:
    none = budget("web", {"app": "web"}, maxUnavailable=0)
    late = [later(numbers(5, 3), "48h"), later(numbers(4, 4), "49h")]
    for changes in ([], late):
        document = simulated(*REGIONS, numbers(5, 3), later(numbers(3, 5)), *changes, web(8), none)
        assert document["moves"] == []
        assert finding(document, "Rebalancing")["reason"] == "EvictionRefused"


def test_nothing_moves_while_a_domain_is_not_ready_and_it_goes_on_afterwards() -> None:
    def node_b(number: int, ready: bool) -> Manifest:
        made = region(f"b{number}", "regionB")
        made["status"]["conditions"] = [{"type": "Ready", "status": "True" if ready else "Unknown"}]
        return made

    lost = [later(node_b(number, False), "30s") for number in (1, 2)]
    changed = [*REGIONS, numbers(5, 3), *lost, later(numbers(3, 5)), web(8)]
    document = simulated(*changed)
    assert document["moves"] == []
    assert finding(document, "Rebalancing")["message"] == "domain regionB is not ready: 2 of 2 nodes"
    back = [later(node_b(number, True), "10m") for number in (1, 2)]
    assert [each["at"] for each in simulated(*changed, *back)["moves"]] == [600.0, 600.0]


def test_only_as_many_pods_move_as_fit() -> None:
    small = [region("a1", "regionA"), region("b1", "regionB", cpu="450m")]
    document = simulated(*small, numbers(5, 3), later(numbers(3, 5)), web(8))
    assert len(document["moves"]) == 1
    assert per_region(document) == {"a": 4, "b": 4}
    assert finding(document, "Rebalancing")["reason"] == "NoMovePossible"


def test_a_single_replica_moves_only_when_told() -> None:
    for allowed, count in ((False, 0), (True, 1)):
        terms = {**AT_ONCE, "allowSingleReplica": allowed}
        document = simulated(*REGIONS, numbers(1, 0, terms), later(numbers(0, 1, terms)), web(1))
        assert len(document["moves"]) == count


def test_scaling_in_keeps_the_policy() -> None:
    document = simulated(*REGIONS, numbers(5, 3), web(8), later(web(5)))
    assert per_region(document) == {"a": 3, "b": 2}
    assert document["summary"]["scaledIn"] == 3
    assert "3 scaled in" in simulated_text(*REGIONS, numbers(5, 3), web(8), later(web(5)))


def test_scaling_out_and_a_stateful_set() -> None:
    document = simulated(*REGIONS, numbers(5, 3), web(4, "StatefulSet"), later(web(8, "StatefulSet")))
    assert per_region(document) == {"a": 5, "b": 3}
    document = simulated(*REGIONS, numbers(5, 3), web(8, "StatefulSet"), later(web(6, "StatefulSet")))
    gone = sorted(each["name"] for each in document["pods"] if each["state"] == "ScaledIn")
    assert gone == ["web-6", "web-7"]


def simulated_text(*manifests: Manifest) -> str:
    return as_table(simulated(*manifests))


def test_a_node_that_comes_later_takes_pods() -> None:
    document = simulated(region("a1", "regionA"), numbers(0, 1), web(1), later(region("b1", "regionB"), "5m"))
    assert per_region(document) == {"a": 0, "b": 1}


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (later(numbers(1, 1), "soon"), "soon"),
        (later(region("b9", "regionB"), "-5m"), '-5m" is before the simulation begins; write 0s or more'),
        (
            later(
                {
                    "apiVersion": "scheduling.k8s.io/v1",
                    "kind": "PriorityClass",
                    "metadata": {"name": "high"},
                    "value": 9,
                }
            ),
            "a PriorityClass cannot come later",
        ),
    ],
)
def test_what_cannot_change_is_told(made: Manifest, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as caught:
        simulated(*REGIONS, numbers(1, 1), made)
    assert AT in str(caught.value)


def test_pods_that_are_there_already_are_moved_too() -> None:
    made = workload("ReplicaSet", "web", replicas=8)
    made["spec"]["template"]["metadata"]["labels"] |= {LABEL: "regions"}
    document = simulated(*REGIONS, numbers(3, 5), made, *pods({"a1": 5, "b1": 3}))
    assert len(document["moves"]) == 2
    assert per_region(document) == {"a": 3, "b": 5}


def test_a_node_that_changes_its_region_is_news_too() -> None:
    document = simulated(*REGIONS, numbers(4, 4), web(8), later(region("a2", "regionB")))
    assert {(each["fromDomain"], each["toDomain"]) for each in document["moves"]} == {("regionB", "regionA")}
    assert {each["node"] for each in document["pods"] if each["state"] == "Bound"} <= {"a1", "a2", "b1", "b2"}
    assert [each["current"] for each in document["policies"][0]["domains"]] == [4, 4]


def test_the_same_input_gives_the_same_moves() -> None:
    given = [*REGIONS, numbers(5, 3), later(numbers(1, 7)), web(8), later(web(6), "20m")]
    assert simulated(*given) == simulated(*given)
