"""
Pods of one template share what was worked out for them: one spec object, one set of sums and compiled selectors.

A template's pods arrive as separate objects with equal specs.  The first becomes the prototype; later ones take
its spec and its worked-out values, so a large ReplicaSet costs the memory and the arithmetic of one pod, and the
class cache can tell a class by the identity of the spec.  Called by ``engine.event_handlers`` for every waiting pod.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable

import msgspec

from bayplan.objects.pod import Pod, PodSpec

MAX_PROTOTYPES = 4096

# Volumes that no plugin looks at; the token volume's name differs from pod to pod.
_VOLUME_SOURCES = (
    "persistent_volume_claim", "ephemeral", "gce_persistent_disk", "aws_elastic_block_store", "iscsi", "rbd",
    "azure_disk", "azure_file", "cinder", "portworx_volume", "vsphere_volume", "csi", "image",
)  # fmt: skip


class Prototypes:
    """The templates seen lately."""

    def __init__(self) -> None:
        self._known: OrderedDict[Hashable, Pod] = OrderedDict()
        self._last: tuple[Pod, Pod] | None = None
        """The pod before as it came, and its prototype: most pods follow one of their own template."""
        self._encode = msgspec.json.Encoder().encode

    def shared(self, pod: Pod) -> Pod:
        """The same pod on its template's spec, with everything known that the template's other pods made known."""
        if self._last is not None and _is_alike(self._last[0], pod):
            prototype = self._last[1]
        else:
            prototype = self._prototype(pod)
            self._last = pod, prototype
        shared = pod.evolve(spec=prototype.spec)
        if not pod.reports_amounts and not prototype.reports_amounts:
            return shared.sharing(prototype)
        return shared

    def _prototype(self, pod: Pod) -> Pod:
        owner = pod.controller
        spec = without_idle_volumes(pod.spec)
        key = (pod.label_set, owner and (owner.kind, owner.name), self._encode(spec))
        prototype = self._known.get(key)
        if prototype is None:
            prototype = self._known[key] = pod.evolve(spec=spec)
            if len(self._known) > MAX_PROTOTYPES:
                self._known.popitem(last=False)
        return prototype


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
