"""Taints, tolerations, and whether one suits the other.

`pod` and `node` hold them; the TaintToleration, NodeUnschedulable and spread plugins ask the two questions.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bayplan.objects.meta import Wire

NO_SCHEDULE = "NoSchedule"
PREFER_NO_SCHEDULE = "PreferNoSchedule"
NO_EXECUTE = "NoExecute"
EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)

DO_NOT_SCHEDULE = frozenset((NO_SCHEDULE, NO_EXECUTE))
"""The effects that keep a pod off a node."""

EQUAL = "Equal"
EXISTS = "Exists"
OPERATORS = (EQUAL, EXISTS)

UNSCHEDULABLE_TAINT_KEY = "node.kubernetes.io/unschedulable"
NOT_READY_TAINT_KEY = "node.kubernetes.io/not-ready"
UNREACHABLE_TAINT_KEY = "node.kubernetes.io/unreachable"


class Taint(Wire, frozen=True, kw_only=True):
    """What a node holds against pods that do not tolerate it."""

    key: str = ""
    value: str = ""
    effect: str = ""
    time_added: str | None = None


class Toleration(Wire, frozen=True, kw_only=True):
    """What a pod puts up with. An empty key, operator or effect is wider, not narrower."""

    key: str = ""
    operator: str = ""
    value: str = ""
    effect: str = ""
    toleration_seconds: int | None = None


def tolerates(toleration: Toleration, taint: Taint) -> bool:
    """Whether this toleration covers this taint. `Lt` and `Gt` never do: their gate is off."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == EXISTS:
        return True
    return toleration.operator in ("", EQUAL) and toleration.value == taint.value


def untolerated(
    tolerations: Collection[Toleration], taints: Iterable[Taint], effects: Collection[str] = DO_NOT_SCHEDULE
) -> Taint | None:
    """The first taint with one of `effects` that no toleration covers, or None."""
    for taint in taints:
        if taint.effect in effects and not any(tolerates(toleration, taint) for toleration in tolerations):
            return taint
    return None
