"""The policies of examples/gpu-sharing score nodes by the published formulas, written here once more for one node."""

from __future__ import annotations

import importlib
from pathlib import Path
from random import Random
from typing import Any

import pytest

from bayplan.framework import CycleState
from bayplan.testing import assert_forms_agree, cluster, make, node, pod

SOURCE = Path(__file__).resolve().parents[2] / "examples" / "gpu-sharing" / "src"
MILLI, INDEX = "gpu-sharing.example.com/milli", "gpu-sharing.example.com/index"
CPU, GPU = 128_000, 8_000


class Machine:
    """A node as a person would keep it: what is free of its CPU and of each GPU, and the classes of its pods."""

    def __init__(self, rng: Random, name: str) -> None:
        self.count = rng.choice((1, 2, 4, 8))
        self.cpu = rng.randrange(8, 128) * 1000
        self.free = [1000] * self.count
        self.classes: set[object] = set()
        self.built = node(name).cpu(f"{self.cpu}m").memory("512Gi").pods(110).scalar(MILLI, str(1000 * self.count))
        self.pods: list[Any] = []
        for number in range(rng.randrange(5)):
            self._run(rng, f"{name}-{number}")

    def _run(self, rng: Random, name: str) -> None:
        whole = rng.random() < 0.4
        milli = 1000 if whole else rng.choice((100, 250, 500))
        fits = [index for index, free in enumerate(self.free) if free >= milli]
        if not fits:
            return
        index = rng.choice(fits)
        self.free[index] -= milli
        self.cpu -= 500
        self.classes.add(1 if whole else "shared")
        made = pod(name).cpu("500m").scalar(MILLI, str(milli)).annotation({INDEX: str(index)})
        self.pods.append(made.on(self.built.build().name))

    def tightest(self, milli: int, count: int) -> list[int]:
        return sorted(free for free in self.free if free >= milli)[:count]


def dot_prod(machine: Machine, cpu: int, milli: int, count: int) -> int:
    return int(100 * (1 - (machine.cpu / CPU * cpu / CPU + sum(machine.free) / GPU * milli * count / GPU) / 2))


def best_fit(machine: Machine, cpu: int, milli: int, count: int) -> int:
    return int(100 * (1 - (machine.cpu - cpu) / CPU / 2 - (sum(machine.free) - milli * count) / GPU / 2))


def gpu_packing(machine: Machine, cpu: int, milli: int, count: int) -> int:
    idle = machine.free.count(1000)
    if idle == machine.count:
        return max(33 - idle, idle)
    given = machine.tightest(milli, count)
    if 1000 in given:
        return max(33, 50 - given.count(1000))
    return max(50, 100 - sum(free * 100 // 1000 for free in given) // 10)


def gpu_clustering(machine: Machine, cpu: int, milli: int, count: int) -> int:
    own: object = "shared" if milli < 1000 else count
    worth = 25 if not machine.classes else 75 if machine.classes == {own} else 50 if own in machine.classes else 0
    return worth + 25 * (8000 - sum(machine.free)) // 8000


POLICIES = (
    "best_fit:BestFit",
    "dot_prod:DotProd",
    "fgd:FGD",
    "gpu_clustering:GpuClustering",
    "gpu_packing:GpuPacking",
    "random_node:Random",
)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("policy", POLICIES)
def test_a_policy_says_the_same_of_one_node_as_of_all(monkeypatch: pytest.MonkeyPatch, seed: int, policy: str) -> None:
    """They promise nothing, so nothing is kept between pods that could be wrong."""
    monkeypatch.syspath_prepend(str(SOURCE))
    module, _, name = policy.partition(":")
    rng = Random(f"{policy} {seed}")
    machines = [Machine(rng, f"n{number}") for number in range(8)]
    cache = cluster([each.built for each in machines], [one for each in machines for one in each.pods])
    typical = [{"cpuMilli": 4000, "gpuMilli": milli, "gpus": 1, "share": 0.5} for milli in (500, 1000)]
    args = {"typical": typical} if name == "FGD" else {}
    plugin = make(getattr(importlib.import_module(f"bayplan_gpu_sharing.{module}"), name), **args)
    asked = [pod(f"p{milli}").cpu("2").scalar(MILLI, str(milli)) for milli in (0, 100, 500, 1000, 4000)]
    fits = [(plugin.filter(prepared(plugin, each, cache), each.build(), cache.nodes) == 0).sum() for each in asked]
    assert any(0 < each < len(machines) for each in fits), "a case in which all nodes are alike proves nothing"
    assert_forms_agree(plugin, asked, cache)


def prepared(plugin: Any, asked: Any, cache: Any) -> CycleState:
    state = CycleState()
    assert plugin.pre_filter(state, asked.build(), cache.nodes) is None
    return state


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize(
    ("policy", "formula"),
    [
        ("dot_prod:DotProd", dot_prod),
        ("best_fit:BestFit", best_fit),
        ("gpu_packing:GpuPacking", gpu_packing),
        ("gpu_clustering:GpuClustering", gpu_clustering),
    ],
)
def test_a_policy_scores_as_published(monkeypatch: pytest.MonkeyPatch, seed: int, policy: str, formula: Any) -> None:
    monkeypatch.syspath_prepend(str(SOURCE))
    module, _, name = policy.partition(":")
    plugin = make(getattr(importlib.import_module(f"bayplan_gpu_sharing.{module}"), name))
    rng = Random(f"{policy} {seed}")
    machines = [Machine(rng, f"n{number}") for number in range(20)]
    nodes = cluster([each.built for each in machines], [one for each in machines for one in each.pods]).nodes
    for milli, count in ((250, 1), (1000, 1), (1000, 2)):
        asked = pod("p").cpu("2").scalar(MILLI, str(milli * count)).build()
        scores = plugin.score(CycleState(), asked, nodes)
        fitting = [row for row, each in enumerate(machines) if len(each.tightest(milli, count)) == count]
        assert fitting, "a case in which nothing fits proves nothing"
        expected = [formula(machines[row], 2000, milli, count) for row in fitting]
        assert [int(scores[nodes.row_of(f"n{row}")]) for row in fitting] == expected
