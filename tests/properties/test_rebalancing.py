"""The rebalancer's plan on random small clusters: never worse, never more moves than needed, and it comes true."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from bayplan.controllers.rebalancer.imagined_moves import leave, place, replacement_of
from bayplan.engine.what_if import WhatIf
from bayplan.objects.pod import Pod
from bayplan.simulator.simulation import run
from tests.controllers.rebalancer.support import Looked, looked, pod, policy, region, replica_set
from tests.simulator.support import budget, world

REGIONS = ("regionA", "regionB", "regionC")
SIZES = ("100m", "300m", "600m")


@st.composite
def clusters(draw: st.DrawFn, *, max_pods: int = 6) -> list[dict[str, Any]]:
    """Regions of one or two nodes, pods of three sizes on them, and a policy."""
    count = draw(st.integers(2, 3))
    nodes = [
        region(f"{name[-1].lower()}{number}", name, cpu=draw(st.sampled_from(["700m", "1", "4"])))
        for name in REGIONS[:count]
        for number in range(draw(st.integers(1, 2)))
    ]
    if draw(st.booleans()):
        nodes.append(region("z0", None, cpu="4"))
    names = [each["metadata"]["name"] for each in nodes]
    free = {name: _milli(each["status"]["allocatable"]["cpu"]) for name, each in zip(names, nodes, strict=True)}
    pods, sizes = [], Counter[str]()
    for number in range(draw(st.integers(1, max_pods))):
        on, size = draw(st.sampled_from(names)), draw(st.sampled_from(SIZES))
        if free[on] < _milli(size):
            continue
        free[on] -= _milli(size)
        sizes[size] += 1
        pods.append(pod(f"p{number}", on, owner=f"set-{size}", cpu=size))
    numbers = {name: draw(st.integers(0, 3)) for name in REGIONS[:count]}
    kind = draw(st.sampled_from(["Required", "Preferred"]))
    method = draw(st.sampled_from(["Balance", "Fill"]))
    rules = policy(
        numbers, allocationType=kind, allocationMethod=method,
        rebalance={"mode": "Auto", "allowSingleReplica": True, "stabilizationSeconds": 0, "intervalSeconds": 0,
                   "maxUnavailable": draw(st.integers(1, 3))},
    )  # fmt: skip
    return [*nodes, rules, *(replica_set(many, f"set-{size}") for size, many in sizes.items()), *pods]


def _milli(text: str) -> int:
    return int(text[:-1]) if text.endswith("m") else 1000 * int(text)


def deviation(desired: dict[str, int], counts: Counter[str]) -> int:
    return sum(abs(desired.get(name, 0) - counts[name]) for name in {*desired, *counts})


def fewest_and_most(found: Looked) -> int:
    """By trying everything: how many moves from too many to too few can be made one after the other."""
    (group,) = found.survey.groups
    assert found.survey.rules is not None
    rules = found.survey.rules
    counts = Counter(group.current)
    best = 0

    def go(left: list[Pod], imagined: WhatIf, depth: int) -> None:
        nonlocal best
        best = max(best, depth)
        for one in left:
            source = found.surveyor.domain_of(one, rules)
            if counts[source] <= group.desired.get(source, 0):
                continue
            then = imagined.fork()
            leave(then, one)
            counts[source] -= 1
            made = replacement_of(one)
            node = then.decide(made).node
            if node is not None:
                target = found.surveyor.domain_of(made.assigned_to(node), rules)
                if counts[target] < group.desired.get(target, 0):
                    place(then, made, node)
                    counts[target] += 1
                    go([each for each in left if each is not one], then, depth + 1)
                    counts[target] -= 1
            counts[source] += 1

    go(list(group.bound), found.world.scheduler.what_if(), 0)
    return best


@settings(max_examples=120, deadline=None)
@given(clusters())
def test_no_plan_is_worse_and_none_reaches_further(manifests: list[dict[str, Any]]) -> None:
    found = looked(*manifests)
    plan = found.plan()
    (group,) = found.survey.groups
    counts = Counter(group.current)
    before = deviation(group.desired, counts)
    for number, move in enumerate(plan.moves, 1):
        counts[move.source] -= 1
        counts[move.target] += 1
        assert deviation(group.desired, counts) == before - 2 * number, "every move helps, and by as much as one can"
    assert len({move.pod.uid for move in plan.moves}) == len(plan.moves), "nobody moves twice"
    assert len(plan.moves) == fewest_and_most(found)
    assert len(plan.moves) <= plan.needed


@settings(max_examples=80, deadline=None)
@given(clusters(max_pods=8), st.integers(0, 3), st.booleans())
def test_a_plan_comes_true_within_every_budget(manifests: list[dict[str, Any]], allowed: int, is_least: bool) -> None:
    """The same plan, carried out by the controller in virtual time, ends where the planner said it would."""
    total = sum(each["kind"] == "Pod" for each in manifests)
    limits = {"minAvailable": max(0, total - allowed)} if is_least else {"maxUnavailable": allowed}
    planned = looked(*manifests)
    made = world(*manifests, budget("web", {"app": "web"}, **limits))
    cluster = made.cluster
    real, least = cluster.evict, total

    async def evict(one: Pod) -> None:
        nonlocal least
        await real(one)
        alive = sum(not record.is_gone and bool(record.pod.node_name) for record in cluster.records.values())
        least = min(least, alive)

    vars(cluster)["evict"] = evict
    run(made, 3600.0)
    assert made.rebalancing is not None
    moves = made.rebalancing.moves
    assert least >= total - allowed
    if not allowed:
        assert moves == []
        return
    (policy_then,) = made.rebalancing.observed.policies()
    (group,) = planned.survey.groups
    counts = Counter(group.current)
    for move in planned.plan().moves:
        counts[move.source] -= 1
        counts[move.target] += 1
    reached = Counter({each.name: each.current for each in policy_then.status.domains or ()})
    assert deviation(group.desired, reached) <= deviation(group.desired, counts)
