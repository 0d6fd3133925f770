"""
Which nodes take part in a spread constraint, and how many pods each of its domains holds.

Both halves of the plugin, ``filtering`` and ``scoring``, count with these functions.  A domain is one value
of the constraint's topology key; arrays over domains have the layout of ``LabelColumn.zeros()``.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.bounded_cache import BoundedCache
from bayplan.framework import LabelColumn, Mask, NodeTable, NodeView, PodMatcher, Rows
from bayplan.framework.summing import Ids
from bayplan.objects.affinity import SpreadConstraint
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate
from bayplan.objects.toleration import DO_NOT_SCHEDULE, untolerated

Constraints: TypeAlias = tuple[SpreadConstraint, ...]

PerDomain: TypeAlias = "npt.NDArray[np.int64]"
"""One number per value of a label, and a last one for nodes that lack it."""

# Bounds memory when every pod asks about other nodes; a template needs one entry per constraint.
MAX_LAYOUTS = 256

# -- one node --


def has_every_key(labels: Mapping[str, str], constraints: Sequence[SpreadConstraint]) -> bool:
    """Does a node belong to a domain of each constraint?"""
    return all(constraint.topology_key in labels for constraint in constraints)


def is_included(constraint: SpreadConstraint, pod: Pod, node: NodeView) -> bool:
    """Does the constraint count this node, by its policies on node affinity and taints?"""
    if constraint.honor_affinity:
        required = pod.required_node_affinity
        if required is not None and not required.matches(node.name, node.labels):
            return False
    return not constraint.honor_taints or untolerated(pod.tolerations, node.taints) is None


def pods_on(node: NodeView, constraint: SpreadConstraint, namespace: str) -> int:
    """The pods on one node that the constraint spreads."""
    if constraint.selector.is_empty:  # kube-scheduler counts nothing for `{}`, though it matches everything
        return 0
    return sum(
        1
        for pod in node.pods
        if pod.namespace == namespace and not pod.is_terminating and constraint.selector.matches(pod.labels)
    )


# -- all nodes --


def with_every_key(nodes: NodeTable, constraints: Sequence[SpreadConstraint]) -> Mask | None:
    """The nodes that belong to a domain of each constraint; ``None`` when that is all of them."""
    complete: Mask | None = None
    for key in dict.fromkeys(constraint.topology_key for constraint in constraints):
        has_key = nodes.label(key).ids >= 0
        if not has_key.all():
            complete = has_key if complete is None else complete & has_key
    return complete


def included(constraint: SpreadConstraint, pod: Pod, nodes: NodeTable, among: Mask | None) -> Mask | None:
    """The nodes of ``among`` that the constraint counts by its policies; ``None`` stands for all nodes."""
    mask = among
    if constraint.honor_affinity and pod.required_node_affinity is not None:
        matching = nodes.matching(pod.required_node_affinity)
        mask = matching if mask is None else mask & matching
    if constraint.honor_taints:
        tolerating = nodes.tolerating(pod.tolerations, DO_NOT_SCHEDULE)
        mask = tolerating if mask is None else mask & tolerating
    return mask


def matcher_of(constraint: SpreadConstraint, namespace: str) -> PodMatcher | None:
    """The pods that a constraint of a pod in this namespace spreads; ``None`` if there are none, see ``pods_on``."""
    selector = constraint.selector
    return None if selector.is_empty or selector.nothing else PodMatcher(frozenset((namespace,)), selector)


def pods_on_each(nodes: NodeTable, matcher: PodMatcher | None) -> npt.NDArray[np.int32]:
    """The pods on every node that a constraint spreads, from the table's kept counts."""
    if matcher is None:
        return np.zeros(len(nodes), np.int32)
    return nodes.matching_pods(matcher, skip_terminating=True)


class Layout(NamedTuple):
    """Which domain each node counts in, for one constraint of one kind of pod."""

    domains: npt.NDArray[np.intp]
    """Per node an index into arrays over domains; nodes that do not count have the last one."""
    exists: Mask
    """Per domain whether any node counts in it."""
    size: int
    """How many domains do."""


