"""KubeVirt's kinds on the real control plane, and what its controllers do: instances and pods for machines.

The definitions have the shape of KubeVirt's own: group, names, versions, the status of instances as a subresource, and
contents that are not looked into.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import yaml

from tests.support.api import Api, Object
from tests.support.definitions import defined
from tests.support.live import Cluster

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "sticky-vm"
KINDS = ("VirtualMachine", "VirtualMachineInstance")
STICKY_NODE = "bayplan.io/sticky-node"
MIGRATION_LABEL = "kubevirt.io/migrationJobUID"
SCHEDULER = "stickyvm"


def printed_config() -> Object:
    """The scheduler configuration as it was published."""
    return dict(yaml.safe_load((EXAMPLES / "scheduler-config.yaml").read_text()))


def definition(kind: str, short: list[str]) -> Object:
    plural = f"{kind.lower()}s"
    anything = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    schema = {"type": "object", "properties": {"spec": anything, "status": anything}, "required": ["spec"]}
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"{plural}.kubevirt.io"},
        "spec": {
            "group": "kubevirt.io",
            "scope": "Namespaced",
            "names": {"kind": kind, "plural": plural, "singular": kind.lower(), "shortNames": short},
            "versions": [
                {
                    "name": name,
                    "served": True,
                    "storage": name == "v1",
                    "schema": {"openAPIV3Schema": schema},
                    "subresources": {"status": {}},
                }
                for name in ("v1", "v1alpha3")
            ],
        },
    }


DEFINITIONS = (definition(KINDS[0], ["vm", "vms"]), definition(KINDS[1], ["vmi", "vmis"]))


@contextmanager
def installed(api: Api) -> Iterator[None]:
    """The definitions, created and served, until the end of the block."""
    with defined(api, DEFINITIONS, KINDS):
        yield


class KubeVirt:
    """Makes machines, instances and pods in a test's namespace."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.api = cluster.api
        self.namespace = cluster.namespace
        self._pods = 0

    async def machine(self, name: str = "vm", node: str | None = None) -> Object:
        meta: dict[str, Any] = {"name": name, "namespace": self.namespace}
        if node is not None:
            meta["annotations"] = {STICKY_NODE: node}
        spec = {"runStrategy": "Always", "template": {"spec": {"schedulerName": SCHEDULER}}}
        document = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachine", "metadata": meta, "spec": spec}
        return await self.cluster.create(document)

    async def instance(self, machine: Object | None, name: str = "") -> Object:
        meta: dict[str, Any] = {"name": name or (machine or {})["metadata"]["name"], "namespace": self.namespace}
        if machine is not None:
            meta["ownerReferences"] = [owner(machine)]
        spec = {"schedulerName": SCHEDULER}
        document = {"apiVersion": "kubevirt.io/v1", "kind": "VirtualMachineInstance", "metadata": meta, "spec": spec}
        return await self.cluster.create(document)

    async def launcher(self, instance: Object, *, is_target: bool = False, cpu: str = "100m") -> str:
        """A pod for an instance; its name."""
        self._pods += 1
        name = f"virt-launcher-{instance['metadata']['name']}-{self._pods}"
        labels = {"kubevirt.io": "virt-launcher", "kubevirt.io/created-by": instance["metadata"]["uid"]}
        if is_target:
            labels[MIGRATION_LABEL] = "00000000-0000-0000-0000-000000000001"
        metadata = {"labels": labels, "ownerReferences": [owner(instance)]}
        await self.cluster.pod(name, cpu=cpu, schedulerName=SCHEDULER, metadata=metadata)
        return name

    async def started(self, name: str = "vm", node: str | None = None) -> tuple[Object, str]:
        """A machine with its instance and its pod; the instance and the pod's name."""
        made = await self.instance(await self.machine(name, node))
        return made, await self.launcher(made)

    async def restarted(self, instance: Object, pod: str) -> tuple[Object, str]:
        """The pod and the instance go; KubeVirt makes both anew."""
        name = instance["metadata"]["name"]
        await self.cluster.delete(pod)
        await asyncio.to_thread(self.api.delete, "VirtualMachineInstance", name, self.namespace)
        made = await self.instance(await asyncio.to_thread(self.api.get, "VirtualMachine", name, self.namespace))
        return made, await self.launcher(made)

    async def runs_on(self, name: str, node: str, **migration: Any) -> None:
        """As virt-handler says it in the instance's status."""
        status: dict[str, Any] = {"nodeName": node, "phase": "Running"}
        if migration:
            status["migrationState"] = migration
        patch = {"status": status}
        await asyncio.to_thread(self.api.patch, "VirtualMachineInstance", name, patch, self.namespace, "status")

    async def note(self, name: str = "vm") -> str | None:
        found = await asyncio.to_thread(self.api.get, "VirtualMachine", name, self.namespace)
        noted: str | None = found["metadata"].get("annotations", {}).get(STICKY_NODE)
        return noted

    async def remove_all(self) -> None:
        """Nobody else deletes what a test leaves."""
        for kind in KINDS:
            names = [one["metadata"]["name"] for one in await asyncio.to_thread(self.api.list, kind, self.namespace)]
            await asyncio.to_thread(self._remove, kind, names)

    def _remove(self, kind: str, names: Iterable[str]) -> None:
        with ThreadPoolExecutor(8) as pool:
            list(pool.map(lambda name: self.api.delete(kind, name, self.namespace), names))


def owner(thing: Object) -> Object:
    meta = thing["metadata"]
    return {
        "apiVersion": "kubevirt.io/v1",
        "kind": thing["kind"],
        "name": meta["name"],
        "uid": meta["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
