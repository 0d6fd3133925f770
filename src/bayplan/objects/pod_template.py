"""What the pods of one template share, and everything that is worked out from it.

A template has the pod's spec, labels, namespace and owners, and nothing else: whoever is given one cannot read a
name, a uid, an annotation or a status. `Pod.template` is the template of a pod; `engine.pod_templates` sees to it that
pods made from the same one have the same object.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from bayplan.objects import requests
from bayplan.objects.affinity import (
    Affinity,
    NodeAffinity,
    SpreadConstraint,
    compile_preferred,
    compile_preferred_node_terms,
    compile_required,
    compile_spread,
)
from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import NO_STRINGS, ObjectMeta, OwnerReference
from bayplan.objects.pod_spec import Container, PodSpec, PodStatus
from bayplan.objects.pod_volume import Volume
from bayplan.objects.resources import Resources
from bayplan.objects.selector import NodeRequirement, NodeTerm, PodTerm, compile_node_selector
from bayplan.objects.toleration import Toleration

DEFAULT_SCHEDULER = "default-scheduler"
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
ZONE_LABEL = "topology.kubernetes.io/zone"


class HostPort(NamedTuple):
    """A port of the node itself that a pod takes; no address means all of them."""

    protocol: str
    ip: str
    port: int


class HasSpec:
    """What a pod and its template both say of the spec as it is written."""

    __slots__ = ()

    spec: PodSpec

    @property
    def priority(self) -> int:
        return self.spec.priority or 0

    @property
    def scheduler_name(self) -> str:
        return self.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def preemption_policy(self) -> str:
        return self.spec.preemption_policy or PREEMPT_LOWER_PRIORITY

    @property
    def node_selector(self) -> Mapping[str, str]:
        return self.spec.node_selector or NO_STRINGS

    @property
    def zone(self) -> str:
        """The zone its nodeSelector names, or ""."""
        return self.node_selector.get(ZONE_LABEL, "")

    @property
    def tolerations(self) -> tuple[Toleration, ...]:
        return self.spec.tolerations or ()

    @property
    def gates(self) -> tuple[str, ...]:
        gates = self.spec.scheduling_gates
        return tuple(gate.name for gate in gates) if gates else ()

    @property
    def volumes(self) -> tuple[Volume, ...]:
        return self.spec.volumes or ()

    @property
    def containers(self) -> tuple[Container, ...]:
        return self.spec.containers or ()

    @property
    def init_containers(self) -> tuple[Container, ...]:
        return self.spec.init_containers or ()

    @property
    def container_count(self) -> int:
        """Init and regular containers together."""
        return len(self.containers) + len(self.init_containers)

    @property
    def has_pod_terms(self) -> bool:
        """Does it say beside which pods, or away from which, it wants to be?"""
        affinity = self.spec.affinity
        return affinity is not None and bool(affinity.pod_affinity or affinity.pod_anti_affinity)


class PodTemplate(HasSpec):
    """What pods have in common that differ in nothing but their names, annotations and status."""

    def __init__(self, metadata: ObjectMeta, spec: PodSpec) -> None:
        self.namespace = metadata.namespace
        self.labels: Mapping[str, str] = metadata.labels or NO_STRINGS
        self.owner_references: tuple[OwnerReference, ...] = metadata.owner_references or ()
        self.controller: OwnerReference | None = metadata.controller
        """The owner that looks after the pods, if one does."""
        self.spec = spec

    @property
    def is_daemonset(self) -> bool:
        return self.controller is not None and self.controller.kind == "DaemonSet"

    @cached_property
    def label_set(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """Namespace and labels: all that selectors read of a pod."""
        return self.namespace, frozenset(self.labels.items())

    @cached_property
    def requests(self) -> Resources:
        """What the spec asks for."""
        return requests.requested(self.spec)

    @cached_property
    def nonzero(self) -> tuple[int, int]:
        """(cpu_milli, memory_bytes) a pod counts with in the scores of its node, if its status says nothing else."""
        if self.spec.resources:  # those of the pod as a whole are no part of what is scored
            return requests.nonzero(self.spec, PodStatus())
        return requests.scoring_request(self, requests.CPU), requests.scoring_request(self, requests.MEMORY)

    @cached_property
    def scored(self) -> Mapping[str, int]:
        """Thousandths of each resource that a pod counts with where a node is scored for it."""
        return requests.scored(self.spec)

    @cached_property
    def host_ports(self) -> tuple[HostPort, ...]:
        running = (*(each for each in self.init_containers if each.is_sidecar), *self.containers)
        return tuple(
            HostPort(port.protocol or "TCP", port.host_ip or "0.0.0.0", port.host_port)
            for container in running
            for port in container.ports or ()
            if port.host_port > 0
        )

    @cached_property
    def images(self) -> tuple[str, ...]:
        """Names of the images of init and regular containers, one per container."""
        return tuple(normalise_image(each.image) for each in (*self.init_containers, *self.containers))

    @cached_property
    def volume_images(self) -> tuple[str, ...]:
        """Names of the images that are mounted as volumes."""
        return tuple(normalise_image(each.image.reference) for each in self.volumes if each.image is not None)

    @cached_property
    def storage_keys(self) -> tuple[tuple[str, ...], ...]:
        """What a pod mounts that others may mount too: its claims (not those made for it alone) and inline disks."""
        claims = (each.persistent_volume_claim for each in self.volumes)
        keys = [("claim", self.namespace, each.claim_name) for each in claims if each is not None]
        return (*keys, *(key for key in (each.disk_key for each in self.volumes) if key is not None))

    @cached_property
    def attachable_count(self) -> int:
        """How many volumes may have to be attached to a pod's node; the same disk twice counts twice."""
        return sum(1 for each in self.volumes if each.may_need_attaching)

    @cached_property
    def required_node_affinity(self) -> NodeRequirement | None:
        """Where a pod must run by nodeSelector and required node affinity, or None if it says nothing."""
        selected = tuple(sorted(self.node_selector.items()))
        written = self._node_affinity.required_during_scheduling_ignored_during_execution
        if not selected and written is None:
            return None
        return NodeRequirement(selected, None if written is None else compile_node_selector(written))

    @cached_property
    def preferred_node_terms(self) -> tuple[tuple[int, NodeTerm], ...]:
        written = self._node_affinity.preferred_during_scheduling_ignored_during_execution
        return compile_preferred_node_terms(written)

    @cached_property
    def required_affinity_terms(self) -> tuple[PodTerm, ...]:
        return compile_required(self._affinity.pod_affinity, self.namespace)

    @cached_property
    def required_anti_affinity_terms(self) -> tuple[PodTerm, ...]:
        return compile_required(self._affinity.pod_anti_affinity, self.namespace)

    @cached_property
    def preferred_affinity_terms(self) -> tuple[tuple[int, PodTerm], ...]:
        return compile_preferred(self._affinity.pod_affinity, self.namespace)

    @cached_property
    def preferred_anti_affinity_terms(self) -> tuple[tuple[int, PodTerm], ...]:
        return compile_preferred(self._affinity.pod_anti_affinity, self.namespace)

    @cached_property
    def spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        return tuple(compile_spread(each, self.labels) for each in self.spec.topology_spread_constraints or ())

    @cached_property
    def hard_spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        return tuple(each for each in self.spread_constraints if each.hard)

    @cached_property
    def soft_spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        return tuple(each for each in self.spread_constraints if not each.hard)

    @property
    def _affinity(self) -> Affinity:
        return self.spec.affinity or _NO_AFFINITY

    @property
    def _node_affinity(self) -> NodeAffinity:
        return self._affinity.node_affinity or _NO_NODE_AFFINITY


def normalise_image(name: str) -> str:
    """With a tag: "nginx" is "nginx:latest"."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


_NO_AFFINITY = Affinity()
_NO_NODE_AFFINITY = NodeAffinity()
