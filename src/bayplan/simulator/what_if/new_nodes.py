"""
Nodes that are not there yet: like one that is, or as a template has it, with what belongs to each node.

``scenario`` adds them for ``--add``, and ``fit`` to see how many have to be bought.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator

from msgspec.structs import replace

from bayplan.objects.admission.defaulting import stable_uid
from bayplan.objects.devices.resource_slice import ResourceSlice
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Condition
from bayplan.objects.volume import CSINode

HOSTNAME = "kubernetes.io/hostname"
OF_THE_MOMENT = "node.kubernetes.io/"
"""Taints that begin so say how a node is doing; a new one is well."""


def fresh(node: Node, name: str) -> Node:
    """A node of this kind on its first day: ready, open to pods, without images, under its own name."""
    meta = node.metadata
    labels = dict(meta.labels or {})
    if HOSTNAME in labels or meta.uid:
        labels[HOSTNAME] = name
    taints = tuple(each for each in node.taints if not each.key.startswith(OF_THE_MOMENT))
    return node.evolve(
        metadata=replace(
            meta, name=name, uid=stable_uid("Node", "", name), labels=labels, annotations=None, resource_version=""
        ),
        spec=replace(node.spec, unschedulable=False, taints=taints or None, provider_id=""),
        status=replace(node.status, conditions=(Condition(type="Ready", status="True"),), images=None),
    )


def names(base: str, count: int, taken: Collection[str]) -> Iterator[str]:
    """So many names that nobody has."""
    number = 0
    while count:
        number += 1
        name = f"{base}-new-{number}"
        if name not in taken:
            count -= 1
            yield name


def belongings(old: str, new: str, objects: Iterable[ApiObject]) -> Iterator[ApiObject]:
    """What another node of the same kind would bring with it: drivers for volumes, and devices of its own."""
    for each in objects:
        if isinstance(each, CSINode) and each.name == old:
            meta = replace(each.metadata, name=new, uid=stable_uid("CSINode", "", new), owner_references=None)
            yield each.evolve(metadata=meta)
        elif isinstance(each, ResourceSlice) and each.spec.node_name == old:
            name = f"{each.name}-{new}"
            pool = replace(each.spec.pool, name=new if each.spec.pool.name == old else f"{each.spec.pool.name}-{new}")
            meta = replace(each.metadata, name=name, uid=stable_uid("ResourceSlice", "", name), owner_references=None)
            yield each.evolve(metadata=meta, spec=replace(each.spec, node_name=new, pool=pool))
