"""
ApiWriter: what the scheduler does to a cluster, as API requests.  Implements ``framework.ports.ClusterWriter``.

A bind that timed out may have succeeded, and a conflict may be our own earlier bind: both are settled by
reading the pod, never by guessing.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable, Coroutine
from typing import Any

from bayplan.errors import (
    ApiError,
    ConflictError,
    LeadershipLostError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
    TransportError,
)
from bayplan.kube.client import STRATEGIC_PATCH, Client
from bayplan.objects.pod import Pod

TRIES = 4
FIRST_WAIT_S = 0.1
BIND_TIMEOUT_S = 30.0


class ApiWriter:
    """Writes to one cluster, as long as ``may_write`` says so (only the leader may)."""

    def __init__(self, client: Client, may_write: Callable[[], bool] = lambda: True) -> None:
        self._client = client
        self._may_write = may_write

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind with the UID as precondition, so a pod made anew under the same name is never bound by mistake."""
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node_name},
        }
        path = f"{_path(pod)}/binding"

        async def once() -> None:
            try:
                await self._client.create(path, binding, timeout_s=BIND_TIMEOUT_S)
            except (ConflictError, TransportError) as error:
                if not await self._is_bound_to(pod, node_name):
                    raise error

        await self._patiently(once)

    async def patch_pod_status(self, pod: Pod, patch: dict[str, Any]) -> None:
        body = {"metadata": {"uid": pod.uid}, "status": patch}

        async def once() -> None:
            await self._client.patch(f"{_path(pod)}/status", body, STRATEGIC_PATCH)

        await self._patiently(once)

    async def delete_pod(self, pod: Pod) -> None:
        options = {"preconditions": {"uid": pod.uid}}

        async def once() -> None:
            try:
                await self._client.delete(_path(pod), options)
            except NotFoundError:
                return
            except ConflictError:
                # The name is another pod's by now; ours is gone, which is what was wanted.
                return

        await self._patiently(once)

    async def _is_bound_to(self, pod: Pod, node_name: str) -> bool:
        try:
            now = await self._client.get(_path(pod))
        except (ApiError, TransportError):
            return False
        return bool(now["metadata"]["uid"] == pod.uid and now["spec"].get("nodeName") == node_name)

    async def _patiently(self, once: Callable[[], Coroutine[Any, Any, None]]) -> None:
        """Again after 429 and 5xx, waiting as long as the server asks; the last error is the caller's."""
        wait = FIRST_WAIT_S
        for attempt in range(TRIES):
            if not self._may_write():
                raise LeadershipLostError("not the leader any more: nothing was written")
            try:
                return await once()
            except TooManyRequestsError as error:
                if attempt == TRIES - 1:
                    raise
                wait = max(wait, error.retry_after_s or 0.0)
            except (ServerError, TransportError):
                if attempt == TRIES - 1:
                    raise
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))
            wait *= 2
        return None


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
