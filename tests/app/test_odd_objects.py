"""Objects nobody expects: enormous ones, and ones that make no sense. They must not stop the others.

The API server refuses most nonsense in its own kinds, so some of it is slipped into its answers on the way.
"""

from __future__ import annotations

import asyncio
import json

import pytest

from tests.support.api import Object
from tests.support.faults import FaultyTransport, Lines
from tests.support.live import Cluster, node_manifest, running, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube


def _line(kind: str, value: object) -> bytes:
    return json.dumps({"type": kind, "object": value}).encode()


async def test_enormous_objects_are_scheduled_and_not_kept_whole(cluster: Cluster, witness: Witness) -> None:
    """A pod of more than a megabyte, one with 250 kB of annotations, and a node with 2,000 labels."""
    node = node_manifest("n1")
    node["metadata"]["labels"] |= {f"example.com/label-{number}": "x" * 60 for number in range(2000)}
    await cluster.create(node)
    big = cluster.pod_manifest("big")
    big["spec"]["containers"][0]["env"] = [{"name": f"V{n}", "value": "y" * 1000} for n in range(1100)]
    noted = cluster.pod_manifest("noted", metadata={"annotations": {"example.com/note": "z" * 250_000}})
    async with running(cluster.plane) as run:
        await cluster.create(big)
        await cluster.create(noted)
        await cluster.pods(3)
        await cluster.all_bound(5)
        informer = next(one for one in run.live.informers if one.kind.name == "Pod")
        assert informer.bad_objects == 0
        (kept,) = [pod for pod in informer.objects() if pod.name == "big"]
        assert "y" * 1000 not in repr(kept), "only what scheduling reads is kept"


async def test_objects_that_make_no_sense_are_left_out(cluster: Cluster, witness: Witness) -> None:
    nonsense: list[Object] = [
        {"metadata": {"name": 5, "uid": "u1"}},
        {"metadata": {"name": "x", "namespace": "y", "uid": "u2"}, "spec": {"containers": "none"}},
        {"metadata": {"name": "x", "namespace": "y", "uid": "u3"}, "spec": {"tolerations": [3]}},
        {"metadata": None, "spec": None, "status": None},
        {},
    ]
    odd = {
        "metadata": {"name": "odd", "namespace": cluster.namespace, "uid": "u4", "resourceVersion": "1"},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "c", "resources": {"requests": {"cpu": "plenty"}}}],
        },
    }

    def prepare(faults: FaultyTransport) -> None:
        lines = [_line("ADDED", value) for value in [*nonsense, odd]]
        faults.on("WATCH", "/pods$", Lines([*lines, b'{"type": "ADDED", "object": 3}', b"{}", b"\xff\xfe"]), times=1)

    await cluster.node()
    async with running(cluster.plane, prepare=prepare) as run:
        await cluster.pods(3)
        await cluster.all_bound(3)
        informer = next(one for one in run.live.informers if one.kind.name == "Pod")
        assert informer.bad_objects >= len(nonsense) - 1
        await until(lambda: run.live.engine.cache.assumed_count == 0, "the binds to be confirmed")
        assert not run.task.done()


async def test_a_node_with_sizes_that_make_no_sense_is_not_used(cluster: Cluster, witness: Witness) -> None:
    """Nodes are told by their kubelets, and the API server believes them almost anything."""
    strange = {"cpu": "9223372036854775807", "memory": "1e30", "pods": "0", "example.com/gpu": "3"}
    for name, sizes in (("vast", strange), ("empty", {})):
        node = node_manifest(name)
        node["status"] = {"allocatable": sizes, "capacity": sizes}
        await cluster.create(node)
    await cluster.node("n1")
    async with running(cluster.plane) as run:
        await cluster.pods(3)
        bound = await cluster.all_bound(3)
        assert not run.task.done()
    assert {pod["spec"]["nodeName"] for pod in bound} == {"n1"}


async def test_pods_that_end_or_never_belonged_to_a_node_are_forgotten(cluster: Cluster, witness: Witness) -> None:
    await cluster.node("n1", cpu="1")
    async with running(cluster.plane) as run:
        await cluster.pod("p1", cpu="800m")
        await cluster.bound("p1")
        await cluster.pod("elsewhere", nodeName="nowhere")
        await until(lambda: run.live.engine.cache.pod_count == 2, "both pods to be known")
        ended = {"status": {"phase": "Succeeded"}}
        await asyncio.to_thread(cluster.api.patch, "Pod", "p1", ended, cluster.namespace, "status")
        await cluster.pod("p2", cpu="800m")
        assert await cluster.bound("p2") == "n1"
        await cluster.delete("elsewhere")
        await until(lambda: run.live.engine.cache.pod_count == 1, "only the running pod to be known")
