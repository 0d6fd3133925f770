"""What a pod's deletion cost is: ReplicaSets that shrink delete the pods of the lowest cost first."""

from __future__ import annotations

import re

from bayplan.objects.pod import Pod

DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"

_COST = re.compile(r"0|[1-9][0-9]*|-[0-9]+", re.ASCII)
_INT32 = range(-(2**31), 2**31)


def deletion_cost(pod: Pod) -> int:
    """As kube-controller-manager reads it: a pod without one, and one with something else than a number, has 0."""
    text = pod.annotations.get(DELETION_COST, "")
    cost = int(text) if len(text) <= len(str(_INT32[0])) and _COST.fullmatch(text) else 0
    return cost if cost in _INT32 else 0
