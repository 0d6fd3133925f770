"""
How large the ReplicaSets of a Deployment are while it rolls out: the rules of the deployment controller, as numbers.

``deployments`` says how many pods there are and how many are available, and scales what comes out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bayplan.objects.workload import DeploymentSpec
from bayplan.simulator.controllers.disruption_budgets import scaled

RECREATE, ON_DELETE = "Recreate", "OnDelete"
_QUARTER = "25%"


@dataclass(slots=True)
class Revision:
    """One ReplicaSet: how many pods it is to have, and how many of those it has can be counted on."""

    size: int
    available: int

    def resize(self, size: int) -> None:
        """Pods that are not available go first."""
        self.size, self.available = size, min(self.available, size)


def limits(spec: DeploymentSpec) -> tuple[int, int]:
    """``maxSurge`` and ``maxUnavailable`` in pods: one is rounded up, the other down, and both cannot be 0."""
    wanted = spec.replicas or 0
    if spec.strategy.type == RECREATE:
        return 0, 0
    rolling = spec.strategy.rolling_update
    most = rolling.max_surge if rolling is not None and rolling.max_surge is not None else _QUARTER
    fewest = rolling.max_unavailable if rolling is not None and rolling.max_unavailable is not None else _QUARTER
    surge, unavailable = scaled(most, wanted), scaled(fewest, wanted, up=False)
    if not surge and not unavailable:
        unavailable = 1
    return surge, min(unavailable, wanted)


def roll(spec: DeploymentSpec, new: Revision, old: Sequence[Revision]) -> None:
    """Bring the sizes as far as they can go while no pod comes or becomes available; the oldest come first."""
    if spec.strategy.type == RECREATE:
        for each in old:
            each.resize(0)
        new.resize(spec.replicas or 0)
        return
    while _grow(spec, new, old) or _shrink(spec, new, old):
        pass


def _grow(spec: DeploymentSpec, new: Revision, old: Sequence[Revision]) -> bool:
    wanted, surge = spec.replicas or 0, limits(spec)[0]
    if new.size > wanted:
        new.resize(wanted)
        return True
    there = new.size + sum(each.size for each in old)
    more = min(wanted + surge - there, wanted - new.size)
    if more <= 0:
        return False
    new.resize(new.size + more)
    return True


def _shrink(spec: DeploymentSpec, new: Revision, old: Sequence[Revision]) -> bool:
    needed = (spec.replicas or 0) - limits(spec)[1]
    there = new.size + sum(each.size for each in old)
    most = there - needed - (new.size - new.available)
    before = sum(each.size for each in old)
    if most <= 0:
        return False
    for each in old:
        few = min(most, each.size - each.available)
        each.resize(each.size - few)
        most -= few
    spare = new.available + sum(each.available for each in old) - needed
    for each in old:
        few = max(0, min(spare, each.size))
        each.resize(each.size - few)
        spare -= few
    return sum(each.size for each in old) < before


def rescale(spec: DeploymentSpec, most_before: int, revisions: Sequence[Revision], new: Revision | None) -> None:
    """
    The Deployment has another size: a lone ReplicaSet takes it, several share it as they shared the old one.

    Args:
        most_before: how many pods there could be at most until now.
        revisions: the oldest first.
    """
    wanted = spec.replicas or 0
    active = [each for each in revisions if each.size]
    if len(active) <= 1:
        target = active[0] if active else new or revisions[-1]
        target.resize(wanted)
        return
    if spec.strategy.type == RECREATE:
        return
    most = wanted + limits(spec)[0] if wanted else 0
    change = most - sum(each.size for each in active)
    # The largest first; of equal ones the newer gets more, and the older loses more.
    ranked = sorted(active[::-1] if change > 0 else active, key=lambda each: -each.size)
    left = change
    shares = []
    for each in ranked:
        fair = int(each.size * most / most_before + 0.5) - each.size if wanted and most_before else -each.size
        share = min(fair, left) if change > 0 else max(fair, left)
        shares.append(share)
        left -= share
    shares[0] += left
    for each, share in zip(ranked, shares, strict=True):
        each.resize(max(0, each.size + share))
