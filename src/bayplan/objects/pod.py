"""A pod, and everything about it that scheduling asks for.

Informers and manifests make pods; the queue, the cache and every plugin read them. What has to be worked out
(sums, compiled selectors) is worked out on first use and kept with the pod.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any, NamedTuple

import msgspec

from bayplan.objects import requests
from bayplan.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PodAffinity,
    PodAffinityTerm,
    PodAntiAffinity,
    PreferredSchedulingTerm,
    SpreadConstraint,
    TopologySpreadConstraint,
    WeightedPodAffinityTerm,
    compile_preferred,
    compile_preferred_node_terms,
    compile_required,
    compile_spread,
)
from bayplan.objects.meta import ApiObject, LabelSelector, LabelSelectorRequirement
from bayplan.objects.pod_spec import (
    Condition,
    Container,
    ContainerExtendedResourceRequest,
    ContainerPort,
    ContainerRestartRule,
    ContainerStatus,
    PodExtendedResourceClaimStatus,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGate,
    PodSpec,
    PodStatus,
    ResourceRequirements,
)
from bayplan.objects.pod_volume import Volume
from bayplan.objects.resources import Resources
from bayplan.objects.selector import NodeRequirement, NodeTerm, PodTerm, compile_node_selector
from bayplan.objects.times import parse_time
from bayplan.objects.toleration import Toleration

__all__ = [
    "Affinity",
    "Condition",
    "Container",
    "ContainerExtendedResourceRequest",
    "ContainerPort",
    "ContainerRestartRule",
    "ContainerStatus",
    "HostPort",
    "LabelSelector",
    "LabelSelectorRequirement",
    "NodeAffinity",
    "NodeSelector",
    "NodeSelectorRequirement",
    "NodeSelectorTerm",
    "Pod",
    "PodAffinity",
    "PodAffinityTerm",
    "PodAntiAffinity",
    "PodExtendedResourceClaimStatus",
    "PodResourceClaim",
    "PodResourceClaimStatus",
    "PodSchedulingGate",
    "PodSpec",
    "PodStatus",
    "PreferredSchedulingTerm",
    "ResourceRequirements",
    "SpreadConstraint",
    "Toleration",
    "TopologySpreadConstraint",
    "Volume",
    "WeightedPodAffinityTerm",
    "normalise_image",
]

DEFAULT_SCHEDULER = "default-scheduler"
PREEMPT_LOWER_PRIORITY = "PreemptLowerPriority"
ZONE_LABEL = "topology.kubernetes.io/zone"


class HostPort(NamedTuple):
    """A port of the node itself that a pod takes; no address means all of them."""

    protocol: str
    ip: str
    port: int


class Pod(ApiObject, frozen=True, kw_only=True):
    """A pod. Replace parts of it with `evolve`, which starts with nothing worked out."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def priority(self) -> int:
        return self.spec.priority or 0

    @property
    def node_name(self) -> str:
        return self.spec.node_name

    @property
    def scheduler_name(self) -> str:
        return self.spec.scheduler_name or DEFAULT_SCHEDULER

    @property
    def nominated_node_name(self) -> str:
        return self.status.nominated_node_name

    @property
    def preemption_policy(self) -> str:
        return self.spec.preemption_policy or PREEMPT_LOWER_PRIORITY

    @property
    def is_terminal(self) -> bool:
        """Whether it has ended and takes nothing from its node any more."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def start_time(self) -> float | None:
        return parse_time(self.status.start_time)

    @property
    def node_selector(self) -> Mapping[str, str]:
        return self.spec.node_selector or {}

    @property
    def zone(self) -> str:
        """The zone its nodeSelector names, or ""."""
        return self.node_selector.get(ZONE_LABEL, "")

    @property
    def is_daemonset(self) -> bool:
        owner = self.controller
        return owner is not None and owner.kind == "DaemonSet"

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
    def reports_amounts(self) -> bool:
        """Does its status say what it takes, which may be other than its spec asks for?"""
        status = self.status
        return bool(
            status.container_statuses
            or status.init_container_statuses
            or status.resources
            or status.allocated_resources
        )

    def condition(self, kind: str) -> Condition | None:
        """The status condition of that type, if it is there."""
        for condition in self.status.conditions or ():
            if condition.type == kind:
                return condition
        return None

    # -- worked out on first use --

    @cached_property
    def label_set(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """Namespace and labels: all that selectors read of it."""
        return self.namespace, frozenset(self.labels.items())

    @cached_property
    def requests(self) -> Resources:
        """What the spec asks for."""
        return requests.pod_requests(self)

    @cached_property
    def accounted(self) -> Resources:
        """What it takes from the node it runs on, a resize under way included."""
        return requests.pod_accounted(self)

    @cached_property
    def nonzero(self) -> tuple[int, int]:
        """(cpu_milli, memory_bytes) it counts with in the scores of its node."""
        return requests.pod_nonzero(self)

    @cached_property
    def scored(self) -> Mapping[str, int]:
        """Thousandths of each resource that it counts with where a node is scored for it."""
        return requests.pod_scored(self)

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

    @property
    def claim_names(self) -> tuple[str, ...]:
        """Names of the PersistentVolumeClaims it mounts, those made for it alone included."""
        # Not kept: pods of one template share what is kept, and this has the pod's own name in it.
        return tuple(name for name in (each.claim_name(self.name) for each in self.volumes) if name)

    @property
    def owner_keys(self) -> tuple[tuple[str, str, str], ...]:
        """(kind, namespace, name) of the objects that own it."""
        return tuple((owner.kind, self.namespace, owner.name) for owner in self.metadata.owner_references or ())

    @cached_property
    def storage_keys(self) -> tuple[tuple[str, ...], ...]:
        """What it mounts that others may mount too: its claims (not those made for it alone) and inline disks."""
        claims = (each.persistent_volume_claim for each in self.volumes)
        keys = [("claim", self.namespace, each.claim_name) for each in claims if each is not None]
        return (*keys, *(key for key in (each.disk_key for each in self.volumes) if key is not None))

    @cached_property
    def attachable_count(self) -> int:
        """How many of its volumes may have to be attached to its node; the same disk twice counts twice."""
        return sum(1 for each in self.volumes if each.may_need_attaching)

    @cached_property
    def required_node_affinity(self) -> NodeRequirement | None:
        """Where it must run by nodeSelector and required node affinity, or None if it says nothing."""
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

    @property
    def _affinity(self) -> Affinity:
        return self.spec.affinity or _NO_AFFINITY

    @property
    def _node_affinity(self) -> NodeAffinity:
        return self._affinity.node_affinity or _NO_NODE_AFFINITY

    # -- changed copies --

    def evolve(self, **changes: Any) -> Pod:
        """A copy with some of metadata, spec and status replaced; nothing worked out is carried over."""
        return msgspec.structs.replace(self, **changes)

    def assigned_to(self, node_name: str) -> Pod:
        """The same pod on a node.  Nothing that was worked out depends on the node, so it is carried over."""
        return self.evolve(spec=msgspec.structs.replace(self.spec, node_name=node_name)).sharing(self)

    def sharing(self, other: Pod) -> Pod:
        """This pod, just made, with whatever is or will be worked out for another: one place serves both."""
        _WORKED_OUT.__set__(self, other.__dict__)
        return self

    def nominated_to(self, node_name: str) -> Pod:
        """The same pod with a node set aside for it."""
        return self.evolve(status=msgspec.structs.replace(self.status, nominated_node_name=node_name))


def normalise_image(name: str) -> str:
    """With a tag: "nginx" is "nginx:latest"."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


# Where `cached_property` keeps its answers. Frozen objects cannot be given another place in the ordinary way.
_WORKED_OUT = vars(ApiObject)["__dict__"]
_NO_AFFINITY = Affinity()
_NO_NODE_AFFINITY = NodeAffinity()
