"""
How many binds may be under way at once: as many as the API server takes without growing slow.

More do no harm while they are answered quickly, since API server and etcd write several at a time.  When the server
says "too many", or takes far longer than it usually does, there are half as many from then on, and one more for every
round of answers that come in time.  ``kube.writer`` keeps one ``Pace`` for all its binds.
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
# So many answers are "of late".
WINDOW = 1000


class Pace:
    """Turns, handed out in order; ``limit`` moves with the answers."""

    def __init__(self, most: int, clock: Callable[[], float] = time.monotonic) -> None:
        self.limit = float(most)
        self._most = most
        self._clock = clock
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._slowed_at = float("-inf")
        self._quickest = self._quickest_before = float("inf")
        self._answers = 0

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
        usual = min(self._quickest, self._quickest_before)
        if took > SLOW_S and took > SLOW_TIMES * usual:
            self.refused(began)
        elif self.limit < self._most:
            self.limit = min(self._most, self.limit + 1 / self.limit)

    def refused(self, began: float) -> None:
        """Too many at once; those that were sent together with it say nothing new."""
        if began >= self._slowed_at:
            self._slowed_at = self._clock()
            self.limit = max(float(FEWEST), self.limit / 2)

    def _note(self, took: float) -> None:
        self._quickest = min(self._quickest, took)
        self._answers += 1
        if self._answers >= WINDOW:
            self._quickest, self._quickest_before, self._answers = float("inf"), self._quickest, 0

    async def _queue(self) -> None:
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(waiter)
        try:
            await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled():
                self.ended()  # it was given a turn it will not take
            else:
                self._waiting.remove(waiter)
            raise

    def _wake(self) -> None:
        while self._waiting and self._under_way < int(self.limit):
            waiter = self._waiting.popleft()
            if not waiter.done():
                self._under_way += 1
                waiter.set_result(None)
