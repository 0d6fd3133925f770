"""
What a move does to the cluster, in a what-if of the engine: a pod leaves, and another like it is placed.

Used by ``planner``, ``plan_checking`` and ``simulator.fit.moves``.
"""

from __future__ import annotations

from msgspec.structs import replace

from bayplan.engine.what_if import WhatIf
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodStatus
from bayplan.objects.toleration import NO_SCHEDULE, UNSCHEDULABLE_TAINT_KEY, Taint

_GOING = "1970-01-01T00:00:00Z"


def place(imagined: WhatIf, pod: Pod, node_name: str) -> None:
    imagined.cache.add_pod(pod.assigned_to(node_name))


def leave(imagined: WhatIf, pod: Pod) -> None:
    """
    The pod is evicted.  Pods of a StatefulSet are gone before their replacement comes; others are still going then, and
    hold what they hold.
    """
    owner = pod.controller
    if owner is not None and owner.kind == "StatefulSet":
        imagined.cache.remove_pod(pod)
    else:
        imagined.cache.add_pod(pod.evolve(metadata=replace(pod.metadata, deletion_timestamp=_GOING)))


def replacement_of(pod: Pod) -> Pod:
    """The pod that its controller would make in its place; it does not push others away."""
    meta = replace(pod.metadata, uid=f"{pod.uid}/again", creation_timestamp=None, resource_version="")
    spec = replace(pod.spec, node_name="", preemption_policy="Never")
    return pod.evolve(metadata=meta, spec=spec, status=PodStatus())


def waiting_pod(pod: Pod) -> Pod:
    """A pod that waits, as it would be judged if it could push nobody away."""
    return pod.evolve(spec=replace(pod.spec, preemption_policy="Never"))


def cordoned(node: Node) -> Node:
    return node.evolve(spec=replace(node.spec, unschedulable=True))


def close(imagined: WhatIf, node: Node) -> None:
    """No new pods on this node: cordoned, with the taint that the node controller adds."""
    taint = Taint(key=UNSCHEDULABLE_TAINT_KEY, effect=NO_SCHEDULE)
    closed = cordoned(node)
    others = tuple(each for each in node.taints if each.key != taint.key)
    imagined.cache.add_node(closed.evolve(spec=replace(closed.spec, taints=(*others, taint))))