class Asked(NamedTuple):
    """A constraint with all about it that is the same for every pod of a template."""

    constraint: SpreadConstraint
    layout: Layout
    matcher: PodMatcher | None
    matches_itself: bool

    def sums(self, nodes: NodeTable) -> PerDomain:
        """The pods that it spreads, per domain."""
        layout = self.layout
        return nodes.summed(pods_on_each(nodes, self.matcher), layout.domains, len(layout.exists))


class Layouts:
    """What was asked before that depends on node objects only, so that pods of one template share it."""

    def __init__(self) -> None:
        self._nodes: NodeTable | None = None
        self._generation = -1
        self._known: BoundedCache[Hashable, Layout] = BoundedCache(MAX_LAYOUTS)
        self._complete: BoundedCache[Hashable, Mask | None] = BoundedCache(MAX_LAYOUTS)
        self._sizes: dict[str, int] = {}
        self._asked: BoundedCache[PodTemplate, tuple[Constraints, Constraints, tuple[Asked, ...]]] = BoundedCache(
            MAX_LAYOUTS
        )

    def asked(self, nodes: NodeTable, pod: Pod, constraints: Constraints, among: Constraints) -> tuple[Asked, ...]:
        """What a pod's constraints ask of the nodes that have the keys of all constraints in ``among``."""
        self._forget_if_changed(nodes)
        known = self._asked.get(pod.template)
        if known is None or known[0] != constraints or known[1] != among:
            asked = tuple(
                Asked(
                    each,
                    self._of(nodes, each, pod, among),
                    matcher_of(each, pod.namespace),
                    each.selector.matches(pod.labels),
                )
                for each in constraints
            )
            known = self._asked[pod.template] = constraints, among, asked
        return known[2]

    def _of(self, nodes: NodeTable, constraint: SpreadConstraint, pod: Pod, among: Constraints) -> Layout:
        key = (
            constraint.topology_key,
            frozenset(each.topology_key for each in among),
            pod.required_node_affinity if constraint.honor_affinity else None,
            pod.tolerations if constraint.honor_taints else None,
        )
        known = self._known.get(key)
        if known is None:
            column = nodes.label(constraint.topology_key)
            mask = included(constraint, pod, nodes, with_every_key(nodes, among))
            known = self._known[key] = _laid_out(column, mask)
        return known

    def with_every_key(self, nodes: NodeTable, constraints: Constraints) -> Mask | None:
        """The nodes that belong to a domain of each constraint; ``None`` when that is all of them."""
        self._forget_if_changed(nodes)
        keys = tuple(constraint.topology_key for constraint in constraints)
        if keys not in self._complete:
            self._complete[keys] = with_every_key(nodes, constraints)
        return self._complete[keys]

    def domains(self, nodes: NodeTable, topology_key: str, among: Rows) -> int:
        """How many domains some nodes are in; all that lack the label are in one."""
        self._forget_if_changed(nodes)
        ids = nodes.label(topology_key).ids
        if len(among) < len(ids):
            return distinct(ids.take(among))
        known = self._sizes.get(topology_key)
        if known is None:
            known = self._sizes[topology_key] = distinct(ids)
        return known

    def _forget_if_changed(self, nodes: NodeTable) -> None:
        if self._nodes is not nodes or self._generation != nodes.objects_generation:
            self._known.clear()
            self._complete.clear()
            self._sizes.clear()
            self._asked.clear()
            self._nodes, self._generation = nodes, nodes.objects_generation


def distinct(ids: Ids) -> int:
    """How many different numbers there are, -1 being one of them."""
    return int(np.count_nonzero(np.bincount(ids + 1)))


def _laid_out(column: LabelColumn, mask: Mask | None) -> Layout:
    spare = len(column.values)
    counts = column.ids >= 0 if mask is None else mask & (column.ids >= 0)
    domains = np.where(counts, column.ids, spare).astype(np.intp)
    domains.flags.writeable = False
    exists: Mask = np.bincount(domains, minlength=spare + 1) > 0
    exists[-1] = False
    return Layout(domains, exists, int(np.count_nonzero(exists)))
