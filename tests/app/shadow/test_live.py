"""The shadow beside the real kube-scheduler: it agrees, but for ties, and tells what another configuration changes."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.controllers.shadow import judge as judging
from bayplan.controllers.shadow.verdict import QUIET, Finding, Verdict
from tests.parity.shadowing import Shadowing, run, shadowing
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, until

pytestmark = [pytest.mark.kube, pytest.mark.slow]

PACKING: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [
        {
            "schedulerName": "default-scheduler",
            "pluginConfig": [
                {
                    "name": "NodeResourcesFit",
                    "args": {
                        "scoringStrategy": {
                            "type": "MostAllocated",
                            "resources": [{"name": "cpu", "weight": 1}, {"name": "memory", "weight": 1}],
                        }
                    },
                }
            ],
        }
    ],
}


async def told(shadow: Shadowing, name: str) -> Verdict:
    def found() -> Verdict | None:
        return next((each for each in shadow.verdicts if each.name == name), None)

    verdict: Verdict = await until(found, f"a verdict about {name}")
    return verdict


async def test_with_kube_schedulers_configuration_every_difference_is_a_tie(control_plane: ControlPlane) -> None:
    ran = await run(control_plane, pods=150, nodes_count=30)
    (shadow,) = ran.shadows
    assert ran.bound > 120
    assert shadow.tally.binds >= ran.bound
    assert [each for each in shadow.verdicts if each.finding not in QUIET] == []
    assert shadow.tally.findings[Finding.AGREE] > 50


async def test_binds_side_by_side_are_never_called_a_difference(control_plane: ControlPlane) -> None:
    ran = await run(control_plane, pods=100, nodes_count=30, at_once=20, seed=1)
    (shadow,) = ran.shadows
    assert [each for each in shadow.verdicts if each.finding not in (*QUIET, Finding.RACE)] == []


async def test_the_differences_are_those_that_the_configuration_makes(
    control_plane: ControlPlane, tmp_path: Path
) -> None:
    """kube-scheduler packs; a shadow that packs as well agrees, and one that spreads differs where packing counts."""
    config = tmp_path / "packing.yaml"
    config.write_text(yaml.safe_dump(PACKING))
    profiles = {"profiles": PACKING["profiles"]}
    ran = await run(control_plane, pods=72, nodes_count=24, configs=[config, None], scheduler_config=profiles)
    packing, spreading = ran.shadows
    assert packing.named(*Finding) == packing.named(*QUIET)
    differ = spreading.named(Finding.DIFFER)
    assert len(differ) > 10
    assert spreading.named(Finding.INFEASIBLE, Finding.ERROR, Finding.UNJUDGED) == {}
    assert spreading.tally.plugins.most_common(1)[0][0] == "NodeResourcesFit"
    assert packing.tally.binds == spreading.tally.binds


@pytest.fixture
async def small(control_plane: ControlPlane) -> Cluster:
    cluster = Cluster(control_plane)
    await cluster.start()
    await cluster.node("n1", cpu="4")
    await cluster.node("n2", cpu="2")
    return cluster


async def test_a_bind_that_our_filters_forbid_is_told_with_the_reason(small: Cluster) -> None:
    async with shadowing(small.plane) as shadow:
        await small.pod("big", cpu="3")
        await small.bind("big", "n2")
        verdict = await told(shadow, "big")
    assert (verdict.finding, verdict.theirs, verdict.ours) == (Finding.INFEASIBLE, "n2", "n1")
    assert (verdict.plugin, verdict.message) == ("NodeResourcesFit", "Insufficient cpu")
    assert shadow.tally.as_document()["plugins"] == {"NodeResourcesFit": 1}
    metrics = shadow.live.render_metrics().decode()
    assert 'bayplan_shadow_pods_total{result="infeasible"} 1.0' in metrics
    assert 'bayplan_shadow_tipped_total{plugin="NodeResourcesFit",result="infeasible"} 1.0' in metrics


async def test_pods_that_come_with_their_node_or_are_there_already_are_not_judged(small: Cluster) -> None:
    await small.pod("there", nodeName="n1")
    async with shadowing(small.plane) as shadow:
        await small.pod("named", nodeName="n1")
        verdict = await told(shadow, "named")
    assert (verdict.finding, verdict.message) == (Finding.UNJUDGED, judging.ON_ITS_NODE)
    assert shadow.tally.binds == 1


async def test_nothing_is_written(small: Cluster) -> None:
    async with shadowing(small.plane) as shadow:
        await small.pod("p1")
        await small.bind("p1", "n1")
        await told(shadow, "p1")
        await small.pod("waits", cpu="64")
    waits = await small.get("waits")
    assert "conditions" not in waits["status"] or all(
        each["type"] != "PodScheduled" for each in waits["status"]["conditions"]
    )
    assert await asyncio.to_thread(small.api.list, "Event", small.namespace) == []


async def test_what_is_held_back_is_judged_when_it_is_told_to_stop(small: Cluster) -> None:
    async with shadowing(small.plane) as shadow:
        await small.pod("p1")
        await small.bind("p1", "n1")
    assert shadow.tally.binds == 1
