"""How many pods are bound a second, over the last few seconds.  ``app.top.live`` counts with it."""

from __future__ import annotations

from collections import deque

WINDOW_S = 10.0


class BindRate:
    """Times of binds, forgotten after the window."""

    def __init__(self, started_at: float) -> None:
        self._started_at = started_at
        self._times: deque[float] = deque()

    def note(self, at: float) -> None:
        self._times.append(at)

    def at(self, now: float) -> float:
        """Binds a second in the window before now, or since the start if that was later."""
        while self._times and self._times[0] <= now - WINDOW_S:
            self._times.popleft()
        span = min(WINDOW_S, now - self._started_at)
        return len(self._times) / max(span, 1.0)
