"""
What sticks to which node, and setting it free: for ``bayplan sticky``.

The nodes are noted in annotations by the StickyVM plugin.  Releasing leaves the annotation there with nothing in it: an
annotation that is taken away from a machine that runs would be written again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from bayplan.app.snapshot.live_cluster import readable
from bayplan.errors import ConflictError, InputError, NotFoundError
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client, path_of
from bayplan.objects.kinds import convert, named, those
from bayplan.objects.meta import ApiObject
from bayplan.objects.names import is_subdomain
from bayplan.objects.node import Node
from bayplan.objects.requirement import check_key
from bayplan.objects.third_party.kubevirt import INSTANCE, MACHINE, VirtualMachine, VirtualMachineInstance
from bayplan.objects.workload import StatefulSet

API_VERSION = "bayplan.io/v1alpha1"
STATEFUL_SET = "StatefulSet"
KINDS = (MACHINE, INSTANCE, STATEFUL_SET, "Node")
GONE, CORDONED, PRESENT = "Gone", "Cordoned", "Present"
RETRIES = 5


def sticky_list(objects: Iterable[ApiObject], annotation: str, namespace: str | None = None) -> dict[str, Any]:
    """The document ``kind: StickyList``: everything that sticks, or stuck and was released."""
    check_annotation(annotation)
    things = list(objects)
    nodes = {each.name: each for each in things if isinstance(each, Node)}
    runs_on = {each.key: each.status.node_name for each in things if isinstance(each, VirtualMachineInstance)}
    items = [
        {
            "kind": kind,
            "namespace": owner.namespace,
            "name": name,
            "node": node,
            "nodeState": _state(nodes.get(node)) if node and nodes else None,
            "runsOn": runs_on.get(owner.key) or None if kind == MACHINE else None,
        }
        for owner in things
        if namespace in (None, owner.namespace)
        for kind, name, node in _noted(owner, annotation)
    ]
    items.sort(key=lambda item: (item["namespace"], item["kind"], item["name"]))
    return {"apiVersion": API_VERSION, "kind": "StickyList", "items": items}


def _noted(owner: ApiObject, annotation: str) -> Iterator[tuple[str, str, str]]:
    if isinstance(owner, VirtualMachine) and annotation in owner.annotations:
        yield MACHINE, owner.name, owner.annotations[annotation]
    if isinstance(owner, StatefulSet):
        for key, node in owner.annotations.items():
            before, _, ordinal = key.rpartition("-")
            if before == annotation and ordinal.isdecimal():
                yield STATEFUL_SET, f"{owner.name}-{ordinal}", node


def _state(node: Node | None) -> str:
    if node is None:
        return GONE
    return CORDONED if node.unschedulable else PRESENT


# -- live --


def look(
    kubeconfig: str | None, context: str | None, warn: Callable[[str], None], namespace: str | None = None
) -> list[ApiObject]:
    """What a live cluster, or one namespace, has of all this.  Reads only, and what may be read."""
    _check_namespace(namespace)
    credentials = Credentials(kubeconfig, context)
    return asyncio.run(_look(credentials, warn, namespace or ""))


async def _look(credentials: Credentials, warn: Callable[[str], None], namespace: str) -> list[ApiObject]:
    wanted = those(KINDS)
    client = Client(credentials)
    try:
        found = await asyncio.gather(
            *(readable(client, kind, warn, namespace=namespace, essential=()) for kind in wanted)
        )
    finally:
        await client.close()
    return [convert(raw, kind.struct) for kind, raws in zip(wanted, found, strict=True) for raw in raws]


def release(
    name: str, namespace: str | None, annotation: str, kubeconfig: str | None, context: str | None
) -> tuple[str, str]:
    """Set one free; what it was, and the node it stuck to ("" if to none)."""
    wanted = target(name, annotation)
    _check_namespace(namespace)
    credentials = Credentials(kubeconfig, context)
    return asyncio.run(_release(credentials, namespace or credentials.namespace, *wanted))


async def _release(credentials: Credentials, namespace: str, kind_name: str, owner: str, key: str) -> tuple[str, str]:
    kind = named(kind_name)
    path, label = path_of(kind, namespace, owner), f"{kind_name} {namespace}/{owner}"
    if kind_name == STATEFUL_SET:
        label = f"pod {owner}-{key.rpartition('-')[2]} of {label}"
    client = Client(credentials)
    try:
        for left in reversed(range(RETRIES)):
            found = await client.get(path)
            node = (found["metadata"].get("annotations") or {}).get(key, "")
            if not node:
                return label, ""
            version = found["metadata"]["resourceVersion"]
            try:
                await client.patch(path, {"metadata": {"resourceVersion": version, "annotations": {key: ""}}})
                return label, node
            except ConflictError:
                if not left:
                    raise
        raise AssertionError("the last try returns or raises")
    except NotFoundError as error:
        if not error.reason:
            # The API server says of objects that they are not found, and of kinds that it has no such page.
            text = f"the API server has no {kind.plural} in {kind.api_version}"
            raise InputError(text, object=label, fix="install KubeVirt, or name another cluster") from None
        fix = "bayplan sticky list shows what sticks; -n gives the namespace"
        raise InputError(f"not found: {error.message}", object=label, fix=fix) from None
    finally:
        await client.close()


def target(name: str, annotation: str) -> tuple[str, str, str]:
    """Kind and name of the owner, and its annotation, of ``VM``, ``vm/VM`` or ``statefulset/POD``."""
    check_annotation(annotation)
    kind, slash, rest = name.partition("/")
    if not slash:
        kind, rest = "vm", name
    owner, _, ordinal = rest.rpartition("-")
    if not is_subdomain(rest):
        kind = ""
    if kind.lower() in ("vm", "vms", "virtualmachine", "virtualmachines"):
        return MACHINE, rest, annotation
    if kind.lower() in ("sts", "statefulset", "statefulsets") and owner and ordinal.isdecimal():
        return STATEFUL_SET, owner, f"{annotation}-{ordinal}"
    fix = "write the name of a virtual machine, or statefulset/POD such as statefulset/web-0"
    raise InputError(f'"{name}" is nothing that can stick', fix=fix)


def check_annotation(key: str) -> None:
    try:
        check_key(key)
    except ValueError:
        raise InputError(f'"{key}" cannot be an annotation', fix="write the plugin's annotationKey") from None


def _check_namespace(namespace: str | None) -> None:
    if namespace is not None and not is_subdomain(namespace):
        raise InputError(f'"{namespace}" cannot be a namespace', fix="write its name after -n")
