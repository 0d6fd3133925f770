"""When to try again what keeps failing: later each time, for every object by itself. `app.placement.live` has one."""

from __future__ import annotations

from bayplan.backoff import Backoff

FIRST_S = 0.5
LONGEST_S = 60.0


class KeyBackoff:
    """What failed, how often, and when its turn is again. Times are whatever clock the caller uses."""

    def __init__(self, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> None:
        self._first_s, self._longest_s = first_s, longest_s
        self._failing: dict[str, Backoff] = {}
        self._due_at: dict[str, float] = {}

    def failed(self, key: str, now: float, at_least_s: float = 0.0) -> float:
        """It failed, once more; how long it has to wait."""
        backoff = self._failing.setdefault(key, Backoff(self._first_s, self._longest_s))
        wait = max(backoff.failed(), at_least_s)
        self._due_at[key] = now + wait
        return wait

    def forget(self, key: str) -> None:
        """It went well, or it is gone, or it is another one now."""
        self._failing.pop(key, None)
        self._due_at.pop(key, None)

    def is_waiting(self, key: str, now: float) -> bool:
        return self._due_at.get(key, now) > now

    def due(self, now: float) -> set[str]:
        """Those whose turn it is; they count as failing until they are forgotten."""
        found = {key for key, at in self._due_at.items() if at <= now}
        for key in found:
            del self._due_at[key]
        return found

    @property
    def next_at(self) -> float:
        return min(self._due_at.values(), default=float("inf"))

    def __len__(self) -> int:
        return len(self._failing)
