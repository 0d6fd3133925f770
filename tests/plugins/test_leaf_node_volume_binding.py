"""LeafNodeVolumeBinding: volumes in the clusters behind leaf nodes, claims of a cluster, and who binds what."""

from __future__ import annotations

import asyncio
import inspect
from typing import Any

import pytest

from bayplan.engine.cache import ClusterCache
from bayplan.framework import SKIP, Change, ClusterEvent, CycleState
from bayplan.objects.volume import BIND_COMPLETED, SELECTED_NODE
from bayplan.plugins.leaf_node_volume_binding import OTHER_CLUSTER, LeafNodeVolumeBinding
from bayplan.plugins.volume_binding.filtering import BIND_CONFLICT, NO_VOLUME, NODE_CONFLICT
from bayplan.testing import NodeBuilder, assert_forms_agree, cluster, make, node, pod, reasons, run_filter
from bayplan.testing.harness import Recorder, handle
from tests.plugins.storage import claim, storage_class, volume

pytestmark = pytest.mark.virtual_time

OWNERS = "kosmos-io/cluster-owners"


def leaf(name: str, behind: str, mode: str = "one2cluster") -> NodeBuilder:
    made = node(name).label({"kosmos.io/node": "true"}).taint("kosmos.io/node", "true", "NoSchedule")
    made = made.annotation({"kosmos-io/owned-by-cluster": behind})
    return made.annotation({"leafNodeMode": mode}) if mode else made


NODES = [
    node("real").label(zone="z1"),
    leaf("east", "east"),
    leaf("west", "west").label(zone="z1"),
    leaf("member-node", "east", mode=""),
]
LEAVES = ("east", "west", "member-node")
ASKS = pod("a").claim("data")


def owned(*clusters: str) -> dict[str, str]:
    return {OWNERS: ",".join(clusters)}


def said(*objects: Any) -> dict[str, list[str]]:
    """Which nodes say no to a pod with the claim "data", and why."""
    cache = cluster(NODES, (), [storage_class("wait"), *objects])
    plugin = make(LeafNodeVolumeBinding, cache)
    assert_forms_agree(plugin, [ASKS], cache)
    return reasons(run_filter(plugin, ASKS, cache))


def test_pods_without_claims_are_left_alone() -> None:
    cache = cluster(NODES)
    plugin = make(LeafNodeVolumeBinding, cache)
    assert plugin.pre_filter(CycleState(), pod("a").build(), cache.nodes) == SKIP
    assert plugin.promise(pod("a").build().template) is not None


@pytest.mark.parametrize(
    ("bound", "no"),
    [
        (
            volume("v", annotations=owned("east")),
            {"real": [OTHER_CLUSTER.text], "west": [OTHER_CLUSTER.text]},
        ),
        (volume("v", annotations=owned("east", " west")), {"real": [OTHER_CLUSTER.text]}),
        (volume("v"), {"east": [NODE_CONFLICT.text], "west": [NODE_CONFLICT.text]}),
        (volume("v", at={"zone": "z1"}), {"east": [NODE_CONFLICT.text], "member-node": [NODE_CONFLICT.text]}),
        (None, {name: [NO_VOLUME.text] for name in ("real", *LEAVES)}),
    ],
    ids=["of one cluster", "of two clusters", "of this cluster", "with node affinity", "gone"],
)
def test_bound_volumes_are_in_the_clusters_that_own_them_or_where_their_affinity_says(
    bound: Any, no: dict[str, list[str]]
) -> None:
    assert said(claim("data", volume="v"), *([bound] if bound else [])) == no


@pytest.mark.parametrize(
    ("objects", "no"),
    [
        ([claim("data")], {}),
        (
            [claim("data", annotations=owned("east"))],
            {"real": [OTHER_CLUSTER.text], "west": [OTHER_CLUSTER.text]},
        ),
        (
            [claim("data", of="static"), storage_class("static", "kubernetes.io/no-provisioner")],
            {"real": [BIND_CONFLICT.text], "east": [BIND_CONFLICT.text], "west": [BIND_CONFLICT.text]},
        ),
        (
            [
                claim("data", of="static"),
                storage_class("static", "kubernetes.io/no-provisioner"),
                volume("v", of="static", at={"zone": "z1"}),
            ],
            {"east": [BIND_CONFLICT.text]},
        ),
        (
            [claim("data", annotations={SELECTED_NODE: "west"})],
            {"real": [BIND_CONFLICT.text], "east": [BIND_CONFLICT.text]},
        ),
    ],
    ids=["provisioned", "of a cluster", "no provisioner", "a volume there", "selected before"],
)
def test_claims_without_a_volume_need_one_or_a_provisioner(objects: list[Any], no: dict[str, list[str]]) -> None:
    assert said(*objects) == no


def test_a_claim_of_a_cluster_that_is_bound_keeps_real_nodes_away() -> None:
    bound = claim("data", volume="v", annotations={**owned("east"), BIND_COMPLETED: "yes"})
    assert said(bound, volume("v", annotations=owned("east"))) == {
        "real": [OTHER_CLUSTER.text],
        "west": [OTHER_CLUSTER.text],
    }


@pytest.mark.parametrize(("on", "is_taken"), [("real", True), ("east", False)])
def test_only_claims_of_pods_on_real_nodes_are_bound_here(on: str, is_taken: bool) -> None:
    cache: ClusterCache = cluster(NODES, (), [storage_class("wait"), claim("data")])
    writer = Recorder()
    plugin = LeafNodeVolumeBinding(None, handle(cache, writer=writer))
    state, asked = CycleState(), ASKS.build()
    assert plugin.pre_filter(state, asked, cache.nodes) is None
    assert plugin.reserve(state, asked, on) is None
    assert (plugin.pre_bind_pre_flight(state, asked, on) is None) is is_taken
    if is_taken:
        binding = plugin.pre_bind(state, asked, on)
        assert inspect.iscoroutine(binding)
        asyncio.run(stopped_after_writing(binding))
        assert [call[1] for call in writer.calls] == ["PersistentVolumeClaim"]
    plugin.unreserve(state, asked, on)


async def stopped_after_writing(binding: Any) -> None:
    task = asyncio.ensure_future(binding)
    await asyncio.sleep(0.05)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


def test_the_timeout_is_that_of_volume_binding() -> None:
    assert make(LeafNodeVolumeBinding).args.bind_timeout_seconds == 600
    assert make(LeafNodeVolumeBinding, bindTimeoutSeconds=5)._in_tree.args.bind_timeout_seconds == 5


def test_annotations_of_nodes_bring_pods_back() -> None:
    event = ClusterEvent("Node", Change.ANNOTATION)
    assert any(each.matches(event) for each in make(LeafNodeVolumeBinding).requeue_on())
