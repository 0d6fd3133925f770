"""Same input, same seed: the same simulation, byte for byte; whatever the input."""

from __future__ import annotations

import json
from random import Random
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from tests.simulator.support import ZONE, Manifest, budget, job, node, pod, simulated, workload

AFFINITY = "requiredDuringSchedulingIgnoredDuringExecution"


def random_input(seed: int) -> list[Manifest]:
    """A small cluster with more to do than it can hold."""
    rng = Random(seed)
    nodes = [node(f"n{n}", str(rng.randint(1, 4)), labels={ZONE: f"z{n % 2}"}) for n in range(rng.randint(1, 6))]
    made = [*nodes, budget("b", {"app": "a"}, minAvailable=rng.randint(0, 3))]
    for name in "abcd":
        kind = rng.choice(["Deployment", "StatefulSet", "DaemonSet", "ReplicaSet"])
        spec: dict[str, Any] = {"priority": rng.choice([0, 0, 10, 100])}
        if rng.random() < 0.4:
            term = {"topologyKey": ZONE, "labelSelector": {"matchLabels": {"app": name}}}
            spec["affinity"] = {rng.choice(["podAffinity", "podAntiAffinity"]): {AFFINITY: [term]}}
        replicas = {} if kind == "DaemonSet" else {"replicas": rng.randint(1, 5)}
        made.append(workload(kind, name, rng.choice(["100m", "500m", "1", "3"]), pods=spec, **replicas))
    made.append(job("sum", parallelism=rng.randint(1, 3)))
    made += [
        pod(f"p{n}", "500m", priority=rng.randint(0, 3), nodeName=rng.choice(nodes)["metadata"]["name"])
        for n in range(4)
    ]
    return made


@given(st.integers(0, 10_000), st.integers(0, 3))
@settings(max_examples=25, deadline=None)
def test_a_simulation_repeats_itself(content: int, seed: int) -> None:
    first, second = (json.dumps(simulated(*random_input(content), seed=seed, run_for_s=400)) for _ in range(2))
    assert first == second


@given(st.integers(0, 10_000))
@settings(max_examples=25, deadline=None)
def test_nobody_gets_lost_and_no_node_is_overfull(content: int) -> None:
    document = simulated(*random_input(content))
    summary = document["summary"]
    assert sum(summary[state] for state in ("bound", "pending", "gated", "ignored", "preempted")) == summary["pods"]
    bound = [each for each in document["pods"] if each["state"] == "Bound"]
    for each in document["nodes"]:
        assert each["pods"] == sum(one["node"] == each["name"] for one in bound)
    started = {f"p{n}" for n in range(4)}
    placed = [each for each in bound if each["name"] not in started]
    assert all(each["attempts"] >= 1 and each["boundAt"] is not None for each in placed)
