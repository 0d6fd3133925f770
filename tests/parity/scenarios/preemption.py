"""Whom a pod of higher priority displaces, and where."""

from __future__ import annotations

from typing import Any

from tests.parity.scenarios.scenario import Scenario, about_app, budget, node, pod, priority_class, required_terms

CLASSES = (priority_class("low", 10), priority_class("middle", 100), priority_class("high", 1000))
HIGH = {"priorityClassName": "high"}
PORT = {"containers": [{"name": "main", "image": "app:1", "ports": [{"containerPort": 80, "hostPort": 80}]}]}
VACATING = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler"}


def low(name: str, cpu: str, on: str, **fields: Any) -> dict[str, Any]:
    return pod(name, cpu, on=on, spec={"priorityClassName": fields.pop("rank", "low")}, **fields)


PREEMPTION: tuple[Scenario, ...] = (
    Scenario(
        "fewest-reprieved",
        "the most important victims are spared first: the older of two equals stays",
        pod("p", "2", spec=HIGH),
        {"message": "0/1 nodes are available: 1 Insufficient cpu.", "nominated_node": "n1", "victims": ["default/new"]},
        (node("n1"),),
        (low("old", "2", "n1", started="08:00"), low("new", "2", "n1", started="09:00")),
        CLASSES,
    ),
    Scenario(
        "lowest-highest-priority",
        "the node whose most important victim matters least",
        pod("p", "4", spec=HIGH),
        {"nominated_node": "n2", "victims": ["default/b2", "default/b3"]},
        (node("n1"), node("n2")),
        (low("b1", "4", "n1", rank="middle"), low("b2", "2", "n2"), low("b3", "2", "n2")),
        CLASSES,
    ),
    Scenario(
        "fewest-victims",
        "with equal priorities the node with fewer victims",
        pod("p", "4", spec=HIGH),
        {"nominated_node": "n1", "victims": ["default/b1"]},
        (node("n1"), node("n2")),
        (low("b1", "4", "n1"), low("b2", "2", "n2"), low("b3", "2", "n2")),
        CLASSES,
    ),
    Scenario(
        "latest-start",
        "all else equal the node whose victim started last",
        pod("p", "4", spec=HIGH),
        {"nominated_node": "n2", "victims": ["default/b2"]},
        (node("n1"), node("n2")),
        (low("b1", "4", "n1", started="08:00"), low("b2", "4", "n2", started="09:00")),
        CLASSES,
    ),
    Scenario(
        "budgets-first",
        "the node where no budget is violated, even if the victims there matter more",
        pod("p", "4", spec=HIGH),
        {"nominated_node": "n1", "victims": ["default/b1"]},
        (node("n1"), node("n2")),
        (low("b1", "4", "n1", rank="middle"), low("b2", "4", "n2", labels={"app": "a"})),
        (*CLASSES, budget("a", "a", 0)),
    ),
    Scenario(
        "violating-spared",
        "on one node pods under an exhausted budget are spared first",
        pod("p", "2", spec=HIGH),
        {"nominated_node": "n1", "victims": ["default/free"]},
        (node("n1"),),
        (
            low("kept", "2", "n1", labels={"app": "a"}, started="09:00"),
            low("free", "2", "n1", rank="middle", started="08:00"),
        ),
        (*CLASSES, budget("a", "a", 0)),
    ),
    Scenario(
        "budget-is-no-wall",
        "a budget does not stop preemption where there is no other way",
        pod("p", "4", spec=HIGH),
        {"nominated_node": "n1", "victims": ["default/b1"]},
        (node("n1"),),
        (low("b1", "4", "n1", labels={"app": "a"}),),
        (*CLASSES, budget("a", "a", 0)),
    ),
    Scenario(
        "too-many-pods",
        "a node with too many pods can be relieved",
        pod("p", spec=HIGH),
        {"message": "0/1 nodes are available: 1 Too many pods.", "victims": ["default/b1"]},
        (node("n1", pods="1"),),
        (low("b1", "1", "n1"),),
        CLASSES,
    ),
    Scenario(
        "anti-affinity-victim",
        "a pod that the new one must not meet is displaced, its neighbours stay",
        pod("p", spec=HIGH | required_terms("podAntiAffinity", about_app("a"))),
        {"nominated_node": "n1", "victims": ["default/b1"]},
        (node("n1"),),
        (low("b1", "1", "n1", labels={"app": "a"}), low("b2", "1", "n1")),
        CLASSES,
    ),
    Scenario(
        "already-terminating",
        "a victim that is being deleted already is chosen like any other and not deleted again",
        pod("p", "4", spec=HIGH),
        {"nominated_node": "n1", "victims": ["default/b1"], "evicted": []},
        (node("n1"),),
        (low("b1", "4", "n1"),),
        CLASSES,
        terminating=("b1",),
    ),
    Scenario(
        "port-held-twice",
        "host ports of a node are a set: taking away one of two pods that hold a port frees it",
        pod("p", spec={"priorityClassName": "middle"} | PORT),
        {"nominated_node": "n1", "victims": ["default/b1"]},
        (node("n1"),),
        (
            pod("b1", on="n1", spec={"priorityClassName": "low"} | PORT),
            pod("b2", on="n1", spec=HIGH | PORT),
        ),
        CLASSES,
        bayplan_differs=True,
    ),
    Scenario(
        "nominated-waits",
        "a nominated pod waits for the pods it displaced",
        pod("p", "4", spec=HIGH, status={"nominatedNodeName": "n1"}),
        {
            "message": "0/2 nodes are available: 2 Insufficient cpu. no new claims to deallocate, "
            "preemption: not eligible due to a terminating pod on the nominated node.",
            "victims": [],
        },
        (node("n1"), node("n2")),
        (low("b1", "4", "n1", status={"conditions": [VACATING]}), low("b2", "4", "n2")),
        CLASSES,
        terminating=("b1",),
    ),
    Scenario(
        "nominated-node-first",
        "a nominated node that fits is taken without looking at the others",
        pod("p", "1", status={"nominatedNodeName": "n1"}),
        {"node": "n1", "scores": {"NodeResourcesFit": None}, "feasible": None},
        (node("n1"), node("n2")),
        (low("b1", "2", "n1"),),
        CLASSES,
    ),
)
