"""
How many binds may be under way at once: as many as the API server takes without growing slow.

More do no harm while they are answered quickly, since API server and etcd write several at a time.  When the server
says "too many", or takes far longer than it usually does, there are half as many from then on, and one more for every
round of answers that come in time.  ``kube.writer`` keeps one ``BindWindow`` for all its binds.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable

FEWEST = 2
# An answer counts as slow after this long, if the quickest of late took less than a sixteenth of it.
SLOW_S = 0.5
SLOW_TIMES = 16
# What came in these seconds, or in as many before them, is "of late".  By then there are as few binds as can be: a
# server that is slow all the same is not slow because of them, and holding them back would only delay pods.
WINDOW_S = 10.0


class BindWindow:
    """Turns, handed out in order; ``limit`` moves with the answers."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = float(most)
        self._most = most
        self._clock = clock
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._slowed_at = float("-inf")
        self._quickest = self._quickest_before = float("inf")
        self._window_ends_at = float("-inf")

    async def turn(self) -> float:
        """Wait for a turn; gives the time at which it began, for ``answered`` and ``refused``."""
        if self._waiting or self._under_way >= int(self.limit):
            await self._queue()
        else:
            self._under_way += 1
        return self._clock()

    def ended(self) -> None:
        """The turn is over, however it went."""
        self._under_way -= 1
        self._wake()

    def answered(self, began: float) -> None:
        """There was an answer; in time, there may soon be one bind more."""
        took = self._clock() - began
        self._note(took)
        if self._is_slow(took):
            self.refused(began)
        elif self.limit < self._most:
            self.limit = min(self._most, self.limit + 1 / self.limit)

    def unanswered(self, began: float) -> None:
        """There was no answer; after a long wait for it that says as much as a slow one."""
        if self._is_slow(self._clock() - began):
            self.refused(began)

    def refused(self, began: float) -> None:
        """Too many at once; those that were sent together with it say nothing new."""
        if began >= self._slowed_at:
            self._slowed_at = self._clock()
            self.limit = max(float(FEWEST), self.limit / 2)

    def _is_slow(self, took: float) -> bool:
        return took > SLOW_S and took > SLOW_TIMES * min(self._quickest, self._quickest_before)

    def _note(self, took: float) -> None:
        now = self._clock()
        if now >= self._window_ends_at:
            self._quickest, self._quickest_before = float("inf"), self._quickest
            self._window_ends_at = now + WINDOW_S
        self._quickest = min(self._quickest, took)

    async def _queue(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.ended()  # it was given a turn it will not take
            elif waiter in self._waiting:  # else a turn came by and passed it over
                self._waiting.remove(waiter)
            raise

    def _wake(self) -> None:
        while self._waiting and self._under_way < int(self.limit):
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._under_way += 1
                waiter.set_result(None)
