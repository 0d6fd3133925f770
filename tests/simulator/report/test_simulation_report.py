"""The report of a simulation: the fields that scripts rely on, and the tables that people read."""

from __future__ import annotations

from typing import Any

from bayplan.simulator.report import simulation_report
from tests.simulator.support import node, pod, simulated, workload


def test_the_document_has_every_field_of_the_contract() -> None:
    document = simulated(node("n1"), workload("Deployment", "web", replicas=1), pod("big", "9"), seed=3)
    assert document["apiVersion"] == "bayplan.io/v1alpha1"
    assert document["kind"] == "Simulation"
    assert document["seed"] == 3
    assert document["summary"] == {
        "nodes": 1,
        "pods": 2,
        "bound": 1,
        "pending": 1,
        "gated": 0,
        "ignored": 0,
        "preempted": 0,
    }
    web, big = document["pods"]
    assert {**web, "name": "-"} == {
        "namespace": "default",
        "name": "-",
        "owner": "Deployment/web",
        "scheduler": "default-scheduler",
        "state": "Bound",
        "node": "n1",
        "message": "",
        "attempts": 1,
        "boundAt": 0.0,
    }
    assert (big["owner"], big["node"], big["boundAt"]) == (None, None, None)
    assert big["message"].startswith("0/1 nodes are available: 1 Insufficient cpu.")
    assert document["nodes"] == [
        {
            "name": "n1",
            "pods": 1,
            "requested": {"cpu": "100m", "memory": "0"},
            "allocatable": {"cpu": "4", "memory": "8Gi", "pods": "110"},
        }
    ]


def test_extended_resources_are_counted_too() -> None:
    gpus = node("n1")
    gpus["status"]["allocatable"]["example.com/gpu"] = "4"
    user = pod("a")
    user["spec"]["containers"][0]["resources"] = {"limits": {"example.com/gpu": "3", "memory": "1Gi"}}
    (found,) = simulated(gpus, user)["nodes"]
    assert found["requested"] == {"cpu": "0", "memory": "1Gi", "example.com/gpu": "3"}
    assert found["allocatable"]["example.com/gpu"] == "4"


def document() -> dict[str, Any]:
    return simulated(node("n1"), pod("a"), pod("big-1", "9"), pod("big-2", "9"), with_explanations=True)


def test_the_table_shows_pods_nodes_reasons_and_a_summary() -> None:
    assert simulation_report.as_table(simulated(node("n1"), pod("a"), pod("big", "9"))).splitlines() == [
        "NAMESPACE   NAME   OWNER   STATE     NODE",
        "default     a      -       Bound     n1",
        "default     big    -       Pending   -",
        "",
        "NODE   PODS   CPU      MEMORY",
        "n1     1      100m/4   0/8Gi",
        "",
        "Pending: default/big: 0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
        "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling.",
        "",
        "2 pods on 1 node: 1 bound, 1 pending",
    ]


def test_the_wide_table_has_more_columns() -> None:
    text = simulation_report.as_table(document(), wide=True)
    assert "SCHEDULER" in text
    assert "BOUND-AT" in text
    assert text.splitlines()[1].split() == ["default", "a", "-", "Bound", "n1", "default-scheduler", "1", "0s", "-"]


def test_pods_with_the_same_message_are_told_of_together_and_explained_once() -> None:
    text = simulation_report.as_table(document())
    assert text.count("0/1 nodes are available: 1 Insufficient cpu") == 1
    assert "default/big-1 and 1 more: " in text
    assert text.count("NEAREST MISS") == 1


def test_pods_with_the_same_message_that_lack_other_amounts_are_explained_apart() -> None:
    text = simulation_report.as_table(
        simulated(node("n1"), pod("big-1", "9"), pod("big-2", "20"), with_explanations=True)
    )
    assert "5 cpu of the 9 asked for" in text
    assert "16 cpu of the 20 asked for" in text


def test_names_are_one_a_line() -> None:
    assert simulation_report.as_names(document()).splitlines() == ["pod/a", "pod/big-1", "pod/big-2"]


def test_states_get_the_style_that_is_asked_for() -> None:
    text = simulation_report.as_table(document(), style=lambda word: f"\x1b[31m{word}\x1b[0m")
    assert "\x1b[31mPending\x1b[0m" in text
    columns = [line.replace("\x1b[31m", "").replace("\x1b[0m", "").find("n1") for line in text.splitlines()[:2]]
    assert columns[1] == text.splitlines()[0].find("NODE")


def test_an_empty_simulation_says_so() -> None:
    assert simulation_report.as_table(simulated()) == "0 pods on 0 nodes: nothing to do"


def test_virtual_time_is_told_where_some_passed() -> None:
    assert simulation_report.summary_line(simulated(node("n1"), run_for_s=30)).endswith("; 30 s of virtual time")
