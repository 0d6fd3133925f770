"""
Views as they change, for those who follow them: made once for all who may see the same, at most one a second.

``app.ui.server`` has one ``Feed``.  A client takes lines at its own pace: one that is slow, or comes back, gets the
whole view instead of the changes that it missed, so that nothing piles up for it.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter, deque
from collections.abc import AsyncGenerator, Callable
from typing import Any, Protocol

import msgspec

from bayplan.app.ui.changes import Numbering, changes
from bayplan.app.ui.rights import Rights
from bayplan.bounded_cache import BoundedCache

PAUSE_S = 1.0
SHARE = 4
"""Making views may take one part in so many of a core: with a huge cluster they come less often."""
REST_S = 0.05
ALIVE_S = 15.0
KEPT = 10
"""Changes that are kept for those who are behind."""
MOST_CHANNELS = 20
"""Different rights whose last view is kept, beside those that somebody follows."""


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
        self.rights = rights
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
        document = source.view(self.rights)
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
        self._followed: Counter[Channel] = Counter()
        self._made = asyncio.Condition()
        self._due = 0.0

    @property
    def followers(self) -> int:
        """How many follow."""
        return self._followed.total()

    def channel(self, rights: Rights) -> Channel:
        """The channel of these rights, up to date within the pause."""
        found = next((each for each in self._followed if each.rights == rights), None) or self._channels.get(rights)
        if found is None:
            found = self._channels[rights] = Channel(self._source, rights)
            found.advance()
        elif _now() >= self._due:
            found.advance()
        return found

    async def run(self) -> None:
        """For ever: go on with the channels that somebody follows."""
        while True:
            started, spent = _now(), time.thread_time()
            if self.followers:
                async with self._made:
                    for channel in list(self._followed):
                        channel.advance()
                        await asyncio.sleep(0)
                    self._made.notify_all()
            self._due = started + max(self._pause_s, SHARE * (time.thread_time() - spent))
            await asyncio.sleep(max(REST_S, self._due - _now()))

    async def follow(self, rights: Callable[[], Any]) -> AsyncGenerator[bytes, None]:
        """
        Lines for one client, until its rights cannot be told any more.

        Args:
            rights: a coroutine function; asked again before every line, since rights can be taken away.
        """
        channel: Channel | None = None
        seq, said = 0, _now()
        try:
            while isinstance(allowed := await rights(), Rights):
                if channel is None or channel.rights != allowed:
                    self._leave(channel)
                    channel = self.channel(allowed)
                    self._followed[channel] += 1
                    line = channel.whole()
                else:
                    line = channel.since(seq) or (_line({"seq": seq}) if _now() >= said + ALIVE_S else b"")
                seq = channel.seq
                if line:
                    said = _now()
                    yield line
                async with self._made:
                    await self._made.wait()
        finally:
            self._leave(channel)

    def _leave(self, channel: Channel | None) -> None:
        if channel is not None:
            self._followed[channel] -= 1
            self._followed += Counter()  # those that nobody follows are dropped


def _now() -> float:
    return asyncio.get_running_loop().time()


def _line(message: dict[str, Any]) -> bytes:
    return msgspec.json.encode(message) + b"\n"
