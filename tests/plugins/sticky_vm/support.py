"""Virtual machines for tests of StickyVM: machine, instance and pod, owned by one another as KubeVirt does it."""

from __future__ import annotations

from typing import Any

import msgspec

from bayplan.engine.cache import ClusterCache
from bayplan.framework import CycleState, PreFilterResult
from bayplan.framework.args import load_args
from bayplan.framework.handle import Handle
from bayplan.framework.status import Status, as_status
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.kubevirt import MIGRATION_LABEL, STICKY_NODE, VirtualMachine, VirtualMachineInstance
from bayplan.objects.workload import StatefulSet
from bayplan.plugins.sticky_vm import StickyVM
from bayplan.testing import Recorder
from bayplan.testing.harness import handle

PROFILE = "default-scheduler"
API = "kubevirt.io/v1"


def reference(kind: str, name: str, uid: str, api_version: str = API) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "name": name, "uid": uid, "controller": True}


def machine(name: str = "vm", node: str | None = None, *, uid: str = "", version: str = "1") -> VirtualMachine:
    meta: dict[str, Any] = {"name": name, "namespace": "default", "uid": uid or f"m-{name}", "resourceVersion": version}
    if node is not None:
        meta["annotations"] = {STICKY_NODE: node}
    return msgspec.convert({"metadata": meta}, VirtualMachine)


def instance(
    name: str = "vm",
    of: str | None = "vm",
    *,
    on: str = "",
    uid: str = "",
    machine_uid: str = "",
    scheduler: str = PROFILE,
    phase: str = "",
    migration: dict[str, Any] | None = None,
) -> VirtualMachineInstance:
    meta: dict[str, Any] = {"name": name, "namespace": "default", "uid": uid or f"i-{name}"}
    if of is not None:
        meta["ownerReferences"] = [reference("VirtualMachine", of, machine_uid or f"m-{of}")]
    status = {"nodeName": on, "phase": phase, **({"migrationState": migration} if migration else {})}
    return msgspec.convert(
        {"metadata": meta, "spec": {"schedulerName": scheduler}, "status": status}, VirtualMachineInstance
    )


def launcher(
    name: str = "launcher", of: str = "vm", *, uid: str = "", on: str = "", is_target: bool = False, **more: Any
) -> Pod:
    """A pod of an instance."""
    meta = {
        "name": name,
        "namespace": "default",
        "uid": f"p-{name}",
        "ownerReferences": [reference("VirtualMachineInstance", of, uid or f"i-{of}")],
        "labels": {MIGRATION_LABEL: "job"} if is_target else {},
    }
    spec = {"schedulerName": PROFILE, "nodeName": on, "containers": [{"name": "c", "image": "i"}], **more}
    return msgspec.convert({"metadata": meta, "spec": spec}, Pod)


def stateful_set(name: str = "web", **nodes: str) -> StatefulSet:
    """``stateful_set("web", _0="n1")`` has a note for its pod number 0."""
    notes = {f"{STICKY_NODE}-{ordinal[1:]}": node for ordinal, node in nodes.items()}
    meta = {"name": name, "namespace": "default", "uid": f"s-{name}", "annotations": notes}
    return msgspec.convert({"metadata": meta}, StatefulSet)


def member(name: str = "web-0", of: str = "web", *, on: str = "") -> Pod:
    meta = {
        "name": name,
        "namespace": "default",
        "uid": f"p-{name}",
        "ownerReferences": [reference("StatefulSet", of, f"s-{of}", "apps/v1")],
    }
    spec = {"schedulerName": PROFILE, "nodeName": on, "containers": [{"name": "c", "image": "i"}]}
    return msgspec.convert({"metadata": meta, "spec": spec}, Pod)


class Desk:
    """A plugin on a cache, and what it wrote and told."""

    def __init__(self, cache: ClusterCache, writer: Any = None, **args: Any) -> None:
        self.cache = cache
        self.writer = writer or Recorder()
        self.handle: Handle = handle(cache, writer=self.writer)
        self.plugin = StickyVM(load_args(StickyVM, args, "StickyVMArgs"), self.handle)

    def pre_filter(self, pod: Pod, state: CycleState | None = None) -> PreFilterResult | Status:
        answer = self.plugin.pre_filter(state or CycleState(), pod, self.cache.nodes)
        return answer if isinstance(answer, PreFilterResult) else as_status(answer)

    def why(self, pod: Pod) -> str:
        """The reason for which the pod must wait."""
        answer = self.pre_filter(pod)
        assert isinstance(answer, Status)
        assert answer.is_rejected
        return answer.message

    def nodes(self, pod: Pod) -> set[str] | None:
        """Where the pod may go; None: anywhere."""
        answer = self.pre_filter(pod)
        if isinstance(answer, PreFilterResult):
            return set(answer.node_names)
        assert answer.is_success or answer.is_skip
        return None

    async def bound(self, pod: Pod, node: str) -> None:
        """The pod goes through a cycle and is bound."""
        state = CycleState()
        self.plugin.pre_filter(state, pod, self.cache.nodes)
        waiting = self.plugin.post_bind(state, pod, node)
        if waiting is not None:
            await waiting

    def put(self, thing: ApiObject) -> None:
        """As informers tell it."""
        kind = type(thing).__name__
        old = self.cache.objects.get(kind, thing.namespace, thing.name)
        self.cache.objects.put(kind, thing.namespace, thing.name, thing)
        self.plugin.observe(kind, old, thing)

    def drop(self, thing: ApiObject) -> None:
        kind = type(thing).__name__
        self.cache.objects.drop(kind, thing.namespace, thing.name)
        self.plugin.observe(kind, thing, None)

    @property
    def written(self) -> list[tuple[str, dict[str, str]]]:
        """What was asked to be written: the object and its annotations."""
        return [(call[2], call[3]["metadata"]["annotations"]) for call in self.writer.calls if call[0] == "patch"]

    @property
    def events(self) -> list[tuple[str, str]]:
        return [call[2:] for call in self.handle.events.calls if call[0] == "event"]  # type: ignore[attr-defined]
