"""StickyVM with the live scheduler on the real API server, with KubeVirt's kinds and the published configuration."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from typing import Any

import pytest
import structlog

from bayplan.app import sticky_command
from bayplan.cli.main import main
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import SchedulerConfig
from bayplan.plugins.sticky_vm import plugin as plugin_module
from tests.support.api import Object
from tests.support.control_plane import ControlPlane
from tests.support.faults import Answer, Hold, LostAnswer
from tests.support.kubevirt import SCHEDULER, STICKY_NODE, KubeVirt, installed, printed_config
from tests.support.live import Cluster, running, scheduled_condition, until

pytestmark = pytest.mark.kube


@pytest.fixture(scope="module", autouse=True)
def kinds(control_plane: ControlPlane) -> Iterator[None]:
    with installed(control_plane.api()):
        yield


@pytest.fixture
async def kubevirt(cluster: Cluster) -> AsyncIterator[KubeVirt]:
    made = KubeVirt(cluster)
    await cluster.nodes(3)
    yield made
    await made.remove_all()


def config(**args: Any) -> SchedulerConfig:
    document = printed_config() | {"podInitialBackoffSeconds": 1}
    if args:
        document["profiles"][0]["pluginConfig"] = [{"name": "StickyVM", "args": args}]
    return load_config(document, "scheduler-config.yaml")[0]


async def noted(kubevirt: KubeVirt, node: str | None, name: str = "vm") -> None:
    async def is_noted() -> bool:
        return await kubevirt.note(name) == node

    await until(is_noted, f"{name} to be noted on {node}")


async def waits_with(cluster: Cluster, pod: str, text: str) -> str:
    """Until the pod's status has the text; all of it."""

    async def told() -> str | None:
        condition = scheduled_condition(await cluster.get(pod))
        return condition["message"] if condition and text in condition.get("message", "") else None

    found: str = await until(told, f'"{text}" in the status of {pod}')
    return found


async def test_the_published_walks_tell_the_published_story(cluster: Cluster, kubevirt: KubeVirt) -> None:
    with structlog.testing.capture_logs() as logs:
        async with running(cluster.plane, config=config()):
            instance, first = await kubevirt.started()
            node = await cluster.bound(first)
            await noted(kubevirt, node)
            _, second = await kubevirt.restarted(instance, first)
            assert await cluster.bound(second) == node
    story = [line["event"] for line in logs if line.get("owner") == f"VirtualMachine {kubevirt.namespace}/vm"]
    assert story == [
        "PreFilter: found what owns the pod",
        "PreFilter: no sticky node yet, any will do",
        "PostBind: annotating selected node",
        "node annotated",
        "PreFilter: found what owns the pod",
        "PreFilter: already sticky to node",
        "PostBind: already has sticky annotation",
    ]


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        ({"spec": {"unschedulable": True}}, "1 node(s) were unschedulable"),
        ({"spec": {"taints": [{"key": "disk", "effect": "NoSchedule"}]}}, "1 node(s) had untolerated taint"),
        ({"status": {"allocatable": {"cpu": "50m"}}}, "1 Insufficient cpu"),
    ],
    ids=["cordoned", "tainted", "full"],
)
async def test_a_machine_waits_for_its_node_and_says_why(
    cluster: Cluster, kubevirt: KubeVirt, spoil: Object, why: str
) -> None:
    mend = {
        "spec": {"unschedulable": None, "taints": None},
        "status": {"allocatable": {"cpu": "4"}},
    }
    part = next(iter(spoil))
    sub = "status" if part == "status" else ""
    await asyncio.to_thread(cluster.api.patch, "Node", "n2", spoil, None, sub)
    async with running(cluster.plane, config=config()):
        _, pod = await kubevirt.started(node="n2")
        text = await waits_with(cluster, pod, "sticks")
        assert f"2 node(s) are not n2, to which VirtualMachine {kubevirt.namespace}/vm sticks" in text
        assert why in text
        await asyncio.to_thread(cluster.api.patch, "Node", "n2", {part: mend[part]}, None, sub)
        assert await cluster.bound(pod) == "n2"


async def test_a_machine_waits_for_a_node_that_is_gone_until_it_is_back(cluster: Cluster, kubevirt: KubeVirt) -> None:
    await cluster.delete("n2", "Node")
    async with running(cluster.plane, config=config()):
        _, pod = await kubevirt.started(node="n2")
        await waits_with(cluster, pod, f"{kubevirt.namespace}/vm sticks to node n2, which is not in the cluster")
        await cluster.node("n2")
        assert await cluster.bound(pod) == "n2"


