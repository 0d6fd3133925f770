"""
PodTopologySpread at PreFilter and Filter: pods per domain for each DoNotSchedule constraint.

``plugin`` calls ``count`` once per cycle, ``fits`` for one node and ``codes`` for all of them.  Only counts
per domain are kept, so both forms also judge imagined nodes, and ``move`` follows imagined pods.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bayplan.framework import Code, Codes, Key, NodeTable, NodeView, Reason
from bayplan.objects.pod import Pod
from bayplan.plugins.pod_topology_spread import domain_counts
from bayplan.plugins.pod_topology_spread.domain_counts import Asked, Constraints, Layouts, PerDomain

MISSING_LABEL = Reason(
    Code.UNRESOLVABLE, "node(s) didn't match pod topology spread constraints (missing required label)"
)
SKEWED = Reason(Code.UNSCHEDULABLE, "node(s) didn't match pod topology spread constraints")
REASONS = (MISSING_LABEL, SKEWED)

MISSING_LABEL_CODE = 1
SKEWED_CODE = 2

# What kube-scheduler takes for the least of no domains at all, when minDomains lets that happen.
LEAST_OF_NONE = 2**31 - 1


class DomainCounts:
    """One constraint: how many pods its selector matches in each domain, and in the emptiest one."""

    __slots__ = ("_least", "constraint", "counts", "domains", "exists", "matches_itself")

    def __init__(self, asked: Asked, counts: PerDomain) -> None:
        self.constraint = asked.constraint
        self.matches_itself = int(asked.matches_itself)
        self.counts = counts
        self.exists = asked.layout.exists
        self.domains = asked.layout.size
        self._least: int | None = None

    @property
    def least(self) -> int:
        """The global minimum; 0 while there are fewer domains than the constraint wants."""
        if self._least is None:
            if self.domains < self.constraint.min_domains:
                self._least = 0
            elif self.domains == len(self.counts) - 1:
                self._least = int(self.counts[:-1].min(initial=LEAST_OF_NONE))
            else:
                self._least = int(self.counts[self.exists].min(initial=LEAST_OF_NONE))
        return self._least

    @property
    def most(self) -> int:
        """A domain may hold this many pods and still take one more."""
        return self.constraint.max_skew + self.least - self.matches_itself

    def move(self, domain: int, by: int) -> None:
        self.counts[domain] += by
        self._least = None

    def clone(self) -> DomainCounts:
        copy = DomainCounts.__new__(DomainCounts)
        copy.constraint = self.constraint
        copy.matches_itself = self.matches_itself
        copy.counts = self.counts.copy()
        copy.exists = self.exists
        copy.domains = self.domains
        copy._least = self._least
        return copy


class HardSpread:
    """What PreFilter found, one entry per constraint in the order they were written."""

    __slots__ = ("constraints",)

    def __init__(self, constraints: Sequence[DomainCounts]) -> None:
        self.constraints = constraints

    def clone(self) -> HardSpread:
        return HardSpread([each.clone() for each in self.constraints])


STATE: Key[HardSpread] = Key("PreFilterPodTopologySpread")


def count(pod: Pod, constraints: Constraints, nodes: NodeTable, layouts: Layouts) -> HardSpread:
    """Pods per domain over the nodes that have every topology key and that the constraint includes."""
    return HardSpread(
        [DomainCounts(each, each.sums(nodes)) for each in layouts.asked(nodes, pod, constraints, constraints)]
    )


def move(spread: HardSpread, pod: Pod, other: Pod, node: NodeView, by: int) -> None:
    """Follow a pod that is imagined on a node, or gone from it.

    kube-scheduler does not ask here whether the pod is terminating, nor whether the selector is empty.
    """
    if other.namespace != pod.namespace:
        return
    if not domain_counts.has_every_key(node.labels, [each.constraint for each in spread.constraints]):
        return
    for each in spread.constraints:
        constraint = each.constraint
        if constraint.selector.matches(other.labels) and domain_counts.is_included(constraint, pod, node):
            each.move(node.label_id(constraint.topology_key), by)


def fits(spread: HardSpread, node: NodeView) -> Reason | None:
    """One node: the first constraint that it breaks."""
    for each in spread.constraints:
        domain = node.label_id(each.constraint.topology_key)
        if domain < 0:
            return MISSING_LABEL
        if each.counts[domain] > each.most:
            return SKEWED
    return None


def codes(spread: HardSpread, nodes: NodeTable) -> Codes:
    """All nodes: each domain is judged once, then every node reads its domain's answer."""
    found: Codes | None = None
    for each in spread.constraints:
        verdicts = np.multiply(each.counts > each.most, np.uint8(SKEWED_CODE))
        verdicts[-1] = MISSING_LABEL_CODE
        answers = verdicts.take(nodes.label(each.constraint.topology_key).ids)
        found = answers if found is None else np.where(found, found, answers)
    return found if found is not None else np.zeros(len(nodes), np.uint8)
