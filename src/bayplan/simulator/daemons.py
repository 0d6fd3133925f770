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
from bayplan.simulator.controllers import REVISION_LABEL, Controller, PodMaker

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
        self._nodes = [node for node in nodes if self._belongs_on(node)]
        self.wanted = len(self._nodes)
        self._served = {node_of(pod) for pod in existing}

    def begin(self) -> Iterable[Pod]:
        return [self._pod(node.name) for node in self._nodes if node.name not in self._served]

    def gone(self, pod: Pod) -> Iterable[Pod]:
        return [self._pod(node_of(pod))]

    def _belongs_on(self, node: Node) -> bool:
        """Would the controller want a pod there?  Room is the scheduler's question, not this one."""
        pod = self._template_pod
        requirement = pod.required_node_affinity
        if pod.node_name and pod.node_name != node.name:
            return False
        if requirement is not None and not requirement.matches(node.name, node.labels):
            return False
        return untolerated(pod.tolerations, node.taints) is None

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
