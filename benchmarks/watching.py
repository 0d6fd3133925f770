"""
When pods were bound, as a watch sees it.  ``running`` opens one before a contender starts and waits on it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from typing import Any

import msgspec

from bayplan.errors import GoneError, TransportError
from bayplan.kube.client import Client

PATH = "/api/v1/pods"
ASSIGNED = "spec.nodeName!="
STALL_S = 180.0
"""Nothing seen for so long, and the rest counts as never bound."""
POLL_S = 0.1


class _Meta(msgspec.Struct, rename="camel"):
    name: str = ""
    resource_version: str = ""


class _Object(msgspec.Struct):
    metadata: _Meta = msgspec.field(default_factory=_Meta)


class _Line(msgspec.Struct):
    type: str
    object: _Object


class _List(msgspec.Struct):
    metadata: _Meta
    items: list[_Object]


_line = msgspec.json.Decoder(_Line)
_list = msgspec.json.Decoder(_List)


class BindWatch:
    """The binds of awaited pods: how many, and the time from the first sign of a scheduler to the last of them."""

    def __init__(self, client: Client, awaited: set[str], on_bind: Callable[[int], None]) -> None:
        self.first_at = self.last_at = 0.0
        """The first sign is a bind or an eviction: a pod that needs room first costs most before its bind."""
        self._seen_at = 0.0
        self.bound = 0
        self._client = client
        self._awaited = awaited
        self._on_bind = on_bind
        self._started_at = time.perf_counter()
        self._version = ""
        self._task: asyncio.Task[None] | None = None

    async def open(self) -> None:
        """From now on nothing is missed."""
        await self._catch_up()
        self._started_at = time.perf_counter()
        self._task = asyncio.ensure_future(self._follow())

    async def until_all(self, check: Callable[[], Any]) -> None:
        """Until every awaited pod is bound, or none is any more; ``check`` is called now and then and may raise."""
        assert self._task is not None
        try:
            while self._awaited and time.perf_counter() - max(self._seen_at, self._started_at) < STALL_S:
                if self._task.done():
                    self._task.result()
                check()
                await asyncio.sleep(POLL_S)
        finally:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def pods_per_second(self) -> float | None:
        """From the first to the last; None where there is no time between them."""
        seconds = self.last_at - self.first_at
        return (self.bound - 1) / seconds if self.bound > 1 and seconds > 0 else None

    async def _catch_up(self) -> None:
        """What a watch that could not keep up has missed is seen now."""
        known = _list.decode(await self._client.get_raw(PATH, {"fieldSelector": ASSIGNED}))
        self._version = known.metadata.resource_version
        for each in known.items:
            self._see(each.metadata.name)

    async def _follow(self) -> None:
        """The API server ends watches now and then; the next goes on where the last one ended."""
        while True:
            try:
                await self._follow_once()
            except (GoneError, TransportError):
                await self._catch_up()

    async def _follow_once(self) -> None:
        params = {"watch": "1", "fieldSelector": ASSIGNED, "resourceVersion": self._version}
        async with self._client.watch(PATH, params) as lines:
            async for raw in lines:
                line = _line.decode(raw)
                if line.type == "ERROR":
                    raise GoneError(410, "the watch broke off")
                self._version = line.object.metadata.resource_version
                self._note_sign()
                if line.type != "DELETED":
                    self._see(line.object.metadata.name)

    def _see(self, name: str) -> None:
        if name not in self._awaited:
            return
        self._awaited.discard(name)
        self.bound += 1
        self._note_sign()
        self.last_at = self._seen_at
        self._on_bind(self.bound)

    def _note_sign(self) -> None:
        self._seen_at = time.perf_counter()
        self.first_at = self.first_at or self._seen_at
