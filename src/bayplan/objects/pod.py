"""A pod, and everything about it that scheduling asks for.

Informers and manifests make pods; the queue, the cache and every plugin read them. What has to be worked out
(sums, compiled selectors) is worked out on first use and kept with the pod's template, which its siblings share.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

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
)
from bayplan.objects.cached_property import cached_property
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
from bayplan.objects.pod_template import (
    DEFAULT_SCHEDULER,
    PREEMPT_LOWER_PRIORITY,
    ZONE_LABEL,
    HasSpec,
    HostPort,
    PodTemplate,
    normalise_image,
)
from bayplan.objects.pod_volume import Volume
from bayplan.objects.resources import Resources
from bayplan.objects.selector import NodeRequirement, NodeTerm, PodTerm
from bayplan.objects.times import parse_time
from bayplan.objects.toleration import Toleration

__all__ = [
    "DEFAULT_SCHEDULER",
    "PREEMPT_LOWER_PRIORITY",
    "ZONE_LABEL",
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
    "PodTemplate",
    "PreferredSchedulingTerm",
    "ResourceRequirements",
    "SpreadConstraint",
    "Toleration",
    "TopologySpreadConstraint",
    "Volume",
    "WeightedPodAffinityTerm",
    "normalise_image",
]


class Pod(ApiObject, HasSpec, frozen=True, kw_only=True):
    """A pod. Replace parts of it with `evolve`."""

    spec: PodSpec = PodSpec()
    status: PodStatus = PodStatus()

    @property
    def node_name(self) -> str:
        return self.spec.node_name

    @property
    def nominated_node_name(self) -> str:
        return self.status.nominated_node_name

    @property
    def is_terminal(self) -> bool:
        """Whether it has ended and takes nothing from its node any more."""
        return self.status.phase in ("Succeeded", "Failed")

    @property
    def start_time(self) -> float | None:
        return parse_time(self.status.start_time)

    @property
    def is_daemonset(self) -> bool:
        owner = self.controller
        return owner is not None and owner.kind == "DaemonSet"

    @property
    def claim_names(self) -> tuple[str, ...]:
        """Names of the PersistentVolumeClaims it mounts, those made for it alone included."""
        return tuple(name for name in (each.claim_name(self.name) for each in self.volumes) if name)

    @property
    def owner_keys(self) -> tuple[tuple[str, str, str], ...]:
        """(kind, namespace, name) of the objects that own it."""
        return tuple((owner.kind, self.namespace, owner.name) for owner in self.metadata.owner_references or ())

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

    @property
    def accounted(self) -> Resources:
        """What it takes from the node it runs on, a resize under way included."""
        return self._occupied[0] if self.reports_amounts else self.template.requests

    @property
    def nonzero(self) -> tuple[int, int]:
        """(cpu_milli, memory_bytes) it counts with in the scores of its node."""
        return self._occupied[1] if self.reports_amounts else self.template.nonzero

    @cached_property
    def _occupied(self) -> tuple[Resources, tuple[int, int]]:
        return requests.accounted(self.spec, self.status), requests.nonzero(self.spec, self.status)

    # -- worked out of what it shares with others --

    @cached_property
    def template(self) -> PodTemplate:
        """What it shares with the pods that were made like it: the same object for all of them, if they are known."""
        return PodTemplate(self.metadata, self.spec)

    @property
    def label_set(self) -> tuple[str, frozenset[tuple[str, str]]]:
        """Namespace and labels: all that selectors read of it."""
        return self.template.label_set

    @property
    def requests(self) -> Resources:
        """What the spec asks for."""
        return self.template.requests

    @property
    def scored(self) -> Mapping[str, int]:
        """Thousandths of each resource that it counts with where a node is scored for it."""
        return self.template.scored

    @property
    def host_ports(self) -> tuple[HostPort, ...]:
        return self.template.host_ports

    @property
    def images(self) -> tuple[str, ...]:
        """Names of the images of init and regular containers, one per container."""
        return self.template.images

    @property
    def volume_images(self) -> tuple[str, ...]:
        """Names of the images that are mounted as volumes."""
        return self.template.volume_images

    @property
    def storage_keys(self) -> tuple[tuple[str, ...], ...]:
        """What it mounts that others may mount too: its claims (not those made for it alone) and inline disks."""
        return self.template.storage_keys

    @property
    def attachable_count(self) -> int:
        """How many of its volumes may have to be attached to its node; the same disk twice counts twice."""
        return self.template.attachable_count

    @property
    def required_node_affinity(self) -> NodeRequirement | None:
        """Where it must run by nodeSelector and required node affinity, or None if it says nothing."""
        return self.template.required_node_affinity

    @property
    def preferred_node_terms(self) -> tuple[tuple[int, NodeTerm], ...]:
        return self.template.preferred_node_terms

    @property
    def required_affinity_terms(self) -> tuple[PodTerm, ...]:
        return self.template.required_affinity_terms

    @property
    def required_anti_affinity_terms(self) -> tuple[PodTerm, ...]:
        return self.template.required_anti_affinity_terms

    @property
    def preferred_affinity_terms(self) -> tuple[tuple[int, PodTerm], ...]:
        return self.template.preferred_affinity_terms

    @property
    def preferred_anti_affinity_terms(self) -> tuple[tuple[int, PodTerm], ...]:
        return self.template.preferred_anti_affinity_terms

    @property
    def spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        return self.template.spread_constraints

    @property
    def hard_spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        return self.template.hard_spread_constraints

    @property
    def soft_spread_constraints(self) -> tuple[SpreadConstraint, ...]:
        return self.template.soft_spread_constraints

    # -- changed copies --

    def evolve(self, **changes: Any) -> Pod:
        """A copy with some of metadata, spec and status replaced."""
        copy = msgspec.structs.replace(self, **changes)
        return copy._of(self.template) if changes.keys() <= _OF_ITS_OWN else copy

    def like(self, template: PodTemplate, spec: PodSpec | None = None) -> Pod:
        """The same pod made from this template, which is as its own; ``spec`` is the template's if not given."""
        return msgspec.structs.replace(self, spec=spec or template.spec)._of(template)

    def assigned_to(self, node_name: str) -> Pod:
        """The same pod on a node, which is nothing that a template knows of."""
        return self.like(self.template, msgspec.structs.replace(self.spec, node_name=node_name))

    def nominated_to(self, node_name: str) -> Pod:
        """The same pod with a node set aside for it."""
        return self.evolve(status=msgspec.structs.replace(self.status, nominated_node_name=node_name))

    def for_scheduler(self, name: str) -> Pod:
        """The same pod, asking for this scheduler."""
        if self.scheduler_name == name:
            return self
        return self.evolve(spec=msgspec.structs.replace(self.spec, scheduler_name=name))

    def _of(self, template: PodTemplate) -> Pod:
        self.__dict__["template"] = template
        return self


_OF_ITS_OWN = frozenset({"status"})
"""What no template has."""