async def test_a_node_that_is_gone_for_good_is_given_up_after_a_time(cluster: Cluster, kubevirt: KubeVirt) -> None:
    async with running(cluster.plane, config=config(whenNodeIsGone="Release", releaseAfter="300ms")):
        _, pod = await kubevirt.started(node="gone")
        node = await cluster.bound(pod)
        await noted(kubevirt, node)
        event = await cluster.event(pod, "StickyReleased")
    assert "is released from node gone, which has been gone for 300ms" in event["message"]


async def test_the_note_follows_a_live_migration(cluster: Cluster, kubevirt: KubeVirt) -> None:
    async with running(cluster.plane, config=config()):
        instance, pod = await kubevirt.started(node="n1")
        await cluster.bound(pod)
        await kubevirt.runs_on("vm", "n1")
        await asyncio.to_thread(cluster.api.patch, "Node", "n1", {"spec": {"unschedulable": True}})
        target = await kubevirt.launcher(instance, is_target=True)
        node = await cluster.bound(target)
        assert node != "n1"
        assert await kubevirt.note() == "n1"
        await kubevirt.runs_on("vm", node, sourceNode="n1", targetNode=node, completed=True)
        await noted(kubevirt, node)
        _, again = await kubevirt.restarted(instance, target)
        assert await cluster.bound(again) == node


# -- writes that do not get through --


async def test_a_write_whose_answer_is_lost_is_not_made_twice(cluster: Cluster, kubevirt: KubeVirt) -> None:
    async with running(cluster.plane, config=config()) as run:
        run.faults.on("PATCH", "/virtualmachines/", LostAnswer(), times=1)
        _, pod = await kubevirt.started()
        await noted(kubevirt, await cluster.bound(pod))
        await until(lambda: run.faults.count("GET", "/virtualmachines/vm"), "the machine to be read")
    assert run.faults.count("PATCH", "/virtualmachines/") == 1


async def test_somebody_else_who_writes_all_the_time_does_not_keep_the_note_away(
    cluster: Cluster, kubevirt: KubeVirt
) -> None:
    async def write_on() -> None:
        for number in range(10**6):
            patch = {"metadata": {"labels": {"round": str(number)}}}
            await asyncio.to_thread(cluster.api.patch, "VirtualMachine", "vm", patch, kubevirt.namespace)
            await asyncio.sleep(0.02)

    machine = await kubevirt.machine()
    busy = asyncio.ensure_future(write_on())
    async with running(cluster.plane, config=config()) as run:
        run.faults.on("PATCH", "/virtualmachines/", Answer(409, reason="Conflict"), times=2)
        pod = await kubevirt.launcher(await kubevirt.instance(machine))
        await noted(kubevirt, await cluster.bound(pod))
    assert not busy.done()
    busy.cancel()
    await asyncio.gather(busy, return_exceptions=True)


async def test_a_scheduler_that_ends_between_bind_and_write_is_made_up_for_by_the_next(
    cluster: Cluster, kubevirt: KubeVirt
) -> None:
    hold = Hold()
    async with running(cluster.plane, config=config(), prepare=lambda f: _hold(f, hold)):
        _, pod = await kubevirt.started()
        node = await cluster.bound(pod)
        await hold.reached.wait()
    assert await kubevirt.note() is None
    async with running(cluster.plane, config=config()):
        await noted(kubevirt, node)


def _hold(faults: Any, hold: Hold) -> None:
    faults.on("PATCH", "/virtualmachines/", hold)


