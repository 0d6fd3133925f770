"""How long to wait before trying again what failed: twice as long each time, up to a limit.

Everything that tries again asks here: the queue, the API writer, informers, events, and the controllers' own retries.
"""

from __future__ import annotations

# 2 ** 60 seconds exceeds any limit a person could set, and keeps the power within what a float can hold.
_MAX_DOUBLINGS = 60


def backoff_s(failures: int, first_s: float, longest_s: float = float("inf")) -> float:
    """The wait after so many failures in a row; none after none."""
    if failures <= 0:
        return 0.0
    return min(first_s * 2.0 ** min(failures - 1, _MAX_DOUBLINGS), longest_s)


class Backoff:
    """The waits of one thing that is tried again and again."""

    __slots__ = ("failures", "_first_s", "_longest_s")

    def __init__(self, first_s: float, longest_s: float = float("inf")) -> None:
        self.failures = 0
        """In a row, up to now."""
        self._first_s = first_s
        self._longest_s = longest_s

    def failed(self) -> float:
        """It failed, once more; how long to wait now."""
        self.failures += 1
        return backoff_s(self.failures, self._first_s, self._longest_s)

    def succeeded(self) -> None:
        """It went well: the next failure is a first one."""
        self.failures = 0
