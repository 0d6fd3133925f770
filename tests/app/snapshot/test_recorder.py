"""Recording a live cluster, on the real API server: what was recorded is decided again as it was."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from bayplan.app.config_file import read_config
from bayplan.plugins.plugin_set import registry
from bayplan.simulator.replay.replaying import Replayed, replay
from tests.parity.shadowing import recording
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, running

pytestmark = [pytest.mark.kube, pytest.mark.slow]


def replayed(path: Path) -> Replayed:
    return replay(path, read_config(None), registry(discover=False), profile="bayplan")


@pytest.fixture
async def cluster(control_plane: ControlPlane) -> Cluster:
    made = Cluster(control_plane)
    await made.start()
    await made.node("n1", cpu="4")
    await made.node("n2", cpu="8")
    return made


@pytest.mark.parametrize("anonymous", [False, True])
async def test_what_the_live_scheduler_did_is_decided_again_as_it_was(
    cluster: Cluster, tmp_path: Path, anonymous: bool
) -> None:
    path = tmp_path / "a.jsonl"
    labels = {"labels": {"app": "secret-app"}}
    term = {"topologyKey": "kubernetes.io/hostname", "labelSelector": {"matchLabels": {"app": "secret-app"}}}
    away = {"podAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [term]}}
    async with recording(cluster.plane, path, is_anonymous=anonymous) as recorder, running(cluster.plane):
        for name in ("secret-1", "secret-2"):
            await cluster.pod(name, metadata=labels, affinity=away)
            await cluster.bound(name)
        await cluster.delete("secret-1")
        await cluster.pod("secret-3", cpu="5")
        await cluster.bound("secret-3")
    done = replayed(path)
    assert done.tally.binds == 3
    assert not done.tally.is_different
    assert done.tally.as_document()["agree"] + done.tally.as_document()["tie"] == 3
    assert recorder.objects >= 2
    text = path.read_text()
    assert ("secret" in text) is not anonymous
    document = done.as_document()["recording"]
    assert (document["isWhole"], document["isAnonymous"], document["pods"]) == (True, anonymous, 2)


async def test_a_change_of_which_nothing_is_read_is_not_written(cluster: Cluster, tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    async with recording(cluster.plane, path) as recorder:
        patch = {"metadata": {"annotations": {"example.com/heartbeat": "1"}}}
        await asyncio.to_thread(cluster.api.patch, "Node", "n1", patch)
        await asyncio.to_thread(cluster.api.patch, "Node", "n1", {"metadata": {"labels": {"rack": "r1"}}})
    changes = [line for line in map(json.loads, path.read_text().splitlines()) if "change" in line]
    assert [line["patch"] for line in changes] == [{"metadata": {"labels": {"rack": "r1"}}}]
    assert recorder.changes == 1
