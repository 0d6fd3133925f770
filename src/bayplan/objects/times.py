"""Times as the API writes them (RFC 3339, in UTC), and as the rest of Bayplan has them: epoch seconds."""

from __future__ import annotations

from datetime import UTC, datetime
from functools import lru_cache

_OFFSET = "+00:00"


def format_time(at: float) -> str:
    """Whole seconds, as metadata and conditions carry them: ``2026-01-31T10:00:00Z``."""
    return _zulu(at, "seconds")


def format_micro_time(at: float) -> str:
    """With six digits of a second, as events and leases carry them: ``2026-01-31T10:00:00.000000Z``."""
    return _zulu(at, "microseconds")


def parse_time(text: str | None) -> float | None:
    """An RFC 3339 time as epoch seconds; nothing stays nothing."""
    return _epoch(text) if text else None


def _zulu(at: float, precision: str) -> str:
    return datetime.fromtimestamp(at, UTC).isoformat(timespec=precision).removesuffix(_OFFSET) + "Z"


@lru_cache(maxsize=4096)
def _epoch(text: str) -> float:
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None or "T" not in text.upper():
        raise ValueError(f'"{text}" is not a time; write it like 2026-01-31T10:00:00Z')
    return moment.timestamp()
