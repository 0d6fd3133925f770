"""A profile with StickyVM on an API server that has none of KubeVirt's kinds, until they are installed."""

from __future__ import annotations

import asyncio

import pytest

from bayplan.cli.main import main
from bayplan.framework.config.loading import load_config
from bayplan.kube import informer
from tests.support.kubevirt import SCHEDULER, KubeVirt, installed, printed_config
from tests.support.live import Cluster, running

pytestmark = pytest.mark.kube


async def test_without_the_kinds_only_pods_of_machines_wait(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(informer, "REFUSED_BACKOFF_S", 0.2)
    await cluster.node("n1")
    config = load_config(printed_config(), "scheduler-config.yaml")[0]
    kubevirt = KubeVirt(cluster)
    async with running(cluster.plane, config=config) as run:
        await cluster.pod("plain", schedulerName=SCHEDULER)
        orphan = {"kind": "VirtualMachineInstance", "metadata": {"name": "vm", "uid": "u"}}
        pod = await kubevirt.launcher(orphan)
        assert await cluster.bound("plain") == "n1"
        message = (await cluster.unschedulable(pod))["message"]
        refusals = sorted(each.split(":")[0] for each in run.live.refusals())
        block = installed(cluster.api)
        await asyncio.to_thread(block.__enter__)
        try:
            _, later = await kubevirt.started()
            assert await cluster.bound(later, timeout_s=20) == "n1"
            await kubevirt.remove_all()
        finally:
            await asyncio.to_thread(block.__exit__, None, None, None)
    assert (
        f"VirtualMachineInstance {cluster.namespace}/vm, which owns this pod, cannot be read: "
        "the API server has no virtualmachineinstances in kubevirt.io/v1" in message
    )
    assert refusals == [
        "the API server has no virtualmachineinstances in kubevirt.io/v1",
        "the API server has no virtualmachines in kubevirt.io/v1",
    ]


async def test_what_cannot_be_released_for_lack_of_the_kinds_is_told_so(
    cluster: Cluster, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = ["--kubeconfig", str(cluster.plane.kubeconfig()), "-n", cluster.namespace]
    assert await asyncio.to_thread(main, ["sticky", "release", "vm", *kubeconfig]) == 2
    assert "the API server has no virtualmachines in kubevirt.io/v1" in capsys.readouterr().err
    assert await asyncio.to_thread(main, ["sticky", "release", "sts/web-0", *kubeconfig]) == 2
    label = f"pod web-0 of StatefulSet {cluster.namespace}/web"
    assert f'{label}: not found: statefulsets.apps "web" not found' in capsys.readouterr().err
