"""
The templates of waiting pods: pods that were made alike get one ``PodTemplate``, however they arrive.

A template's pods come as separate objects with equal specs.  Here they are given the template of the first of them and
its spec, so a large ReplicaSet costs the memory and the arithmetic of one pod, and whether two pods are of one template
is one comparison.  ``engine.event_handlers`` calls it for every waiting pod that comes or changes.
"""

from __future__ import annotations

from collections.abc import Hashable

import msgspec

from bayplan.bounded_cache import BoundedCache
from bayplan.objects.pod import Pod, PodSpec
from bayplan.objects.pod_template import PodTemplate

MAX_TEMPLATES = 4096

# Volumes that no plugin looks at; the token volume's name differs from pod to pod.
_VOLUME_SOURCES = (
    "persistent_volume_claim", "ephemeral", "gce_persistent_disk", "aws_elastic_block_store", "iscsi", "rbd",
    "azure_disk", "azure_file", "cinder", "portworx_volume", "vsphere_volume", "csi", "image",
)  # fmt: skip


class PodTemplates:
    """The templates seen lately."""

    def __init__(self) -> None:
        self._known: BoundedCache[Hashable, PodTemplate] = BoundedCache(MAX_TEMPLATES)
        self._last: tuple[Pod, PodTemplate] | None = None
        """The pod before as it came, and its template: most pods follow one of their own."""
        self._encode = msgspec.json.Encoder().encode

    def shared(self, pod: Pod) -> Pod:
        """The same pod made from the template that pods like it have."""
        if self._last is not None and _is_alike(self._last[0], pod):
            return pod.like(self._last[1])
        template = self._template(pod)
        self._last = pod, template
        return pod.like(template)

    def _template(self, pod: Pod) -> PodTemplate:
        spec = without_idle_volumes(pod.spec)
        meta = pod.metadata
        labels = frozenset((meta.labels or {}).items())
        key = (meta.namespace, labels, meta.owner_references, self._encode(spec))
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = PodTemplate(meta, spec)
        return known


def _is_alike(one: Pod, other: Pod) -> bool:
    """Are they surely of one template?"""
    a, b = one.metadata, other.metadata
    return (
        a.namespace == b.namespace
        and a.labels == b.labels
        and a.owner_references == b.owner_references
        and one.spec == other.spec
    )


def without_idle_volumes(spec: PodSpec) -> PodSpec:
    """The spec without volumes that no plugin looks at."""
    if not spec.volumes:
        return spec
    used = tuple(
        volume for volume in spec.volumes if any(getattr(volume, source) is not None for source in _VOLUME_SOURCES)
    )
    return spec if len(used) == len(spec.volumes) else msgspec.structs.replace(spec, volumes=used or None)
