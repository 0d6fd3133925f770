"""
The published experiment in simulation: what the default scheduler does, what load-awareness does, and what neither can.

Placements and messages are those of the article; "node" stands in the reason as in Crane's source, where the article's
transcript dropped it.
"""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.simulator.load.simulated_load import LoadOptions
from tests.simulator.seed_experiment import (
    cpu_type,
    load_aware,
    memory_type,
    messages,
    nodes,
    placed,
    spare,
)
from tests.simulator.support import simulated

HOURS = 3600.0
SPACED = "5m"


def run(*manifests: Any, hours: float = 2.0, **options: Any) -> dict[str, Any]:
    return simulated(*manifests, run_for_s=hours * HOURS, **options)


def total(document: dict[str, Any], prefix: str) -> int:
    return sum(placed(document, prefix).values())


def peak(document: dict[str, Any], resource: str = "memory") -> float:
    return float(max(max(node[resource]["used"]) for node in document["load"]["nodes"]))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_memory_type_12_by_the_default_scheduler_which_overloads_a_node(seed: int) -> None:
    document = run(*nodes(22), memory_type(13, SPACED), seed=seed)
    assert placed(document, "memory") == {"node-01": 4, "node-02": 4, "node-03": 4}
    assert all(text.startswith("0/3 nodes are available: 3 Insufficient memory.") for text in messages(document))
    assert peak(document) > 0.95


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_memory_type_10_load_aware_and_the_11th_is_refused_with_the_published_message(seed: int) -> None:
    document = run(*nodes(22), memory_type(11, SPACED), load_aware(reasonNumbers=False), seed=seed)
    assert placed(document, "memory") == {"node-01": 4, "node-02": 4, "node-03": 2}
    (told,) = messages(document)
    expected = "0/3 nodes are available: 1 Load[mem_usage_avg_5m] of node[node-03] is too high, 2 Insufficient memory."
    assert told.startswith(expected)


def test_by_default_the_message_counts_nodes_and_names_none() -> None:
    (told,) = messages(run(*nodes(22), memory_type(11, SPACED), load_aware()))
    expected = "1 node(s) whose Load[mem_usage_avg_5m] is too high (above 0.65), 2 Insufficient memory."
    assert told.startswith(f"0/3 nodes are available: {expected}")


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cpu_type_8_by_the_default_scheduler(seed: int) -> None:
    document = run(*nodes(4), cpu_type(9, "8m"), seed=seed)
    assert total(document, "cpu") == 8
    assert all(text.startswith("0/3 nodes are available: 3 Insufficient cpu.") for text in messages(document))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_cpu_type_7_load_aware_and_the_8th_is_refused_with_the_published_message(seed: int) -> None:
    document = run(*nodes(4), cpu_type(8, "8m"), load_aware(reasonNumbers=False), seed=seed)
    assert placed(document, "cpu") == {"node-01": 3, "node-02": 3, "node-03": 1}
    (told,) = messages(document)
    expected = "0/3 nodes are available: 1 Load[mem_usage_avg_5m] of node[node-03] is too high, 2 Insufficient cpu."
    assert told.startswith(expected)


def test_in_a_burst_load_awareness_alone_sees_nothing() -> None:
    document = run(*nodes(22), memory_type(12), load_aware())
    assert total(document, "memory") == 12
    assert peak(document) > 0.95


@pytest.mark.parametrize("estimate", [{}, {"source": "learned"}])
@pytest.mark.parametrize(("workload", "resource"), [(memory_type(12), "memory"), (cpu_type(8), "cpu")])
def test_with_estimates_no_node_is_above_65_percent_in_a_burst(
    workload: dict[str, Any], resource: str, estimate: dict[str, Any]
) -> None:
    document = run(*nodes(22), workload, load_aware(estimate=estimate))
    assert peak(document, "memory") <= 0.65
    assert peak(document, "cpu") <= 0.65
    assert total(document, workload["metadata"]["name"]) >= 6


