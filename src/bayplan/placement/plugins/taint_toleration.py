"""TaintToleration: clusters whose taints the placement puts up with.

`NoSelect` keeps a cluster out, `NoSelectIfNew` only one that is not chosen yet, and `PreferNoSelect` keeps none out:
such a cluster is taken after all others, whatever its score (`avoided`). A toleration with `tolerationSeconds` holds
that long from the time the taint was added; the placement is looked at again when it ends. Reads: taints.
"""

from __future__ import annotations

import numpy as np

from bayplan.objects.third_party.placement import NO_SELECT_IF_NEW, PREFER_NO_SELECT
from bayplan.objects.toleration import Taint, Toleration, tolerates
from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.plugin import PASSED, ClusterFilter, Moment, Verdict
from bayplan.placement.table import FOREVER, Mask, time_of


class TaintToleration(ClusterFilter):
    """Keeps clusters whose taints the placement tolerates."""

    name = "TaintToleration"

    def filter(self, plan: Plan, fleet: Fleet, mask: Mask, moment: Moment) -> Mask:
        passed = mask
        for row, verdict in self.judged(plan, fleet, mask, moment.now):
            if not verdict.passes and not (verdict.passes_if_chosen and moment.incumbents[row]):
                passed = passed.copy() if passed is mask else passed
                passed[row] = False
        return passed

    def filter_row(self, plan: Plan, fleet: Fleet, row: int, now: float) -> Verdict:
        taint_id = int(fleet.table.taint_ids[row])
        return judge(plan.tolerations, fleet.table.taints[taint_id], now) if taint_id else PASSED

    def judged(self, plan: Plan, fleet: Fleet, mask: Mask, now: float) -> list[tuple[int, Verdict]]:
        """The clusters of `mask` with taints, and what these mean."""
        table = fleet.table
        tainted = np.flatnonzero(mask & (table.taint_ids != 0))
        verdicts: dict[int, Verdict] = {}
        for taint_id in table.taint_ids[tainted].tolist():
            if taint_id not in verdicts:
                verdicts[taint_id] = judge(plan.tolerations, table.taints[taint_id], now)
        return [(row, verdicts[int(table.taint_ids[row])]) for row in tainted.tolist()]


def judge(tolerations: tuple[Toleration, ...], taints: tuple[Taint, ...], now: float) -> Verdict:
    """The verdict on all taints of a cluster."""
    passes = passes_if_chosen = True
    is_avoided, until = False, FOREVER
    for taint in taints:
        end = _tolerated_until(tolerations, taint, now)
        if end is not None:
            until = min(until, end)
        elif taint.effect == PREFER_NO_SELECT:
            is_avoided = True
        elif taint.effect == NO_SELECT_IF_NEW:
            passes = False
        else:
            passes = passes_if_chosen = False
    return Verdict(passes, passes_if_chosen, is_avoided, until)


def _tolerated_until(tolerations: tuple[Toleration, ...], taint: Taint, now: float) -> float | None:
    """Until when the taint is tolerated, None if it is not, or no longer."""
    ends = []
    for each in tolerations:
        if not tolerates(each, taint):
            continue
        if each.toleration_seconds is None:
            return FOREVER
        ends.append((time_of(taint.time_added) or 0.0) + each.toleration_seconds)
    return max((end for end in ends if now < end), default=None)
