"""The ``View`` of a simulation: facts, cluster, decisions, time line, moves and policies."""

from __future__ import annotations

from bayplan.view.simulation_view import simulation_view
from tests.simulator.support import node, pod, workload
from tests.view.support import ORIGIN, ran

CLUSTER = [*(node(f"n{n}", str(4 + n)) for n in range(3)), workload("Deployment", "web", replicas=6), pod("big", "99")]


def test_everything_a_run_has_to_show() -> None:
    world = ran(*CLUSTER)
    view = simulation_view(world, ORIGIN)
    (cluster,) = view["clusters"]
    pods = list(world.cluster.records.values())

    assert (view["kind"], view["source"], view["made"]) == ("View", "simulate", "2025-06-15T15:06:40Z")
    assert [(each["label"], each["value"]) for each in view["facts"]] == [
        ("Pods bound", "6"),
        ("Pods pending", "1"),
        ("Nodes", "3"),
    ]
    assert cluster["pods"]["name"] == [record.pod.name for record in pods]
    (group,) = cluster["pending"]
    assert [cluster["pods"]["name"][each] for each in group["pods"]] == ["big"]
    assert group["view"]["command"] == f"{ORIGIN.command} --explain"
    assert [each["result"] for each in group["view"]["attempts"]] == ["FailedScheduling"]


def test_decisions_are_those_that_were_made() -> None:
    view = simulation_view(ran(*CLUSTER), ORIGIN)["clusters"][0]
    decisions, pods = view["decisions"], view["pods"]
    assert len(decisions["pod"]) == 6
    assert decisions["node"] == [pods["node"][each] for each in decisions["pod"]]
    assert [sum(each) for each in decisions["scores"]] == decisions["total"]
    assert [sum(each) for each in decisions["runnerUpScores"]] == decisions["runnerUpTotal"]
    assert all(-1 != up != own for up, own in zip(decisions["runnerUp"], decisions["node"], strict=True))


def test_without_a_history_there_are_neither_decisions_nor_a_time_line() -> None:
    view = simulation_view(ran(*CLUSTER, keeps_history=False), ORIGIN)
    assert view["timeline"] is None
    assert view["clusters"][0]["decisions"] is None
