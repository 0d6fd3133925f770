"""
What a policy allows to be done: its ``rebalance`` field with defaults filled in, and limits of the whole process.

``controller`` and ``protection`` read it; the guide to workload policies lists the defaults.
"""

from __future__ import annotations

from dataclasses import dataclass

from bayplan.objects.third_party.kosmos import OFF, REBALANCE_MODES, Rebalance, WorkloadPolicy

MAX_UNAVAILABLE = 1
INTERVAL_S = 10.0
STABILIZATION_S = 30.0
PROGRESS_DEADLINE_S = 600.0
MIN_POD_AGE_S = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class MoveLimits:
    """How many pods may be on the move at once, whatever policies say."""

    moving: int = 10
    per_namespace: int = 5
    per_domain: int = 5


@dataclass(frozen=True, slots=True)
class Terms:
    """One policy's own terms."""

    mode: str
    max_unavailable: int
    interval_s: float
    stabilization_s: float
    progress_deadline_s: float
    min_pod_age_s: float
    allows_single_replica: bool


def terms_of(policy: WorkloadPolicy, expected: int) -> Terms:
    """The terms of a policy for so many pods: a percentage is of them, and at least one pod."""
    written = policy.spec.rebalance or Rebalance()
    mode = written.mode if isinstance(written.mode, str) else OFF
    return Terms(
        mode=REBALANCE_MODES.get(mode.lower(), OFF),
        max_unavailable=_amount(written.max_unavailable, expected),
        interval_s=_seconds(written.interval_seconds, INTERVAL_S),
        stabilization_s=_seconds(written.stabilization_seconds, STABILIZATION_S),
        progress_deadline_s=_seconds(written.progress_deadline_seconds, PROGRESS_DEADLINE_S),
        min_pod_age_s=_seconds(written.min_pod_age_seconds, MIN_POD_AGE_S),
        allows_single_replica=written.allow_single_replica,
    )


def _seconds(written: int | None, default: float) -> float:
    return default if written is None else float(written)


def _amount(written: int | str | None, expected: int) -> int:
    if written is None:
        return MAX_UNAVAILABLE
    if isinstance(written, int):
        return written
    number = written.removesuffix("%")
    if not number.isdecimal():
        return 0  # a mistake that the condition Valid tells; nothing moves
    return max(1, expected * int(number) // 100) if int(number) else 0
