"""A bucket of tokens: so many writes a second, and a few more at once after a quiet time.

`controller` asks it before every patch, so that a large cluster does not flood the API server.
"""

from __future__ import annotations


class TokenBucket:
    """Times are those of one clock, whichever the caller has."""

    def __init__(self, qps: float, burst: int) -> None:
        self._qps = qps
        self._burst = float(burst)
        self._tokens = self._burst
        self._at = float("-inf")

    def wait_s(self, now: float) -> float:
        """How long until a write may go out; 0 if it may now."""
        self._refill(now)
        return 0.0 if self._tokens >= 1.0 else (1.0 - self._tokens) / self._qps

    def take(self, now: float) -> None:
        """A write goes out."""
        self._refill(now)
        self._tokens -= 1.0

    def pause(self, until: float) -> None:
        """The server wants to be left alone until then."""
        self._tokens = min(self._tokens, 0.0)
        self._at = max(self._at, until)

    def _refill(self, now: float) -> None:
        if now > self._at:
            if self._at != float("-inf"):
                self._tokens = min(self._burst, self._tokens + (now - self._at) * self._qps)
            self._at = now
