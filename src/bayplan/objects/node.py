"""A node as the API server shows it.

Informers and manifests make nodes; the cache turns them into rows, and plugins see those rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from typing import Any

import msgspec

from bayplan.objects.cached_property import cached_property
from bayplan.objects.meta import ApiObject, Wire
from bayplan.objects.pod_spec import Condition
from bayplan.objects.quantity import Quantity
from bayplan.objects.resources import Resources
from bayplan.objects.toleration import Taint

__all__ = ["Node", "NodeImage", "NodeSpec", "NodeStatus", "Taint"]

# The old names come first, as in kube-scheduler, which interleaves zones by them.
ZONE_LABELS = ("failure-domain.beta.kubernetes.io/zone", "topology.kubernetes.io/zone")
REGION_LABELS = ("failure-domain.beta.kubernetes.io/region", "topology.kubernetes.io/region")
HOSTNAME_LABEL = "kubernetes.io/hostname"


class NodeImage(Wire, frozen=True, kw_only=True):
    """An image the node holds, under all the names it goes by."""

    names: tuple[str, ...] | None = None
    size_bytes: int = 0


class NodeSpec(Wire, frozen=True, kw_only=True):
    unschedulable: bool = False
    taints: tuple[Taint, ...] | None = None
    provider_id: str = msgspec.field(default="", name="providerID")


class NodeStatus(Wire, frozen=True, kw_only=True):
    capacity: dict[str, Quantity] | None = None
    allocatable: dict[str, Quantity] | None = None
    conditions: tuple[Condition, ...] | None = None
    images: tuple[NodeImage, ...] | None = None
    declared_features: tuple[str, ...] | None = None


class Node(ApiObject, frozen=True, kw_only=True):
    """A node; the framework's row view of it is called NodeView."""

    spec: NodeSpec = NodeSpec()
    status: NodeStatus = NodeStatus()

    @property
    def taints(self) -> tuple[Taint, ...]:
        return self.spec.taints or ()

    @property
    def unschedulable(self) -> bool:
        return self.spec.unschedulable

    @property
    def allocatable_map(self) -> Mapping[str, Quantity]:
        """What it has to give, as written."""
        return self.status.allocatable or {}

    @property
    def images(self) -> tuple[NodeImage, ...]:
        return self.status.images or ()

    @property
    def conditions(self) -> tuple[Condition, ...]:
        return self.status.conditions or ()

    @property
    def declared_features(self) -> tuple[str, ...]:
        return self.status.declared_features or ()

    @property
    def zone(self) -> str:
        return self._first_label(ZONE_LABELS)

    @property
    def region(self) -> str:
        return self._first_label(REGION_LABELS)

    @cached_property
    def allocatable(self) -> Resources:
        """What it has to give, as numbers; `.pods` is how many pods it takes."""
        return _allocatable(tuple(self.allocatable_map.items()))

    def evolve(self, **changes: Any) -> Node:
        """A copy with some of metadata, spec and status replaced; nothing worked out is carried over."""
        return msgspec.structs.replace(self, **changes)

    def _first_label(self, keys: tuple[str, ...]) -> str:
        labels = self.labels
        for key in keys:
            if key in labels:
                return labels[key]
        return ""


@lru_cache(maxsize=4096)
def _allocatable(amounts: tuple[tuple[str, Quantity], ...]) -> Resources:
    """Most nodes of a cluster are of a few sizes."""
    return Resources.from_quantities(dict(amounts), "status.allocatable")
