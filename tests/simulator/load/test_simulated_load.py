"""The simulated load: what is written to nodes, when, and what the report shows of it."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.objects.admission.own_keys import USAGE
from bayplan.objects.spare import LEDGER
from bayplan.objects.third_party.crane_annotations import HOT_VALUE, read
from bayplan.simulator import simulation
from bayplan.simulator.load.simulated_load import LoadOptions
from bayplan.simulator.report import simulation_report, usage_plot
from bayplan.simulator.world import World
from tests.simulator.seed_experiment import load_aware
from tests.simulator.support import START, node, pod, simulated, world


def busy(name: str, usage: str) -> dict[str, Any]:
    made = node(name)
    made["metadata"]["annotations"] = {USAGE: usage}
    return made


def run(*manifests: Any, minutes: float, **options: Any) -> World:
    made = world(*manifests, load=LoadOptions(**options))
    simulation.run(made, minutes * 60)
    return made


def written_to(made: World, name: str = "n1") -> Any:
    assert made.load is not None
    return made.load.nodes[name].annotations


def test_metrics_are_written_when_they_are_due() -> None:
    made = run(busy("n1", "cpu=1; 1m: cpu=3"), load_aware(), minutes=7)
    average, peak = read(written_to(made)["cpu_usage_avg_5m"]), read(written_to(made)["cpu_usage_max_avg_1h"])
    assert average is not None
    assert average.value == pytest.approx(0.25 + 0.5)
    assert average.at == START + 360
    assert peak is not None
    assert (peak.value, peak.at) == (0.25, START)


def test_pods_put_on_a_node_lately_make_it_hot() -> None:
    made = run(busy("n1", "cpu=0"), *[pod(f"p{number}") for number in range(7)], load_aware(), minutes=3)
    hot = read(written_to(made)[HOT_VALUE])
    assert hot is not None
    assert hot.value == 1


def test_nothing_is_measured_during_an_outage() -> None:
    made = run(busy("n1", "cpu=1"), load_aware(), minutes=20, outages=[(60.0, 900.0)])
    before = run(busy("n1", "cpu=1"), load_aware(), minutes=14, outages=[(60.0, 900.0)])
    last = read(written_to(before)["cpu_usage_avg_5m"])
    assert last is not None
    assert last.at == START
    now = read(written_to(made)["cpu_usage_avg_5m"])
    assert now is not None
    assert now.at > START + 900


def test_without_a_plugin_that_reads_them_nothing_is_written() -> None:
    made = run(busy("n1", "cpu=1"), minutes=10)
    assert set(written_to(made)) == {USAGE}
    assert made.load is not None
    assert LEDGER in written_to(run(busy("n1", "cpu=1"), load_aware(spare_too=True), minutes=1))


def test_without_profiles_or_without_a_length_there_is_no_load() -> None:
    assert world(node("n1"), load=LoadOptions()).load is None
    assert "load" not in simulated(node("n1"), run_for_s=60.0)
    assert "load" not in simulated(busy("n1", "cpu=1"))


def test_a_metric_that_cannot_be_simulated_is_warned_about(tmp_path: Any) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        "apiVersion: scheduler.policy.crane.io/v1alpha1\nkind: DynamicSchedulerPolicy\n"
        "spec: {syncPolicy: [{name: disk_io, period: 1m}]}\n"
    )
    warnings: list[str] = []
    simulated(busy("n1", "cpu=1"), load_aware(policyConfigPath=str(path)), run_for_s=60.0, warn=warnings.append)
    assert warnings == [
        "disk_io is not simulated; cpu_usage_active, mem_usage_avg_5m, cpu_usage_p95_15m and the like are"
    ]


# -- the report --


def test_the_report_plots_real_use_against_requests() -> None:
    hungry = pod("p", "1", meta={"annotations": {USAGE: "cpu=3, memory=4Gi"}})
    document = simulated(busy("n1", "cpu=0"), hungry, run_for_s=600.0)
    (told,) = document["load"]["nodes"]
    assert told["cpu"]["used"][0] == 0
    assert told["cpu"]["used"][-1] == 0.75
    assert told["cpu"]["requested"][-1] == 0.25
    assert told["memory"]["used"][-1] == 0.5
    lines = simulation_report.as_table(document).splitlines()
    (used,) = [line for line in lines if line.startswith("n1     cpu        used")]
    assert used.endswith("▁▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇   75%    75%")


def test_a_large_cluster_shows_its_busiest_nodes() -> None:
    document = simulated(*[busy(f"n{number:02}", f"cpu={number}00m") for number in range(30)], run_for_s=60.0)
    text = usage_plot.as_text(document["load"])
    assert "n29" in text
    assert "n05" not in text
    assert "and 20 nodes that are less busy" in text


def test_a_long_run_is_thinned_out_to_its_peaks() -> None:
    document = simulated(busy("n1", "cpu=1; 10m: cpu=4; 11m: cpu=1"), run_for_s=24 * 3600.0)
    used = document["load"]["nodes"][0]["cpu"]["used"]
    assert len(used) <= usage_plot.MAX_POINTS
    assert max(used) == 1.0
    assert document["load"]["every"] == 390.0
