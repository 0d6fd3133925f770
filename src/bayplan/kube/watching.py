"""
A watch that is asked about when it says nothing.  ``kube.informer`` follows its kind through one.

A quiet kind has nothing to say, for hours, and a connection that died without a word says just as little.  So after
a while of silence the same watch is opened once more for a moment, from where the first one is: if that one tells of a
change and the first still does not, or if there is no answer at all, the first is dead.  Otherwise it stays.
"""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

import msgspec

from bayplan.errors import ApiError, TransportError
from bayplan.kube.client import Client
from bayplan.kube.transport import REQUEST_TIMEOUT_S
from bayplan.kube.wire import Line

SILENCE_S = 150.0
# For how long the second watch listens, and what that may take from first to last.
LISTEN_S = 1
ANSWER_S = 15.0
# A change comes to the two watches at about the same time, not in the same instant.
LATE_S = 1.0


class Watch:
    """One watch; ``version`` tells how far its reader has come."""

    def __init__(
        self, client: Client, path: str, params: Mapping[str, str], version: Callable[[], str], silence_s: float
    ) -> None:
        self._client = client
        self._path = path
        self._params = params
        self._version = version
        self._silence_s = silence_s
        self._heard = 0
        self._broken: TransportError | None = None
        self._limit = asyncio.timeout(None)

    @asynccontextmanager
    async def lines(self) -> AsyncIterator[AsyncIterator[bytes]]:
        """The raw lines; ``TransportError`` once it is found dead.  The block ends early where it has to be renewed."""
        loop = asyncio.get_running_loop()
        answer_s = min(self._silence_s, REQUEST_TIMEOUT_S)
        self._broken = TransportError(f"watch {self._path}: no answer within {answer_s:g} s")
        try:
            async with self._limit:
                self._limit.reschedule(loop.time() + answer_s)
                params = {**self._params, "resourceVersion": self._version(), "allowWatchBookmarks": "true"}
                async with self._client.watch(self._path, params) as lines:
                    self._limit.reschedule(None)
                    asking = asyncio.ensure_future(self._ask())
                    try:
                        yield self._overheard(lines)
                    finally:
                        asking.cancel()
                        await asyncio.gather(asking, return_exceptions=True)
        except TimeoutError:
            if not self._limit.expired():
                raise
            if self._broken is not None:
                self._client.distrust()
                raise self._broken from None

    async def _overheard(self, lines: AsyncIterator[bytes]) -> AsyncIterator[bytes]:
        async for line in lines:
            self._heard += 1
            yield line

    async def _ask(self) -> None:
        """Ask after every silence, until the answer is that this watch is of no use any more."""
        heard = -1
        while True:
            if heard != self._heard:
                heard = self._heard
            elif await self._is_over():
                self._limit.reschedule(asyncio.get_running_loop().time())
                return
            # Not all kinds ask at the same moment.
            await asyncio.sleep(self._silence_s * random.uniform(0.9, 1.0))

    async def _is_over(self) -> bool:
        """Whether the watch is dead, with the reason in ``_broken``, or has to be begun anew."""
        heard = self._heard
        try:
            async with asyncio.timeout(ANSWER_S):
                missed = await self._first_line()
        except TimeoutError:
            self._broken = TransportError(
                f"watch {self._path}: silent for {self._silence_s:g} s, and the server does not answer"
            )
            return True
        except TransportError as error:
            self._broken = TransportError(f"watch {self._path}: silent for {self._silence_s:g} s, and then: {error}")
            return True
        except ApiError:
            return False  # it lives; what it has against the question, the next watch will hear
        if missed is None:
            return False
        await asyncio.sleep(LATE_S)
        if heard != self._heard:
            return False
        self._broken = None
        if missed != "ERROR":  # an error is about where we are, and is told to the next watch
            self._broken = TransportError(
                f"watch {self._path}: silent for {self._silence_s:g} s, and a change was not told"
            )
        return True

    async def _first_line(self) -> str | None:
        """What kind of line a watch from here on begins with, if any comes."""
        params = {**self._params, "resourceVersion": self._version(), "timeoutSeconds": str(LISTEN_S)}
        async with self._client.watch(self._path, params) as lines:
            async for line in lines:
                try:
                    return msgspec.json.decode(line, type=Line).type
                except msgspec.MsgspecError:
                    return "ERROR"
        return None
