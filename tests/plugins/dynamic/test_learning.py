"""What the pods of a workload use, learned from their nodes."""

from __future__ import annotations

from bayplan.objects.pod import Pod
from bayplan.objects.times import format_time
from bayplan.plugins.dynamic.learning import Learning, workload_of
from bayplan.testing import pod


def started(name: str, at: float, app: str = "web") -> Pod:
    made = pod(name).owned_by("ReplicaSet", f"{app}-7f").label({"pod-template-hash": "7f"})
    return made.on("n").started(format_time(at)).build()


def test_a_workload_is_its_deployment() -> None:
    assert workload_of(started("a", 0)) == ("Deployment", "default", "web")
    assert workload_of(pod("bare").build()) == ("Pod", "default", "bare")
    assert workload_of(pod("p").owned_by("Job", "j").build()) == ("Job", "default", "j")


def test_the_difference_is_shared_among_the_pods_that_became_visible() -> None:
    learning = Learning(300.0)
    first, second = started("a", 0), started("b", 0)
    assert learning.amount(first, 100) is None
    learning.see("n", 0, 10.0, [first, second])
    learning.see("n", 150, 30.0, [first, second])  # half of two pods
    assert learning.amount(started("c", 150), 100) == 20 * 1.1


def test_nothing_is_learned_while_two_workloads_come_or_pods_leave() -> None:
    mixed = Learning(300.0)
    mixed.see("n", 0, 0.0, [])
    mixed.see("n", 300, 50.0, [started("a", 0), started("b", 0, "other")])
    assert mixed.amount(started("a", 0), 1) is None
    leaving = Learning(300.0)
    leaving.see("n", 0, 0.0, [started("old", -1000, "other")])
    leaving.see("n", 300, 50.0, [started("a", 0)])
    assert leaving.amount(started("a", 0), 1) is None


def test_the_same_sample_seen_twice_teaches_once() -> None:
    learning = Learning(300.0)
    one = started("a", 0)
    learning.see("n", 0, 0.0, [one])
    for _ in range(3):
        learning.see("n", 300, 40.0, [one])
    assert learning.amount(one, 1) == 40 * 1.1
