"""The loop: who is scheduled when, who waits for whom, what preemption sets off, and when the run is over."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bayplan.simulator.driver import MAX_TRIES
from tests.simulator.support import Manifest, budget, by_name, config, node, pod, simulated, states, workload

OWN = Path(__file__).with_name("own_plugins.py")


def own(*names: str) -> dict[str, Any]:
    return {"plugins": [f"{OWN}:{name}" for name in names]}


def paired(name: str, pair: str) -> Manifest:
    return pod(name, meta={"labels": {"pair": pair}})


def test_pods_of_higher_priority_go_first() -> None:
    found = by_name(simulated(node("n1", "1"), pod("low", "800m", priority=1), pod("high", "800m", priority=5)))
    assert found["high"]["node"] == "n1"
    assert found["low"]["state"] == "Pending"
    assert found["low"]["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")


def test_a_pod_that_waits_for_another_does_not_hold_it_up() -> None:
    document = simulated(node("n1"), paired("a", "x"), paired("b", "x"), pod("alone"), **own("Pair"))
    assert set(states(document).values()) == {"Bound"}
    assert document["elapsed"] == 0.0


def test_a_pod_whose_partner_never_comes_is_let_go_each_time_and_at_last_for_good() -> None:
    document = simulated(node("n1", "1"), paired("a", "x"), pod("b", "950m"), **own("Pair"))
    found = by_name(document)
    assert found["b"]["state"] == "Bound"
    assert found["b"]["boundAt"] == 60.0
    assert found["a"]["state"] == "Pending"
    assert "Insufficient cpu" in found["a"]["message"]


def test_holding_a_pod_again_and_again_does_not_go_on_for_ever() -> None:
    found = by_name(simulated(node("n1"), paired("a", "x"), **own("Pair")))
    assert found["a"]["state"] == "Pending"
    assert found["a"]["attempts"] == MAX_TRIES


def test_a_pod_that_is_still_held_when_the_run_ends_says_so() -> None:
    found = by_name(simulated(node("n1"), paired("a", "x"), run_for_s=10, **own("Pair")))
    assert found["a"]["message"] == "held by Pair, to go to n1"


def test_slow_binds_run_side_by_side() -> None:
    document = simulated(node("n1"), pod("a"), pod("b"), **own("Slow"))
    assert [each["boundAt"] for each in document["pods"]] == [10.0, 10.0]


def test_an_error_is_tried_again_and_may_pass() -> None:
    found = by_name(simulated(node("n1"), pod("a", meta={"labels": {"breaks": "first"}}), **own("Broken")))
    assert found["a"]["state"] == "Bound"
    assert found["a"]["attempts"] == 2
    assert found["a"]["boundAt"] >= 1


def test_an_error_that_stays_ends_the_run_and_leaves_the_others_alone() -> None:
    found = by_name(simulated(node("n1"), pod("a", meta={"labels": {"breaks": "always"}}), pod("b"), **own("Broken")))
    assert found["b"]["state"] == "Bound"
    assert found["a"]["state"] == "Pending"
    assert "out of order" in found["a"]["message"]
    assert found["a"]["attempts"] == 1 + MAX_TRIES


def test_a_bind_that_fails_is_reported() -> None:
    profile = {"schedulerName": "default-scheduler", "plugins": {"bind": {"disabled": [{"name": "DefaultBinder"}]}}}
    found = by_name(simulated(node("n1"), pod("a"), config() | {"profiles": [profile]}, **own("Refusing")))
    assert found["a"]["state"] == "Pending"
    assert "no binds today" in found["a"]["message"]


def test_without_more_time_a_pod_that_only_time_could_help_stays_pending() -> None:
    document = simulated(node("n1"), pod("a"), **own("Late"))
    assert states(document) == {"a": "Pending"}
    assert document["elapsed"] == 0.0


def test_with_more_time_waiting_pods_are_tried_again() -> None:
    document = simulated(node("n1"), pod("a"), run_for_s=600, **own("Late"))
    assert states(document) == {"a": "Bound"}
    assert by_name(document)["a"]["boundAt"] >= 300
    assert document["elapsed"] == 600.0


def test_the_run_lasts_as_long_as_asked_also_with_nothing_to_do() -> None:
    assert simulated(node("n1"), run_for_s=90)["elapsed"] == 90.0


# -- preemption --


def test_a_preemptor_takes_the_place_of_a_lesser_pod() -> None:
    low = pod("low", "3", priority=1, nodeName="n1")
    document = simulated(node("n1"), low, pod("high", "3", priority=9))
    found = by_name(document)
    assert (found["high"]["state"], found["high"]["node"]) == ("Bound", "n1")
    assert (found["low"]["state"], found["low"]["node"]) == ("Preempted", "n1")
    assert found["low"]["message"] == "preempted by default/high on n1"
    assert document["summary"]["preempted"] == 1


def test_the_controller_of_a_preempted_pod_makes_another_which_must_wait_its_turn() -> None:
    web = workload("ReplicaSet", "web", "3", replicas=1, pods={"priority": 1})
    big = pod("big", "3", priority=9, schedulingGates=[])
    document = simulated(node("n1"), web, big)
    assert states(document) == {"big": "Bound"} | {
        name: "Pending" for name, each in by_name(document).items() if each["owner"]
    }


def test_a_preempted_pod_of_a_workload_is_replaced() -> None:
    web = workload("ReplicaSet", "web", "3", replicas=1)
    owner = {
        "ownerReferences": [
            {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "u", "controller": True}
        ]
    }
    running = pod("web-1", "3", meta={**owner, "labels": {"app": "web"}}, priority=1, nodeName="n1")
    document = simulated(node("n1"), node("n2", "3"), web, running, pod("big", "4", priority=9))
    found = by_name(document)
    assert found["big"]["node"] == "n1"
    assert found["web-1"]["state"] == "Preempted"
    (again,) = (each for name, each in found.items() if name not in ("big", "web-1"))
    assert (again["owner"], again["node"]) == ("ReplicaSet/web", "n2")


def test_budgets_decide_who_must_go() -> None:
    guarded = {"labels": {"app": "guarded"}}
    document = simulated(
        node("n1"),
        node("n2"),
        pod("guarded", "3", meta=guarded, priority=1, nodeName="n1"),
        pod("free", "3", priority=1, nodeName="n2"),
        budget("b", {"app": "guarded"}, minAvailable=1),
        pod("big", "3", priority=9),
    )
    assert states(document) == {"guarded": "Bound", "free": "Preempted", "big": "Bound"}


def test_a_pod_that_may_not_preempt_waits() -> None:
    low = pod("low", "3", priority=1, nodeName="n1")
    found = by_name(simulated(node("n1"), low, pod("polite", "3", priority=9, preemptionPolicy="Never")))
    assert found["low"]["state"] == "Bound"
    assert "not eligible due to preemptionPolicy=Never" in found["polite"]["message"]


def test_many_preemptions_come_to_an_end() -> None:
    low = workload("ReplicaSet", "low", "1", replicas=12, pods={"priority": 1})
    running = [
        pod(
            f"low-{n}",
            "1",
            meta={"ownerReferences": [{"kind": "ReplicaSet", "name": "low", "controller": True}]},
            priority=1,
            nodeName=f"n{n % 3}",
        )
        for n in range(12)
    ]
    high = workload("ReplicaSet", "high", "2", replicas=4, pods={"priority": 9})
    document = simulated(*(node(f"n{n}") for n in range(3)), low, *running, high)
    found = document["pods"]
    assert sum(each["owner"] == "ReplicaSet/high" and each["state"] == "Bound" for each in found) == 4
    assert document["summary"]["preempted"] == 8
    assert document["summary"]["pending"] == 8
