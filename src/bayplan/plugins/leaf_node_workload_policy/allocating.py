"""
LeafNodeWorkloadPolicy at work on one pod: pods per domain, which domains are full, and what each is worth.

``plugin`` makes an ``Allocation`` in PreFilter.  Numbers are kept per domain, in the layout of ``LabelColumn.zeros()``,
so both forms judge real and imagined nodes alike, and imagined pods move a count by one.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from bayplan.framework import (
    MAX_SCORE,
    Codes,
    Key,
    LabelColumn,
    Mask,
    NodeTable,
    NodeView,
    PodMatcher,
    Rows,
    Scores,
    Status,
    Verdicts,
    unresolvable,
    unschedulable,
)
from bayplan.objects.pod import Pod
from bayplan.objects.selector import Selector
from bayplan.plugins.leaf_node_workload_policy.apportioning import desired
from bayplan.plugins.leaf_node_workload_policy.reading import PolicyReader, Rules

PerDomain = npt.NDArray[np.int64]

UNLISTED = -1
"""The desired number of a domain that the policy does not list."""

# More domains than this are not named one by one: a pod's message must stay readable.
MAX_NAMED = 32

# Domains that have what they shall have score below this, all others from here up.
FIRST_UNFILLED = 10

# How far behind full domains come those that are not listed, and those that shall have no pods at all.
_UNLISTED_ORDER, _UNWANTED_ORDER = 1e300, 2e300


class Allocation:
    """What a policy means for one pod in the cluster as it is."""

    __slots__ = ("counts", "desired", "names_domains", "rest", "rules", "selector", "values")

    def __init__(
        self, rules: Rules, selector: Selector, column: LabelColumn, counts: PerDomain, numbers: Sequence[int]
    ) -> None:
        self.rules = rules
        self.selector = selector
        self.values = column.values
        self.counts = counts
        self.desired: PerDomain = np.full(len(counts), UNLISTED, np.int64)
        self.rest = UNLISTED
        """The domain that takes the remainder: it has no limit.  -1 if there is none, or no node is in it."""
        for domain, number in zip(rules.domains, numbers, strict=True):
            at = column.id_of.get(domain.name or "")
            if at is not None:
                self.desired[at] = number
                self.rest = at if domain.remainder else self.rest
        listed = len(rules.domains)
        self.names_domains = listed <= MAX_NAMED and len(column.values) <= MAX_NAMED + listed

    def clone(self) -> Allocation:
        copy: Allocation = Allocation.__new__(Allocation)
        for name in Allocation.__slots__:
            setattr(copy, name, getattr(self, name))
        copy.counts = self.counts.copy()
        return copy

    def move(self, pod: Pod, other: Pod, node: NodeView, by: int) -> None:
        """Follow a pod that is imagined on a node, or gone from it.  Terminating pods were not counted."""
        if other.namespace == pod.namespace and not other.is_terminating and self.selector.matches(other.labels):
            domain = node.label_id(self.rules.topology_key)
            if domain >= 0:
                self.counts[domain] += by

    # -- filtering --

    def verdict(self, node: NodeView) -> Status | None:
        """One node: why the policy has no room for the pod there."""
        domain = node.label_id(self.rules.topology_key)
        if domain < 0:
            return None if self.rules.allows_unlisted else self._lacking()
        if self.desired[domain] == UNLISTED:
            return None if self.rules.allows_unlisted else self._unlisted(domain)
        if not self.rules.is_required or domain == self.rest or self.counts[domain] < self.desired[domain]:
            return None
        return self._full(domain)

    def verdicts(self, nodes: NodeTable) -> Verdicts:
        """All nodes: each domain is judged once, then every node reads its domain's answer."""
        codes = np.zeros(len(self.counts), np.uint16)
        statuses: list[Status] = []
        if not self.rules.allows_unlisted:
            codes[-1] = 1
            statuses.append(self._lacking())
            self._mark(codes[:-1], self.desired[:-1] == UNLISTED, statuses, self._unlisted)
        if self.rules.is_required:
            full = (self.desired != UNLISTED) & (self.counts >= self.desired)
            if self.rest != UNLISTED:
                full[self.rest] = False
            self._mark(codes, full, statuses, self._full)
        found: Codes = codes[nodes.label(self.rules.topology_key).ids]
        return Verdicts(found, tuple(statuses))

    def _mark(self, codes: Codes, where: Mask, statuses: list[Status], say: object) -> None:
        """Give domains the code of a status each, or all of them the same one."""
        assert callable(say)
        domains = np.flatnonzero(where)
        for domain in domains.tolist() if self.names_domains else domains[:1].tolist():
            statuses.append(say(domain))
            codes[domain] = len(statuses)
        if not self.names_domains and len(domains):
            codes[domains] = len(statuses)

    def _lacking(self) -> Status:
        return unresolvable(f"node(s) lacked label {self.rules.topology_key} of WorkloadPolicy {self.rules.name}")

    def _unlisted(self, domain: int) -> Status:
        return unresolvable(f"node(s) {self._in(domain)} were not listed by WorkloadPolicy {self.rules.name}")

    def _full(self, domain: int) -> Status:
        has = f"{self.counts[domain]}/{self.desired[domain]}" if self.names_domains else "all their"
        return unschedulable(f"node(s) {self._in(domain)} had {has} pods of WorkloadPolicy {self.rules.name}")

    def _in(self, domain: int) -> str:
        key = self.rules.topology_key
        return f"in {key}={self.values[domain]}" if self.names_domains else f"in domains of {key}"

    # -- scoring --

    def score(self, node: NodeView) -> int:
        """One node: how much its domain is worth by the policy's method."""
        domain = node.label_id(self.rules.topology_key)
        count, wanted = int(self.counts[domain]), int(self.desired[domain])
        if count >= wanted:
            return 0
        return MAX_SCORE * (count if self.rules.fills else wanted - count) // wanted

    def scores(self, nodes: NodeTable) -> Scores:
        """All nodes."""
        missing = np.maximum(self.desired - self.counts, 0)
        share = np.where(missing > 0, self.counts, 0) if self.rules.fills else missing
        points: PerDomain = MAX_SCORE * share // np.maximum(self.desired, 1)
        answer: Scores = points[nodes.label(self.rules.topology_key).ids]
        return answer

    def tiered(self, scores: Scores, nodes: NodeTable, feasible: Rows) -> Scores:
        """
        Scores in which every domain that lacks pods stands before every one that does not.

        Those that do not are in the order of their overflow, the smallest ``(count + 1) / desired`` first; then come
        nodes of no listed domain, and last the domains that shall have no pods.
        """
        domains = nodes.label(self.rules.topology_key).ids[feasible]
        lacks_pods: Mask = (self.counts < self.desired)[domains]
        if lacks_pods.all():
            return scores
        order = np.where(self.desired > 0, (self.counts + 1) / np.maximum(self.desired, 1), _UNWANTED_ORDER)
        order[self.desired == UNLISTED] = _UNLISTED_ORDER
        if self.rest != UNLISTED:
            order[self.rest] = 0.0
        _, ranks = np.unique(order[domains[~lacks_pods]], return_inverse=True)
        tiered: Scores = FIRST_UNFILLED + scores * (MAX_SCORE - FIRST_UNFILLED) // MAX_SCORE
        tiered[~lacks_pods] = np.maximum(FIRST_UNFILLED - 1 - ranks, 0)
        return tiered


STATE: Key[Allocation] = Key("LeafNodeWorkloadPolicy")


def allocate(rules: Rules, pod: Pod, nodes: NodeTable, reader: PolicyReader) -> Allocation:
    """Count the pods of the policy in each domain, from the table's kept counts."""
    selector = rules.selector_for(pod)
    column = nodes.label(rules.topology_key)
    on_each = nodes.matching_pods(PodMatcher(frozenset((pod.namespace,)), selector), skip_terminating=True)
    counts: PerDomain = nodes.summed(on_each, column.ids, len(column.values) + 1).copy()
    total = 0
    if rules.is_proportional:
        # With pods that no known workload asks for, the total is what is there and this one.
        total = max(reader.wanted(pod.namespace, selector), int(on_each.sum()) + 1)
    return Allocation(rules, selector, column, counts, desired(rules.domains, total))
