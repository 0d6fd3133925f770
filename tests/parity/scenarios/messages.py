"""What the PodScheduled condition says when no node fits."""

from __future__ import annotations

from tests.parity.scenarios.scenario import Scenario, node, pod, priority_class

NAME_FIELD = {"key": "metadata.name", "operator": "In"}
TAINT = [{"key": "k", "effect": "NoSchedule"}]


def on_node(*names: str) -> dict[str, object]:
    terms = [{"matchFields": [NAME_FIELD | {"values": [name]} for name in names]}]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    return {"affinity": {"nodeAffinity": required}}


MESSAGES: tuple[Scenario, ...] = (
    Scenario(
        "no-nodes",
        "a cluster without nodes",
        pod("p"),
        {"node": None, "message": "no nodes available to schedule pods", "reason": "Unschedulable"},
    ),
    Scenario(
        "shortage-and-taints",
        "counts and reasons, and what preemption found",
        pod("p", "1"),
        {
            "message": "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) had untolerated taint(s). "
            "no new claims to deallocate, preemption: 0/3 nodes are available: "
            "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
        },
        (node("n1", cpu="1"), node("n2", taints=TAINT), node("n3", taints=TAINT)),
        (pod("b1", "500m", on="n1"),),
    ),
    Scenario(
        "sorted-as-text",
        "reasons are sorted as text, the count included",
        pod("p", "8"),
        {
            "message": "0/12 nodes are available: 10 Insufficient cpu, 2 node(s) had untolerated taint(s). "
            "no new claims to deallocate, preemption: 0/12 nodes are available: "
            "12 Preemption is not helpful for scheduling."
        },
        (
            *(node(f"n{index:02}") for index in range(10)),
            node("t1", taints=TAINT),
            node("t2", taints=TAINT),
        ),
    ),
    Scenario(
        "never-preempts",
        "a pod that may not preempt",
        pod("p", "1", "40Gi", spec={"priorityClassName": "polite"}),
        {
            "message": "0/1 nodes are available: 1 Insufficient memory. no new claims to deallocate, "
            "preemption: not eligible due to preemptionPolicy=Never."
        },
        (node("n1"),),
        others=(priority_class("polite", 1000, preemptionPolicy="Never"),),
    ),
    Scenario(
        "missing-claim",
        "a claim that does not exist stops the cycle before DynamicResources has looked",
        pod("p", spec={"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "x"}}]}),
        {"message": '0/2 nodes are available: persistentvolumeclaim "x" not found. not found'},
        (node("n1"), node("n2")),
    ),
    Scenario(
        "conflicting-names",
        "two node names at once",
        pod("p", spec=on_node("n1", "n2")),
        {"message": "0/2 nodes are available: pod affinity terms conflict. not found"},
        (node("n1"), node("n2")),
    ),
    Scenario(
        "node-gone",
        "a pod for one node that does not exist",
        pod("p", spec=on_node("gone")),
        {
            "message": "0/3 nodes are available: 3 node(s) didn't satisfy plugin(s) [NodeAffinity]. "
            "no new claims to deallocate, preemption: 0/3 nodes are available: "
            "3 Preemption is not helpful for scheduling."
        },
        (node("n1"), node("n2"), node("n3")),
    ),
    Scenario(
        "node-full",
        "a pod for one node that is full: the others do not count as failed",
        pod("p", "3", spec=on_node("n1")),
        {
            "message": "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) "
            "[NodeAffinity]. no new claims to deallocate, preemption: 0/3 nodes are available: "
            "1 No preemption victims found for incoming pod, 2 Preemption is not helpful for scheduling."
        },
        (node("n1"), node("n2"), node("n3")),
        (pod("b", "2", on="n1"),),
    ),
    Scenario(
        "too-large-and-full",
        "a request above the size of the node makes preemption pointless, whatever else is short",
        pod("p", "5", spec={"priorityClassName": "high"}),
        {
            "message": "0/1 nodes are available: 1 Insufficient cpu, 1 Too many pods. "
            "no new claims to deallocate, preemption: 0/1 nodes are available: "
            "1 Preemption is not helpful for scheduling."
        },
        (node("n1", pods="1"),),
        (pod("b", "1", on="n1"),),
        (priority_class("high", 1000),),
    ),
)
