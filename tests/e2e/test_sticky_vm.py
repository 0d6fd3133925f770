"""kill -9 between bind and note, and at any other moment: no machine ever loses its node."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import Audit, AuditedPlane
from tests.e2e.replicas import CONFIG, Replicas
from tests.support.api import Object
from tests.support.kubevirt import SCHEDULER, KubeVirt, installed
from tests.support.live import Cluster, until

pytestmark = [pytest.mark.kube, pytest.mark.slow]

MACHINES = 60


@pytest.fixture(scope="module", autouse=True)
def kinds(plane: AuditedPlane) -> Iterator[None]:
    """KubeVirt's kinds, and the rules that ship for the plugin."""
    api = plane.api()
    rules = list(yaml.safe_load_all(manifests("sticky-vm")))
    with installed(api):
        for document in rules:
            api.create(document)
        yield
        for document in rules:
            api.delete(document["kind"], document["metadata"]["name"])


@pytest.fixture
def sticky(replicas: Replicas, tmp_path: Path) -> list[str]:
    """The flags of a scheduler with the plugin."""
    profile = {"schedulerName": SCHEDULER, "plugins": {"multiPoint": {"enabled": [{"name": "StickyVM"}]}}}
    path = tmp_path / "sticky.yaml"
    path.write_text(yaml.safe_dump(CONFIG | {"profiles": [profile]}))
    return [f"--config={path}"]


@pytest.fixture
async def kubevirt(cluster: Cluster) -> AsyncIterator[KubeVirt]:
    made = KubeVirt(cluster)
    yield made
    await made.remove_all()


async def notes(kubevirt: KubeVirt) -> dict[str, str]:
    found = await asyncio.to_thread(kubevirt.api.list, "VirtualMachine", kubevirt.namespace)
    return {
        one["metadata"]["name"]: node
        for one in found
        if (node := one["metadata"].get("annotations", {}).get("bayplan.io/sticky-node"))
    }


def nodes(pods: list[Object]) -> dict[str, str]:
    return {one["metadata"]["ownerReferences"][0]["name"]: one["spec"]["nodeName"] for one in pods}


@pytest.fixture
def no_patching(plane: AuditedPlane) -> Iterator[object]:
    """An admission policy that turns down every write to a machine: what is bound is not noted."""
    api = plane.api()
    name = {"metadata": {"name": "no-patching"}, "apiVersion": "admissionregistration.k8s.io/v1"}
    rule = {
        "apiGroups": ["kubevirt.io"],
        "apiVersions": ["v1"],
        "resources": ["virtualmachines"],
        "operations": ["UPDATE"],
    }
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"resourceRules": [rule]},
        "validations": [{"expression": "false", "message": "on purpose"}],
    }
    api.create(name | {"kind": "ValidatingAdmissionPolicy", "spec": spec})
    binding = {"policyName": "no-patching", "validationActions": ["Deny"]}
    api.create(name | {"kind": "ValidatingAdmissionPolicyBinding", "spec": binding})

    def end() -> None:
        api.delete("ValidatingAdmissionPolicyBinding", "no-patching")
        api.delete("ValidatingAdmissionPolicy", "no-patching")

    yield end
    end()


async def test_a_scheduler_killed_between_bind_and_note_is_made_up_for_by_the_next(
    cluster: Cluster, kubevirt: KubeVirt, replicas: Replicas, sticky: list[str], no_patching: object
) -> None:
    await cluster.nodes(3)
    first = replicas.start(*sticky)
    machine = await kubevirt.machine("probe")

    def is_turned_down() -> bool:
        """It takes the API server a moment to know its policy."""
        try:
            for labels in ({"a": "b"}, None):
                kubevirt.api.patch("VirtualMachine", "probe", {"metadata": {"labels": labels}}, kubevirt.namespace)
        except Exception as error:
            return "on purpose" in str(error)
        return False

    await until(is_turned_down, "the policy to hold", 20)
    pod = await kubevirt.launcher(await kubevirt.instance(machine))
    node = await cluster.bound(pod, timeout_s=20)
    await until(lambda: "node not annotated" in first.log, "the write to be turned down")
    first.kill()
    assert await notes(kubevirt) == {}
    assert callable(no_patching)
    no_patching()

    def is_let_through() -> bool:
        return not is_turned_down()

    await until(is_let_through, "the policy to be gone", 20)
    replicas.start(*sticky)

    async def is_noted() -> bool:
        return await notes(kubevirt) == {"probe": node}

    await until(is_noted, "the next scheduler to note the node", 30)
    assert "repairing" in replicas.all[-1].log


async def test_machines_return_to_their_nodes_however_often_the_scheduler_is_killed(
    cluster: Cluster, kubevirt: KubeVirt, replicas: Replicas, sticky: list[str], audit: Audit
) -> None:
    await cluster.nodes(6, cpu="4")
    replicas.start(*sticky)
    replicas.start(*sticky)

    async def kill() -> None:
        while True:
            leader = await until(replicas.leader, "a leader", 30)
            await asyncio.sleep(1.0)
            leader.kill()
            replicas.start(*sticky)

    killing = asyncio.ensure_future(kill())
    try:
        made = []
        for number in range(MACHINES):
            made.append(await kubevirt.started(f"vm{number}"))
            await asyncio.sleep(0.05)
    finally:
        killing.cancel()
        await asyncio.gather(killing, return_exceptions=True)
    replicas.start(*sticky)
    before = nodes(await cluster.all_bound(MACHINES, timeout_s=60))

    async def are_noted() -> bool:
        return await notes(kubevirt) == before

    await until(are_noted, "all nodes to be noted", 30)
    for each in made:
        await kubevirt.restarted(*each)
    after = nodes(await cluster.all_bound(MACHINES, timeout_s=60))

    assert after == before
    assert sum(not each.is_running() for each in replicas.all) >= 1, "nobody was killed"
