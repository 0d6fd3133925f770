"""
A writer that writes nothing, for an engine that only decides.  ``app.shadow`` and ``bayplan replay`` give it to theirs.

Deciding does not write; a plugin that tries to, from its memory or beside scheduling, is told that it may not.
"""

from __future__ import annotations

from typing import Any, NoReturn

from bayplan.errors import StateError
from bayplan.objects.devices.resource_claim import ResourceClaim
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod


class ReadOnly:
    """A ``ClusterWriter`` and ``EventSink`` for those who only look."""

    async def bind(self, pod: Pod, node_name: str) -> None:
        _refuse(f"binding {pod.key} to {node_name}")

    async def patch_pod_status(self, pod: Pod, patch: dict[str, Any]) -> None:
        _refuse(f"the status of {pod.key}")

    async def delete_pod(self, pod: Pod) -> None:
        _refuse(f"deleting {pod.key}")

    async def evict(self, pod: Pod) -> None:
        _refuse(f"evicting {pod.key}")

    async def patch(
        self,
        kind: str,
        namespace: str,
        name: str,
        patch: dict[str, Any],
        resource_version: str = "",
        subresource: str = "",
    ) -> str:
        _refuse(f"{kind} {namespace}/{name}")

    async def create(self, thing: ApiObject) -> ApiObject:
        _refuse(f"making {thing.key}")

    async def delete(self, thing: ApiObject) -> None:
        _refuse(f"deleting {thing.key}")

    async def read(self, kind: str, namespace: str, name: str) -> ApiObject:
        _refuse(f"reading {kind} {namespace}/{name}: what is not watched is not known")

    async def release_claim(self, claim: ResourceClaim, consumer_uid: str) -> None:
        _refuse(f"claim {claim.key}")

    def emit(self, pod: Pod, *, type: str, reason: str, action: str, note: str, related: Pod | None = None) -> None:
        return None


def _refuse(what: str) -> NoReturn:
    raise StateError(f"{what}: nothing is written here")
