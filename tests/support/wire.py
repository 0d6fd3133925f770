"""A stretch of network between a client and the API server that can be cut, frozen and mended. Tests of outages use it.

``Wire`` listens on a loopback port and passes bytes on, TLS and all. Frozen, it keeps connections open and lets
nothing through, as a firewall does that forgot a connection; cut, it closes them and refuses new ones.
"""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Self


class Wire:
    """``async with Wire("127.0.0.1", port) as wire:`` and connect to ``wire.port`` instead."""

    def __init__(self, host: str, port: int) -> None:
        self._target = host, port
        self._server: asyncio.Server | None = None
        self._flowing = asyncio.Event()
        self._flowing.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._is_cut = False
        self.port = 0
        self.connections = 0

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        await self._end_all()
        await self._server.wait_closed()

    def freeze(self) -> None:
        """Nothing gets through from now on, and nobody is told; new connections are fine."""
        self._flowing.clear()
        self._flowing = asyncio.Event()
        self._flowing.set()

    async def cut(self) -> None:
        """Break every connection and refuse new ones."""
        self._is_cut = True
        await self._end_all()

    def mend(self) -> None:
        self._is_cut = False

    async def _end_all(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(self._connect(reader, writer))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _connect(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        far_writer: asyncio.StreamWriter | None = None
        try:
            if self._is_cut:
                return
            far_reader, far_writer = await asyncio.open_connection(*self._target)
            flowing = self._flowing
            await asyncio.gather(_pass(reader, far_writer, flowing), _pass(far_reader, writer, flowing))
        except OSError:
            return
        finally:
            for each in (writer, far_writer):
                if each is not None:
                    each.close()
                    with suppress(OSError):
                        await each.wait_closed()


async def _pass(source: asyncio.StreamReader, target: asyncio.StreamWriter, flowing: asyncio.Event) -> None:
    while chunk := await source.read(65536):
        await flowing.wait()
        target.write(chunk)
        await target.drain()
    target.write_eof()
