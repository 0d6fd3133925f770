"""What runs are judged by, on clusters small enough to count by hand."""

from __future__ import annotations

from bayplan.simulator.comparison.measures import better, flat, fragmentation, of_nodes
from tests.simulator.support import ZONE, node, pod, workload, world
from tests.simulator.what_if.asking import on


def test_free_room_that_no_pod_can_use_is_fragmentation() -> None:
    made = world(node("n1"), node("n2"), pod("a", "3", nodeName="n1"), pod("b", "2", nodeName="n2"))
    pods = made.cluster.living()
    # Of 3 free CPUs, the pod of 3 can use none, and the pod of 2 can use the two on n2.
    assert fragmentation(made.scheduler.cache.nodes, pods) == round((1 + 1 / 3) / 2, 3)
    assert fragmentation(made.scheduler.cache.nodes, []) == 0.0


def test_an_uneven_workload_shows_in_the_spread() -> None:
    nodes = [node("n1", labels={ZONE: "a"}), node("n2", labels={ZONE: "b"})]
    pods = [on(f"web-{number}", "n1", "web") for number in range(3)]
    found = of_nodes(world(*nodes, workload("ReplicaSet", "web", replicas=3), *pods), {})
    assert (found["spread"], found["nodesUsed"], found["cost"]) == (3.0, 1, 1.0)
    assert found["podsPerNode"] == {"least": 0, "mean": 1.5, "most": 3}


def test_daemons_do_not_make_a_node_used() -> None:
    assert of_nodes(world(node("n1"), workload("DaemonSet", "agent")), {})["nodesUsed"] == 0


def test_more_is_better_only_for_bound_pods() -> None:
    run = {
        "name": "A", "bound": 3, "pending": 1, "preempted": 0, "moved": 0, "balance": {"cpu": 0.1, "memory": 0.2},
        "fragmentation": 0.0, "podsPerNode": {"most": 3}, "spread": 0.0, "nodesUsed": 2, "cost": 2.0,
    }  # fmt: skip
    found = better([run, {**run, "name": "B", "bound": 4, "pending": 0}])
    assert found == {"bound": ["B"], "pending": ["B"]}
    assert flat(run)["balance.memory"] == 0.2
