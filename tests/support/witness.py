"""A witness that reads the API server's own watch of pods and judges what a scheduler did. Live tests use it.

It shares nothing with Bayplan's client: it follows the pods by itself, from before the first bind to the end, over
restarts of the API server. ``judge`` raises with everything that was wrong:

- a pod (by uid) was seen on two nodes
- a bind put a node over its allocatable
- a pod of ours ended neither bound nor with a PodScheduled condition that says why
"""

from __future__ import annotations

import asyncio
import json
import ssl
from collections import defaultdict
from collections.abc import Collection
from contextlib import suppress
from typing import Any, Self

import aiohttp
import msgspec

from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.resources import Resources
from tests.support.api import Object
from tests.support.control_plane import ControlPlane

RETRY_S = 0.1
SETTLE_S = 0.2


class Witness:
    """``async with Witness(plane) as witness: …; await witness.judge()``"""

    def __init__(self, plane: ControlPlane, schedulers: Collection[str] = ("bayplan",)) -> None:
        self._plane = plane
        self._schedulers = schedulers
        self._pods: dict[str, Object] = {}
        self._nodes_of: defaultdict[str, list[str]] = defaultdict(list)
        self._rooms: dict[str, Resources | None] = {}
        self._complaints: list[str] = []
        self._version = ""
        self.events_seen = 0

    async def __aenter__(self) -> Self:
        context = ssl.create_default_context(cafile=str(self._plane.ca_file))
        self._session = aiohttp.ClientSession(
            self._plane.server,
            headers={"Authorization": f"Bearer {self._plane.tokens['admin']}"},
            connector=aiohttp.TCPConnector(ssl=context),
        )
        await self._list()
        self._task = asyncio.ensure_future(self._follow())
        return self

    async def __aexit__(self, *_: object) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._session.close()

    async def judge(self) -> None:
        """Everything seen so far must be in order; what is on its way gets a moment to arrive."""
        await asyncio.sleep(SETTLE_S)
        complaints = list(self._complaints)
        for pod in (await self._get("/api/v1/pods"))["items"]:
            if pod["spec"]["schedulerName"] not in self._schedulers or pod["metadata"].get("deletionTimestamp"):
                continue
            conditions = {one["type"] for one in pod["status"].get("conditions", ())}
            if not pod["spec"].get("nodeName") and "PodScheduled" not in conditions:
                complaints.append(f"{_name(pod)} is neither bound nor told why not")
        assert self.events_seen, "the witness saw nothing at all"
        assert not complaints, "\n".join(complaints)

    def nodes_of(self, uid: str) -> list[str]:
        """Where a pod was ever seen."""
        return list(self._nodes_of.get(uid, ()))

    # -- following --

    async def _get(self, path: str) -> Any:
        async with self._session.get(path, raise_for_status=True) as answer:
            return await answer.json()

    async def _list(self) -> None:
        answer = await self._get("/api/v1/pods")
        self._pods = {uid: pod for uid, pod in self._pods.items() if uid in {_uid(one) for one in answer["items"]}}
        for pod in answer["items"]:
            await self._take(pod)
        self._version = answer["metadata"]["resourceVersion"]

    async def _follow(self) -> None:
        while True:
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                if not self._version:
                    await self._list()
                await self._watch()
            await asyncio.sleep(RETRY_S)

    async def _watch(self) -> None:
        query = {"watch": "true", "resourceVersion": self._version}
        forever = aiohttp.ClientTimeout(total=None, sock_read=None)
        async with self._session.get("/api/v1/pods", params=query, timeout=forever, read_bufsize=2**23) as answer:
            if answer.status != 200:
                self._version = ""
                return
            async for line in answer.content:
                event = json.loads(line)
                if event["type"] == "ERROR":
                    self._version = ""
                    return
                await self._event(event["type"], event["object"])

    async def _event(self, kind: str, pod: Object) -> None:
        self._version = pod["metadata"]["resourceVersion"]
        self.events_seen += 1
        if kind == "DELETED":
            self._pods.pop(_uid(pod), None)
        else:
            await self._take(pod)

    async def _take(self, pod: Object) -> None:
        before = self._pods.get(_uid(pod))
        self._pods[_uid(pod)] = pod
        node = pod["spec"].get("nodeName")
        if not node:
            return
        nodes = self._nodes_of[_uid(pod)]
        if node not in nodes:
            nodes.append(node)
        if len(nodes) > 1:
            self._complaints.append(f"{_name(pod)} ({_uid(pod)}) was on nodes {nodes}")
        if before is not None and not before["spec"].get("nodeName"):
            await self._check_room(node)

    async def _check_room(self, name: str) -> None:
        """The node must hold what is on it, now that a pod was bound to it."""
        if name not in self._rooms:
            self._rooms[name] = await self._room(name)
        room = self._rooms[name]
        if room is None:
            return
        here = [msgspec.convert(pod, Pod) for pod in self._pods.values() if pod["spec"].get("nodeName") == name]
        running = [pod for pod in here if not pod.is_terminal]
        cpu = sum(pod.requests.cpu_milli for pod in running)
        memory = sum(pod.requests.memory_bytes for pod in running)
        if cpu > room.cpu_milli or memory > room.memory_bytes or len(running) > room.pods:
            self._complaints.append(f"{name} holds {len(running)} pods with {cpu}m cpu, {memory} bytes: too much")

    async def _room(self, name: str) -> Resources | None:
        try:
            return msgspec.convert(await self._get(f"/api/v1/nodes/{name}"), Node).allocatable
        except aiohttp.ClientResponseError:
            return None


def _uid(pod: Object) -> str:
    return str(pod["metadata"]["uid"])


def _name(pod: Object) -> str:
    return f"{pod['metadata']['namespace']}/{pod['metadata']['name']}"
