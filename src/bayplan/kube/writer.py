"""
ApiWriter: what the scheduler does to a cluster, as API requests.  Implements ``framework.ports.ClusterWriter``.

A bind that timed out may have succeeded, and a conflict may be our own earlier bind: both are settled by
reading the pod, never by guessing.  Errors that pass are waited out here, so that a short outage of the API
server does not send every pod back to the queue.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Coroutine
from typing import Any

from bayplan.backoff import Backoff
from bayplan.clock import wait_at_most
from bayplan.errors import (
    ApiError,
    ClientError,
    ConflictError,
    EvictionRefusedError,
    LeadershipLostError,
    NotFoundError,
    ServerError,
    TooManyRequestsError,
    TransportError,
    UnprocessableError,
)
from bayplan.kube import binding_message
from bayplan.kube.bind_window import BindWindow
from bayplan.kube.client import JSON, STRATEGIC_PATCH, Client
from bayplan.kube.object_writes import ObjectWrites, says
from bayplan.kube.transport import REQUEST_TIMEOUT_S, Response
from bayplan.objects.pod import Pod

MAX_BINDING = 64
"""Binds under way at once, at most: more do not make the API server faster."""
SERVER_ERRORS = 4
"""Tries after which a 5xx is taken for an answer; a network that is down is waited for."""
FIRST_WAIT_S = 0.1
MAX_WAIT_S = 5.0
BIND_TIMEOUT_S = 15.0
# Below the engine's own deadline for a bind, so that what we know of a failure reaches the pod's status.
PATIENCE_S = 40.0
READ_TIMEOUT_S = 3.0
MAX_RETRY_AFTER_S = 30.0


class ApiWriter(ObjectWrites):
    """Writes to one cluster, as long as ``check_lead`` does not raise (only the leader may write)."""

    def __init__(self, client: Client, check_lead: Callable[[], None] = lambda: None) -> None:
        self._client = client
        self._check_lead = check_lead
        self._pace = BindWindow(MAX_BINDING)
        self._takes_protobuf = True
        self._closed = False
        self.binding = 0
        """Binds asked for and not answered yet."""
        self._idle = asyncio.Event()
        self._idle.set()

    async def bind(self, pod: Pod, node_name: str) -> None:
        """Bind with the UID as precondition, so a pod made anew under the same name is never bound by mistake."""
        path = f"{_path(pod)}/binding"

        async def once() -> None:
            try:
                await self._send_binding(path, pod, node_name)
            except (ConflictError, TransportError) as error:
                if not await self._is_bound_to(pod, node_name):
                    raise error

        self.binding += 1
        self._idle.clear()
        try:
            await self._patiently(once, self._pace)
        finally:
            self.binding -= 1
            if not self.binding:
                self._idle.set()

    async def _send_binding(self, path: str, pod: Pod, node_name: str) -> None:
        """As protobuf; should something between us and the API server not know that, as JSON from then on."""
        if self._takes_protobuf:
            message = binding_message.encode(pod.name, pod.namespace, pod.uid, node_name)
            try:
                await self._send(
                    "POST", path, message, content_type=binding_message.CONTENT_TYPE, timeout_s=BIND_TIMEOUT_S
                )
                return
            except ClientError as error:
                if error.status != 415:
                    raise
                self._takes_protobuf = False
        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": pod.name, "namespace": pod.namespace, "uid": pod.uid},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node_name},
        }
        await self._send("POST", path, binding, timeout_s=BIND_TIMEOUT_S)

    async def patch_pod_status(self, pod: Pod, patch: dict[str, Any]) -> None:
        """With the UID as precondition too; ``ConflictError`` if the name is another pod's by now."""
        body = {"metadata": {"uid": pod.uid}, "status": patch}

        async def once() -> None:
            try:
                await self._send("PATCH", f"{_path(pod)}/status", body, content_type=STRATEGIC_PATCH)
            except UnprocessableError as error:
                # How the API server says that a uid in a patch is not the object's.
                if "metadata.uid" not in error.message:
                    raise
                raise ConflictError(409, error.message, reason="Conflict", method="PATCH", path=_path(pod)) from error

        await self._patiently(once)

    async def delete_pod(self, pod: Pod) -> None:
        options = {"preconditions": {"uid": pod.uid}}

        async def once() -> None:
            try:
                await self._send("DELETE", _path(pod), options)
            except (NotFoundError, ConflictError):
                # It is gone, or the name is another pod's by now: what was wanted either way.
                return

        await self._patiently(once)

    async def evict(self, pod: Pod) -> None:
        """With the UID as precondition; what a disruption budget refuses is not asked for again here."""
        eviction = {
            "apiVersion": "policy/v1",
            "kind": "Eviction",
            "metadata": {"name": pod.name, "namespace": pod.namespace},
            "deleteOptions": {"preconditions": {"uid": pod.uid}},
        }
        path = f"{_path(pod)}/eviction"

        async def once() -> None:
            try:
                await self._send("POST", path, eviction)
            except (NotFoundError, ConflictError):
                return
            except ServerError as error:
                # The API server calls its own limit an internal error; it will not pass.
                if "more than one PodDisruptionBudget" not in error.message:
                    raise
                raise EvictionRefusedError(error.status, error.message, method="POST", path=path) from error

        await self._patiently(once)

    async def close(self, timeout_s: float) -> None:
        """Start nothing more; give the binds under way a last chance to be answered."""
        self._closed = True
        await wait_at_most(self._idle, timeout_s)

    async def _send(
        self,
        method: str,
        path: str,
        body: Any,
        *,
        content_type: str = JSON,
        timeout_s: float = REQUEST_TIMEOUT_S,
    ) -> Response:
        """Nothing is sent any more once the lead is lost, however long a connection took."""
        return await self._client.send(
            method, path, body=body, content_type=content_type, timeout_s=timeout_s, guard=self._check_lead
        )

    async def _is_bound_to(self, pod: Pod, node_name: str) -> bool:
        return says(await self._read(_path(pod)), {"metadata": {"uid": pod.uid}, "spec": {"nodeName": node_name}})

    async def _get(self, path: str) -> Any:
        return await self._client.get(path, timeout_s=READ_TIMEOUT_S)

    async def _read(self, path: str) -> Any:
        """The object as it is now, or None if that cannot be told."""
        try:
            return await self._get(path)
        except (ApiError, TransportError):
            return None

    async def _patiently(self, once: Callable[[], Coroutine[Any, Any, None]], pace: BindWindow | None = None) -> None:
        """Again after 429, 5xx and network errors, waiting as long as the server asks."""
        gives_up_at = time.monotonic() + PATIENCE_S
        backoff, server_errors = Backoff(FIRST_WAIT_S, MAX_WAIT_S), 0
        while True:
            asked_s = 0.0
            try:
                if pace is not None:
                    return await self._in_turn(once, pace)
                self._check()
                return await once()
            except TooManyRequestsError as error:
                last: Exception = error
                asked_s = min(error.retry_after_s or 0.0, MAX_RETRY_AFTER_S)
            except TransportError as error:
                last = error
            except ServerError as error:
                last = error
                server_errors += 1
            wait = max(backoff.failed(), asked_s)
            if server_errors >= SERVER_ERRORS or time.monotonic() + wait > gives_up_at:
                raise last
            await asyncio.sleep(wait * random.uniform(0.8, 1.2))

    async def _in_turn(self, once: Callable[[], Coroutine[Any, Any, None]], pace: BindWindow) -> None:
        began = await pace.turn()
        try:
            self._check()
            await once()
            pace.answered(began)
        except TooManyRequestsError:
            pace.refused(began)
            raise
        except TransportError:
            pace.unanswered(began)
            raise
        finally:
            pace.ended()

    def _check(self) -> None:
        if self._closed:
            raise LeadershipLostError("stopping: nothing was written")
        self._check_lead()


def _path(pod: Pod) -> str:
    return f"/api/v1/namespaces/{pod.namespace}/pods/{pod.name}"