def test_what_is_learned_lets_more_pods_in_than_what_is_requested() -> None:
    by_requests = run(*nodes(22), memory_type(12), load_aware(estimate={}))
    learned = run(*nodes(22), memory_type(12), load_aware(estimate={"source": "learned"}))
    assert total(by_requests, "memory") == 8
    assert total(learned, "memory") == 9


# -- spare capacity --


def test_the_pods_that_could_not_be_placed_run_on_spare_capacity() -> None:
    """The 11th and 12th of the memory type, as spare pods of 2C/20Gi."""
    extra = spare("extra", 2, 2000, 20 * 1024, "60m")
    document = run(*nodes(22), memory_type(10, SPACED), extra, load_aware(spare_too=True))
    assert placed(document, "memory") == {"node-01": 4, "node-02": 4, "node-03": 2}
    assert placed(document, "extra") == {"node-01": 1, "node-02": 1, "node-03": 0}
    ends = {node["name"]: node["memory"]["used"][-1] for node in document["load"]["nodes"]}
    assert ends["node-01"] <= 0.65
    assert ends["node-02"] <= 0.65
    asked = {node["name"]: node["requested"]["memory"] for node in document["nodes"]}
    assert asked["node-01"] == "164Gi"  # the guaranteed ledger is what it was


def test_the_cpu_type_runs_too_where_cpu_may_be_used_further() -> None:
    document = run(
        *nodes(4), cpu_type(7, "8m"), spare("extra", 1, 8000, 8192, "80m"), load_aware(spare_too=True),
        load=LoadOptions(spare=SpareSettings(cpu_share=0.86, cpu_watermark=0.95)),
    )  # fmt: skip
    assert total(document, "cpu") == 7
    assert total(document, "extra") == 1


def test_spare_pods_are_evicted_when_guaranteed_pods_need_what_is_theirs() -> None:
    """After an hour and a half every memory-type pod takes 30Gi instead of 20Gi."""
    workload = memory_type(10, SPACED)
    annotations = workload["spec"]["template"]["metadata"]["annotations"]
    annotations["simulation.bayplan.io/usage"] = "cpu=2, memory=20Gi; 80m: memory=30Gi"
    document = run(
        *nodes(22), workload, spare("extra", 2, 2000, 20 * 1024, "60m"), load_aware(spare_too=True), hours=3.0
    )
    evicted = [pod for pod in document["pods"] if pod["message"].startswith("evicted: memory of node ")]
    assert evicted
    assert all(pod["name"].startswith("extra") for pod in evicted)
    assert total(document, "memory") == 10


def test_while_prometheus_is_dead_guaranteed_pods_are_placed_and_spare_pods_are_not() -> None:
    """Dead for an hour from the tenth minute on; both kinds of pods arrive in the middle of it."""
    workload = memory_type(3)
    workload["spec"]["template"]["metadata"]["annotations"]["simulation.bayplan.io/arrives"] = "40m"
    manifests = [*nodes(-10), workload, spare("extra", 2, 500, 1024, "40m"), load_aware(spare_too=True)]
    dead = run(*manifests, hours=65 / 60, load=LoadOptions(outages=[(600.0, 4200.0)]))
    assert total(dead, "memory") == 3
    assert total(dead, "extra") == 0
    (told,) = {pod["message"] for pod in dead["pods"] if pod["state"] == "Pending"}
    assert "3 node(s) closed their spare capacity: their load is not known" in told
    assert [note["text"] for note in dead["load"]["notes"]] == [
        f"spare capacity of node-0{number} closed: its load is not known" for number in (1, 2, 3)
    ]
    back = run(*manifests, hours=2.0, load=LoadOptions(outages=[(600.0, 4200.0)]))
    assert total(back, "extra") == 2
    assert any(note["text"].endswith("open again") for note in back["load"]["notes"])
