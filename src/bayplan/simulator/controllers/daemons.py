"""
DaemonSet: one pod on each node it is meant for, as its controller makes them.

Each pod names its node in a required node affinity and tolerates what the controller says it must; the scheduler still
has to place it.  ``workloads`` has one ``DaemonPods`` for each DaemonSet.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bayplan.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodSpec
from bayplan.objects.toleration import (
    EXISTS,
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY_TAINT_KEY,
    UNREACHABLE_TAINT_KEY,
    UNSCHEDULABLE_TAINT_KEY,
    Toleration,
    untolerated,
)
from bayplan.objects.workload import DaemonSet
from bayplan.simulator.controllers.pod_makers import REVISION_LABEL, Controller, PodMaker

_NAME_FIELD = "metadata.name"
TOLERATED = (
    (NOT_READY_TAINT_KEY, NO_EXECUTE),
    (UNREACHABLE_TAINT_KEY, NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/memory-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/pid-pressure", NO_SCHEDULE),
    (UNSCHEDULABLE_TAINT_KEY, NO_SCHEDULE),
)
"""What every daemon puts up with."""

TOLERATED_ON_HOST_NETWORK = (("node.kubernetes.io/network-unavailable", NO_SCHEDULE),)


class DaemonPods(Controller):
    """The pods of one DaemonSet."""

    def __init__(self, maker: PodMaker, owner: DaemonSet, existing: Sequence[Pod], nodes: Sequence[Node]) -> None:
        super().__init__(maker, owner)
        self._set = owner
        self._revision = maker.names.template_hash(owner.spec.template)
        self._template_pod = Pod(spec=with_tolerations(owner.spec.template.spec))
        self._nodes = {node.name for node in nodes if self._belongs_on(node)}
        """Where it wants a pod."""
        self._order = [node.name for node in nodes if node.name in self._nodes]
        self.wanted = len(self._nodes)
        self._served = {node_of(pod) for pod in existing}

    def begin(self) -> Iterable[Pod]:
        return [self._pod(name) for name in self._order if name not in self._served]

    def gone(self, pod: Pod) -> Iterable[Pod]:
        name = node_of(pod)
        return [self._pod(name)] if name in self._nodes else []

    def node_changed(self, name: str, node: Node | None, own: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
        """A node came, changed or went (None): the pods that are made for it, and those of ``own`` that go."""
        here = [pod for pod in own if node_of(pod) == name]
        if node is not None and self._belongs_on(node):
            self._nodes.add(name)
            self.wanted = len(self._nodes)
            return [] if here else [self._pod(name)], []
        self._nodes.discard(name)
        self.wanted = len(self._nodes)
        return [], [] if node is not None and self._may_stay_on(node) else here

    def _may_stay_on(self, node: Node) -> bool:
        """Where it would not be put any more: only a NoExecute taint, or another label, sends a pod away."""
        return (
            self._is_meant_for(node) and untolerated(self._template_pod.tolerations, node.taints, {NO_EXECUTE}) is None
        )

    def _belongs_on(self, node: Node) -> bool:
        """Would the controller want a pod there?  Room is the scheduler's question, not this one."""
        return self._is_meant_for(node) and untolerated(self._template_pod.tolerations, node.taints) is None

    def _is_meant_for(self, node: Node) -> bool:
        pod = self._template_pod
        requirement = pod.required_node_affinity
        if pod.node_name and pod.node_name != node.name:
            return False
        return requirement is None or requirement.matches(node.name, node.labels)

    def _pod(self, node_name: str) -> Pod:
        name = self.maker.names.generate("Pod", self.owner.namespace, f"{self.owner.name}-")
        labels = {REVISION_LABEL: self._revision, "pod-template-generation": "1"}
        spec = pinned_to(self._template_pod.spec, node_name)
        return self.maker.named(self.owner, self._set.spec.template, name, labels, spec=spec)


def with_tolerations(spec: PodSpec) -> PodSpec:
    """With the tolerations that every daemon gets, unless it has them."""
    wanted = TOLERATED + (TOLERATED_ON_HOST_NETWORK if spec.host_network else ())
    own = spec.tolerations or ()
    added = (Toleration(key=key, operator=EXISTS, effect=effect) for key, effect in wanted)
    return replace(spec, tolerations=(*own, *(each for each in added if each not in own)))


def pinned_to(spec: PodSpec, node_name: str) -> PodSpec:
    """With a required node affinity to one node in place of the one that is written."""
    field = NodeSelectorRequirement(key=_NAME_FIELD, operator="In", values=(node_name,))
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    affinity = spec.affinity or Affinity()
    node_affinity = replace(
        affinity.node_affinity or NodeAffinity(), required_during_scheduling_ignored_during_execution=selector
    )
    return replace(spec, affinity=replace(affinity, node_affinity=node_affinity))


def node_of(pod: Pod) -> str:
    """The node a daemon's pod is on or is meant for; "" if neither is said."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for term in (required.node_selector_terms or ()) if required is not None else ():
        for field in term.match_fields or ():
            if field.key == _NAME_FIELD and field.values:
                return field.values[0]
    return pod.node_name
