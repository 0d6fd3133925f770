"""Predicate: clusters that any one of the placement's predicates selects, by labels, claims and expressions.

A placement without predicates takes all. Labels and claims are compared as columns; expressions are asked of the
clusters that are left. Reads: labels, claims, and for expressions the whole object and the scores of add-ons.
"""

from __future__ import annotations

import numpy as np

from bayplan.objects.requirement import DOES_NOT_EXIST, EXISTS, IN, Requirement
from bayplan.objects.selector import Selector
from bayplan.objects.third_party.placement import CLAIM, LABEL
from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan, Term
from bayplan.placement.plugin import DROPPED, PASSED, ClusterFilter, Moment, Verdict
from bayplan.placement.table import ABSENT, ClusterTable, Mask


class Predicate(ClusterFilter):
    """Keeps clusters that any one of the placement's predicates selects."""

    name = "Predicate"

    def filter(self, plan: Plan, fleet: Fleet, mask: Mask, moment: Moment) -> Mask:
        if not plan.terms:
            return mask
        passed = np.zeros(len(mask), np.bool_)
        for term in plan.terms:
            passed |= _select(term, fleet.table, mask & ~passed)
        return passed

    def filter_row(self, plan: Plan, fleet: Fleet, row: int, now: float) -> Verdict:
        passes = not plan.terms or any(selects_row(term, fleet.table, row) for term in plan.terms)
        return PASSED if passes else DROPPED


def selects_row(term: Term, table: ClusterTable, row: int) -> bool:
    """Whether a selector takes the cluster in this row."""
    cluster = table.clusters[row]
    if cluster is None or not term.labels.matches(cluster.labels) or not term.claims.matches(cluster.claims):
        return False
    return term.program is None or term.program.matches(cluster, table.score_items)


def _select(term: Term, table: ClusterTable, mask: Mask) -> Mask:
    taken = _match(table, LABEL, term.labels, mask)
    taken = _match(table, CLAIM, term.claims, taken)
    if term.program is not None:
        taken = taken.copy()
        for row in np.flatnonzero(taken).tolist():
            cluster = table.clusters[row]
            taken[row] = cluster is not None and term.program.matches(cluster, table.score_items)
    return taken


def _match(table: ClusterTable, kind: str, selector: Selector, mask: Mask) -> Mask:
    for condition in selector.requirements:
        mask = mask & _holds(table, kind, condition)
    return mask


def _holds(table: ClusterTable, kind: str, condition: Requirement) -> Mask:
    column = table.column((kind, condition.key))
    absent: Mask = column.ids == ABSENT
    if condition.op in (EXISTS, DOES_NOT_EXIST):
        return ~absent if condition.op == EXISTS else absent
    wanted = [found for found in map(column.find, condition.values) if found != ABSENT]
    if len(wanted) == 1:
        within: Mask = column.ids == wanted[0]
    else:
        within = np.isin(column.ids, wanted)
    return within if condition.op == IN else ~within
