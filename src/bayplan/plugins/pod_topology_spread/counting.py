"""
Which nodes take part in a spread constraint, and how many pods each of its domains holds.

Both halves of the plugin, ``filtering`` and ``scoring``, count with these functions.  A domain is one value
of the constraint's topology key; arrays over domains have the layout of ``LabelColumn.zeros()``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from bayplan.framework import LabelColumn, Mask, NodeTable, NodeView, PodMatcher
from bayplan.objects.affinity import SpreadConstraint
from bayplan.objects.pod import Pod
from bayplan.objects.toleration import DO_NOT_SCHEDULE, untolerated

PerDomain: TypeAlias = "npt.NDArray[np.int64]"
"""One number per value of a label, and a last one for nodes that lack it."""

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


def pods_on_each(nodes: NodeTable, constraint: SpreadConstraint, namespace: str) -> npt.NDArray[np.int32]:
    """The pods on every node that the constraint spreads, from the table's kept counts."""
    selector = constraint.selector
    if selector.is_empty or selector.nothing:  # see pods_on
        return np.zeros(len(nodes), np.int32)
    return nodes.matching_pods(PodMatcher(frozenset((namespace,)), selector), skip_terminating=True)


def domain_of(column: LabelColumn, mask: Mask | None) -> npt.NDArray[np.integer]:
    """Per node where it counts in an array over domains; nodes outside the mask count in the last slot."""
    spare = len(column.values)
    if mask is not None:
        return np.where(mask & (column.ids >= 0), column.ids, spare)
    if len(column.ids) and column.ids.min() < 0:
        return np.where(column.ids >= 0, column.ids, spare)
    return column.ids


def per_domain(
    column: LabelColumn, domains: npt.NDArray[np.integer], counts: npt.NDArray[np.int32]
) -> PerDomain:
    """Counts per node, added up over domains."""
    sums = np.bincount(domains, weights=counts, minlength=len(column.values) + 1)
    return sums.astype(np.int64)