@pytest.fixture
async def may_not_patch(cluster: Cluster) -> AsyncIterator[Any]:
    """The API server's own scheduler role, with which machines can be read; gives what may be called to allow more."""
    group = "rbac.authorization.k8s.io"
    named = {"apiVersion": f"{group}/v1", "metadata": {"name": "sticky-test"}}
    resources = ["virtualmachines", "virtualmachineinstances"]
    rules = [
        {"apiGroups": ["kubevirt.io"], "resources": resources, "verbs": ["get", "list", "watch"]},
        {"apiGroups": [""], "resources": ["namespaces"], "verbs": ["list", "watch"]},
    ]
    await cluster.create(named | {"kind": "ClusterRole", "rules": rules})
    subject = {"apiGroup": group, "kind": "User", "name": "system:kube-scheduler"}
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": "sticky-test"}
    await cluster.create(named | {"kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]})

    async def allow() -> None:
        more = [{"apiGroups": ["kubevirt.io"], "resources": resources, "verbs": ["patch"]}, *rules]
        await asyncio.to_thread(cluster.api.patch, "ClusterRole", "sticky-test", {"rules": more})

    yield allow
    for kind in ("ClusterRoleBinding", "ClusterRole"):
        await asyncio.to_thread(cluster.api.delete, kind, "sticky-test")


async def test_without_permission_to_patch_it_says_so_keeps_the_node_in_mind_and_writes_when_it_may(
    cluster: Cluster, kubevirt: KubeVirt, may_not_patch: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(plugin_module, "RETRY_S", 0.2)
    async with running(cluster.plane, config=config(), kubeconfig=cluster.plane.kubeconfig("scheduler")):
        instance, first = await kubevirt.started()
        node = await cluster.bound(first)
        event = await cluster.event(first, "StickyNodeNotWritten")
        assert (
            f"node {node} could not be noted in VirtualMachine {kubevirt.namespace}/vm: may not patch"
            in event["message"]
        )
        assert 'resources: ["virtualmachines"], verbs: ["get", "patch"]' in event["message"]
        _, second = await kubevirt.restarted(instance, first)
        assert await cluster.bound(second) == node
        assert await kubevirt.note() is None
        await may_not_patch()
        await noted(kubevirt, node)


# -- machines that are not as they should be --


async def test_an_instance_without_a_machine_is_placed_and_told_of(cluster: Cluster, kubevirt: KubeVirt) -> None:
    async with running(cluster.plane, config=config()):
        pod = await kubevirt.launcher(await kubevirt.instance(None, "alone"))
        await cluster.bound(pod)
        event = await cluster.event(pod, "NotSticky")
    assert "belongs to no VirtualMachine, so it sticks to no node" in event["message"]


async def test_a_machine_that_was_deleted_meanwhile_is_waited_for(cluster: Cluster, kubevirt: KubeVirt) -> None:
    instance = await kubevirt.instance(await kubevirt.machine(node="n1"))
    await asyncio.to_thread(cluster.api.delete, "VirtualMachine", "vm", kubevirt.namespace)
    async with running(cluster.plane, config=config()):
        pod = await kubevirt.launcher(instance)
        await waits_with(cluster, pod, f"VirtualMachine {kubevirt.namespace}/vm, which owns")
        await kubevirt.machine(node="n2")
        later = await kubevirt.launcher(instance)
        await waits_with(cluster, later, f"VirtualMachine {kubevirt.namespace}/vm was made anew")
    assert not any(one["spec"].get("nodeName") for one in await cluster.list())


async def test_a_machine_that_is_deleted_between_bind_and_write_is_told_of(
    cluster: Cluster, kubevirt: KubeVirt
) -> None:
    hold = Hold()
    async with running(cluster.plane, config=config(), prepare=lambda f: _hold(f, hold)):
        _, pod = await kubevirt.started()
        await cluster.bound(pod)
        await hold.reached.wait()
        await asyncio.to_thread(cluster.api.delete, "VirtualMachine", "vm", kubevirt.namespace)
        hold.go.set()
        event = await cluster.event(pod, "StickyOwnerGone")
    assert "is gone, so node" in event["message"]


async def test_of_two_instances_that_claim_one_machine_one_waits_until_the_other_is_gone(
    cluster: Cluster, kubevirt: KubeVirt
) -> None:
    machine = await kubevirt.machine(node="n2")
    async with running(cluster.plane, config=config()):
        right = await kubevirt.instance(machine)
        wrong = await kubevirt.instance(machine, "twin")
        twin = await kubevirt.launcher(wrong)
        await waits_with(cluster, twin, "can have one instance, and vm is it")
        assert await cluster.bound(await kubevirt.launcher(right)) == "n2"
        await asyncio.to_thread(cluster.api.delete, "VirtualMachineInstance", "vm", kubevirt.namespace)
        assert await cluster.bound(twin) == "n2"


# -- many, and StatefulSets --


@pytest.mark.slow
async def test_a_thousand_machines_recreated_at_once_are_all_back_on_their_nodes(
    cluster: Cluster, kubevirt: KubeVirt
) -> None:
    count = 1000
    await asyncio.gather(*(cluster.node(f"big{number}", cpu="11") for number in range(10)))
    for number in range(1, 4):
        await cluster.delete(f"n{number}", "Node")
    async with running(cluster.plane, config=config()):
        made = await asyncio.gather(*(kubevirt.started(f"vm{number}") for number in range(count)))
        before = _by_owner(await cluster.all_bound(count, timeout_s=120))

        async def all_noted() -> bool:
            found = await asyncio.to_thread(cluster.api.list, "VirtualMachine", kubevirt.namespace)
            notes = {one["metadata"]["name"]: one["metadata"].get("annotations", {}).get(STICKY_NODE) for one in found}
            return notes == before

        await until(all_noted, "all nodes to be noted", 60)
        await asyncio.gather(*(kubevirt.restarted(*each) for each in made))
        after = _by_owner(await cluster.all_bound(count, timeout_s=120))
    assert after == before


def _by_owner(pods: list[Object]) -> dict[str, str]:
    return {one["metadata"]["ownerReferences"][0]["name"]: one["spec"]["nodeName"] for one in pods}


async def test_pods_of_a_stateful_set_return_to_their_nodes(cluster: Cluster, kubevirt: KubeVirt) -> None:
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": 1, "serviceName": "web", "selector": {"matchLabels": {"app": "web"}}, "template": template}
    meta = {"name": "web", "namespace": cluster.namespace}
    made = await cluster.create({"apiVersion": "apps/v1", "kind": "StatefulSet", "metadata": meta, "spec": spec})
    owner = {"apiVersion": "apps/v1", "kind": "StatefulSet", "name": "web", "uid": made["metadata"]["uid"]}
    metadata = {"ownerReferences": [{**owner, "controller": True}]}
    async with running(cluster.plane, config=config(mode="StickyOwner")):
        await cluster.pod("web-0", schedulerName=SCHEDULER, metadata=metadata)
        node = await cluster.bound("web-0")

        async def is_noted() -> bool:
            found = await asyncio.to_thread(cluster.api.get, "StatefulSet", "web", cluster.namespace)
            return bool(found["metadata"].get("annotations", {}).get(f"{STICKY_NODE}-0") == node)

        await until(is_noted, "the node to be noted")
        await cluster.delete("web-0")
        await cluster.pod("web-0", schedulerName=SCHEDULER, metadata=metadata)
        assert await cluster.bound("web-0") == node


# -- the person who decides --


@pytest.fixture
async def may_read_here(cluster: Cluster) -> AsyncIterator[None]:
    """The API server's own scheduler role may read machines of the test's namespace, and of no other."""
    group = "rbac.authorization.k8s.io"
    named = {"apiVersion": f"{group}/v1", "metadata": {"name": "here", "namespace": cluster.namespace}}
    rules = [{"apiGroups": ["kubevirt.io"], "resources": ["virtualmachines"], "verbs": ["list"]}]
    await cluster.create(named | {"kind": "Role", "rules": rules})
    subject = {"apiGroup": group, "kind": "User", "name": "system:kube-scheduler"}
    reference = {"apiGroup": group, "kind": "Role", "name": "here"}
    await cluster.create(named | {"kind": "RoleBinding", "roleRef": reference, "subjects": [subject]})
    yield
    for kind in ("RoleBinding", "Role"):
        await asyncio.to_thread(cluster.api.delete, kind, "here", cluster.namespace)


@pytest.mark.usefixtures("may_read_here")
async def test_who_may_read_one_namespace_sees_what_sticks_there(cluster: Cluster, kubevirt: KubeVirt) -> None:
    await kubevirt.machine(node="n3")
    warnings: list[str] = []
    kubeconfig = str(cluster.plane.kubeconfig("scheduler"))
    found = await asyncio.to_thread(sticky_command.look, kubeconfig, None, warnings.append, kubevirt.namespace)
    (item,) = sticky_command.sticky_list(found, STICKY_NODE)["items"]
    assert (item["name"], item["node"], item["nodeState"]) == ("vm", "n3", "Present")
    assert [each.split(":")[0] for each in warnings] == ["virtualmachineinstances are left out"]


async def test_a_person_sees_what_sticks_and_sets_it_free(
    cluster: Cluster, kubevirt: KubeVirt, capsys: pytest.CaptureFixture[str]
) -> None:
    kubeconfig = ["--kubeconfig", str(cluster.plane.kubeconfig()), "-n", kubevirt.namespace]
    async with running(cluster.plane, config=config()):
        instance, pod = await kubevirt.started(node="n3")
        await cluster.bound(pod)
        await kubevirt.runs_on("vm", "n3")
        found = await asyncio.to_thread(sticky_command.look, str(cluster.plane.kubeconfig()), None, lambda text: None)
        (item,) = sticky_command.sticky_list(found, STICKY_NODE, kubevirt.namespace)["items"]
        assert (item["name"], item["node"], item["nodeState"], item["runsOn"]) == ("vm", "n3", "Present", "n3")

        await asyncio.to_thread(cluster.api.patch, "Node", "n3", {"spec": {"unschedulable": True}})
        assert await asyncio.to_thread(main, ["sticky", "release", "vm", *kubeconfig]) == 0
        assert f"VirtualMachine {kubevirt.namespace}/vm is released from n3" in capsys.readouterr().out
        assert await asyncio.to_thread(main, ["sticky", "release", "vm", *kubeconfig]) == 1
        assert await asyncio.to_thread(main, ["sticky", "release", "nobody", *kubeconfig]) == 2
        assert f"VirtualMachine {kubevirt.namespace}/nobody: not found" in capsys.readouterr().err
        _, again = await kubevirt.restarted(instance, pod)
        node = await cluster.bound(again)
        assert node != "n3"
        await noted(kubevirt, node)
