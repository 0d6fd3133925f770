"""Disruption budgets: how many pods may be missing, worked out as the disruption controller does."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import EvictionRefusedError
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget
from bayplan.simulator.controllers.disruption_budgets import DisruptionController, scaled
from tests.simulator.support import Manifest, budget, objects, pod

LABELS = {"app": "web"}


def made(manifest: Manifest) -> PodDisruptionBudget:
    return next(each for each in objects(manifest) if isinstance(each, PodDisruptionBudget))


def web(name: str, *, on: str = "n1", owned: bool = True, **more: Any) -> Pod:
    meta = {"labels": LABELS} | ({"annotations": {"owned": "yes"}} if owned else {})
    return next(each for each in objects(pod(name, meta=meta, nodeName=on, **more)) if isinstance(each, Pod))


def scale(each: Pod) -> tuple[str, int] | None:
    """Every owned pod belongs to one controller that wants four."""
    return ("ReplicaSet/default/web", 4) if each.annotations.get("owned") else None


def after(spec: Manifest, pods: list[Pod]) -> PodDisruptionBudget:
    """The budget once these pods were seen."""
    budgets = DisruptionController([made(budget("b", LABELS, **spec))], scale)
    seen = [made(budget("b", LABELS, **spec))]
    for each in pods:
        seen += [now for _, now in budgets.added(each)]
    return seen[-1]


@pytest.mark.parametrize(
    ("case", "spec", "pods", "allowed"),
    [
        ("enough are left", {"minAvailable": 1}, [web("a"), web("b"), web("c")], 2),
        ("none to spare", {"minAvailable": 3}, [web("a"), web("b"), web("c")], 0),
        ("more asked for than there are", {"minAvailable": 9}, [web("a")], 0),
        ("a percentage of what the controller wants", {"minAvailable": "50%"}, [web("a"), web("b"), web("c")], 1),
        ("as many missing as may be", {"maxUnavailable": 1}, [web("a"), web("b"), web("c")], 0),
        ("one more may go", {"maxUnavailable": 1}, [web("a"), web("b"), web("c"), web("d")], 1),
        ("a percentage missing, rounded up", {"maxUnavailable": "30%"}, [web(name) for name in "abcd"], 2),
        ("pods without a controller count for nothing here", {"maxUnavailable": 1}, [web("a", owned=False)], 0),
        ("pods without a controller count for a number", {"minAvailable": 0}, [web("a", owned=False)], 1),
        ("waiting pods are not healthy", {"minAvailable": 1}, [web("a"), web("b", on="")], 0),
        (
            "unready pods are not healthy",
            {"minAvailable": 1},
            [web("a"), web("b", status={"conditions": [{"type": "Ready", "status": "False"}]})],
            0,
        ),
    ],
)
def test_how_many_may_go(case: str, spec: Manifest, pods: list[Pod], allowed: int) -> None:
    assert after(spec, pods).disruptions_allowed == allowed, case


def test_a_budget_follows_its_pods() -> None:
    budgets = DisruptionController([made(budget("b", LABELS, minAvailable=1))], scale)
    waiting = web("a", on="")
    budgets.added(web("z"))
    budgets.added(waiting)
    ((before, now),) = budgets.changed(waiting.assigned_to("n1"))
    assert (before.disruptions_allowed, now.disruptions_allowed) == (0, 1)
    ((_, now),) = budgets.gone(waiting.assigned_to("n1"))
    assert (now.disruptions_allowed, now.status.current_healthy) == (0, 1)


def test_pods_of_others_change_nothing() -> None:
    budgets = DisruptionController([made(budget("b", LABELS, minAvailable=1))], scale)
    other = next(
        each for each in objects(pod("x", meta={"namespace": "shop", "labels": LABELS})) if isinstance(each, Pod)
    )
    assert budgets.added(other) == []
    assert budgets.added(web("a").evolve(metadata=other.metadata)) == []


def test_percentages_are_rounded_up() -> None:
    assert [scaled("50%", 3), scaled("0%", 3), scaled("100%", 3), scaled(2, 3)] == [2, 0, 3, 2]


def refused(budgets: DisruptionController, pod: Pod) -> str:
    with pytest.raises(EvictionRefusedError) as refusal:
        budgets.spend(pod)
    return refusal.value.message


def test_an_eviction_takes_one_disruption_and_the_next_is_refused() -> None:
    budgets = DisruptionController([made(budget("b", LABELS, minAvailable=1))], scale)
    pods = [web("a"), web("b")]
    for each in pods:
        budgets.added(each)
    ((before, now),) = budgets.spend(pods[0])
    assert (before.disruptions_allowed, now.disruptions_allowed) == (1, 0)
    assert refused(budgets, pods[1]) == "The disruption budget b needs 1 healthy pods and has 2 currently"


def test_a_budget_whose_status_was_given_is_spent_too() -> None:
    given = made(budget("b", LABELS, minAvailable=1) | {"status": {"disruptionsAllowed": 1}})
    budgets = DisruptionController([], scale, kept=[given])
    assert budgets.added(web("a")) == []
    assert budgets.spend(web("a"))[0][1].disruptions_allowed == 0
    refused(budgets, web("b"))


@pytest.mark.parametrize(("policy", "may_go"), [(None, False), ("AlwaysAllow", True)])
def test_an_unready_pod_may_go_where_the_budget_says_so(policy: str | None, may_go: bool) -> None:
    more = {"unhealthyPodEvictionPolicy": policy} if policy else {}
    budgets = DisruptionController([made(budget("b", LABELS, minAvailable=2, **more))], scale)
    sick = web("sick", status={"conditions": [{"type": "Ready", "status": "False"}]})
    for each in (web("a"), sick):
        budgets.added(each)
    if may_go:
        assert budgets.spend(sick) == []
    else:
        refused(budgets, sick)


def test_an_unready_pod_costs_nothing_while_enough_others_are_ready() -> None:
    budgets = DisruptionController([made(budget("b", LABELS, minAvailable=1))], scale)
    sick = web("sick", status={"conditions": [{"type": "Ready", "status": "False"}]})
    for each in (web("a"), sick):
        budgets.added(each)
    assert budgets.spend(sick) == []
    refused(budgets, web("a"))


def test_two_budgets_for_one_pod_refuse_every_eviction() -> None:
    budgets = DisruptionController([made(budget(name, LABELS, minAvailable=0)) for name in ("b", "c")], scale)
    budgets.added(web("a"))
    assert "more than one PodDisruptionBudget" in refused(budgets, web("a"))
