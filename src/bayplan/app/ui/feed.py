"""
Views as they change, for those who follow them: made once for all who may see the same, at most one a second.

``app.ui.server`` has one ``Feed``.  A client takes lines at its own pace: one that is slow, or comes back, gets the
whole view instead of the changes that it missed, so that nothing piles up for it.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import AsyncGenerator, Callable
from typing import Any, Protocol

import msgspec

from bayplan.app.ui.changes import Numbering, changes
from bayplan.app.ui.rights import Rights
from bayplan.bounded_cache import BoundedCache

PAUSE_S = 1.0
SHARE = 4
"""Making views may take one part in so many of a core: with a huge cluster they come less often."""
ALIVE_S = 15.0
KEPT = 10
"""Changes that are kept for those who are behind."""
MOST_CHANNELS = 100
"""Different rights whose last view is kept."""


class Viewed(Protocol):
    """What is looked at."""

    @property
    def revision(self) -> int: ...

    @property
    def problem(self) -> str: ...

    def view(self, rights: Rights) -> dict[str, Any]: ...


class Channel:
    """The view of those who have the same rights."""

    def __init__(self, source: Viewed, rights: Rights) -> None:
        self._source = source
        self._rights = rights
        self._numbering: dict[int, Numbering] = {}
        self._document: dict[str, Any] = {}
        self._whole: bytes | None = None
        self._recent: deque[tuple[int, bytes]] = deque(maxlen=KEPT)
        self._revision: int | None = None
        self._told = ""
        self.seq = 0

    def advance(self) -> None:
        """Make the view anew if something changed."""
        source = self._source
        if source.revision == self._revision and source.problem == self._told:
            return
        self._revision, self._told = source.revision, source.problem
        document = source.view(self._rights)
        document["clusters"] = [
            self._numbering.setdefault(number, Numbering()).renumber(cluster)
            for number, cluster in enumerate(document["clusters"])
        ]
        found = changes({**self._document, "made": document["made"]}, document) if self._document else None
        self._document = document
        if found == [] and not self._told:
            return
        self.seq += 1
        self._whole = None
        if found is None:
            self._recent.clear()
        else:
            message = {"seq": self.seq, "patch": found, **({"message": self._told} if self._told else {})}
            self._recent.append((self.seq, _line(message)))

    def whole(self) -> bytes:
        """The line with the whole view."""
        if self._whole is None:
            message = {"seq": self.seq, "view": self._document, **({"message": self._told} if self._told else {})}
            self._whole = _line(message)
        return self._whole

    @property
    def shown(self) -> dict[str, Any]:
        """The view by itself."""
        return self._document

    def since(self, seq: int) -> bytes:
        """What brings somebody up to date who has seen so much; the whole view if that is not much longer."""
        if seq == self.seq:
            return b""
        lines = [line for number, line in self._recent if number > seq]
        if len(lines) < self.seq - seq:
            return self.whole()
        short = b"".join(lines)
        return short if self._whole is None or 2 * len(short) < len(self._whole) else self.whole()


class Feed:
    """All channels, and the clock by which they go on."""

    def __init__(self, source: Viewed, pause_s: float = PAUSE_S) -> None:
        self._source = source
        self._pause_s = pause_s
        self._channels: BoundedCache[Rights, Channel] = BoundedCache(MOST_CHANNELS)
        self._made = asyncio.Condition()
        self._due = 0.0
        self.followers = 0

    def channel(self, rights: Rights) -> Channel:
        """The channel of these rights, up to date within the pause."""
        found = self._channels.get(rights)
        if found is None:
            found = self._channels[rights] = Channel(self._source, rights)
            found.advance()
        elif _now() >= self._due:
            found.advance()
        return found

    async def run(self) -> None:
        """For ever: go on with the channels that somebody follows."""
        while True:
            started = time.thread_time()
            if self.followers:
                async with self._made:
                    for channel in list(self._channels.values()):
                        channel.advance()
                        await asyncio.sleep(0)
                    self._made.notify_all()
            pause = max(self._pause_s, SHARE * (time.thread_time() - started))
            self._due = _now() + pause
            await asyncio.sleep(pause)

    async def follow(self, rights: Callable[[], Any]) -> AsyncGenerator[bytes, None]:
        """
        Lines for one client, until its rights cannot be told any more.

        Args:
            rights: a coroutine function; asked again before every line, since rights can be taken away.
        """
        self.followers += 1
        try:
            allowed = await rights()
            if not isinstance(allowed, Rights):
                return
            channel = self.channel(allowed)
            seq = channel.seq
            yield channel.whole()
            said = _now()
            while True:
                async with self._made:
                    await self._made.wait()
                now = await rights()
                if not isinstance(now, Rights):
                    return
                if now != allowed:
                    allowed, channel = now, self.channel(now)
                    seq = channel.seq
                    yield channel.whole()
                elif line := channel.since(seq):
                    seq = channel.seq
                    yield line
                elif _now() < said + ALIVE_S:
                    continue
                else:
                    yield _line({"seq": seq})
                said = _now()
        finally:
            self.followers -= 1


def _now() -> float:
    return asyncio.get_running_loop().time()


def _line(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
