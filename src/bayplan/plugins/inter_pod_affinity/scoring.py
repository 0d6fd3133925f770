"""
InterPodAffinity at PreScore and Score: what it is worth to be beside the pods of each domain.

``plugin`` calls ``weigh`` once per cycle, then ``score`` (all nodes) or ``score_node`` (one).  Preferences
count in both directions: those of the pod for pods on nodes, and those of pods on nodes for the pod.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np

from bayplan.framework import Key, NodeTable, NodeView, Scores, TermKind
from bayplan.objects.pod import Pod
from bayplan.plugins.inter_pod_affinity.domains import Domains, SoughtPods

Preferred: TypeAlias = tuple[tuple[int, SoughtPods], ...]
"""The preferred terms of a pod with their weights, negative for pods to stay away from."""

STATE: Key[Domains] = Key("PreScoreInterPodAffinity")


def weigh(pod: Pod, preferred: Preferred, hard_weight: int, nodes: NodeTable) -> Domains | None:
    """Weights per domain; ``None`` if no pod on any domain is preferred or prefers."""
    worth = Domains()
    touched = False
    for weight, sought in preferred:
        touched |= worth.add(nodes, sought.topology_key, nodes.matching_pods(sought.matcher), weight)
    if hard_weight > 0:
        for term in nodes.terms(TermKind.REQUIRED_AFFINITY, pod):
            touched |= worth.add(nodes, term.topology_key, term.counts, hard_weight)
    for term in nodes.terms(TermKind.PREFERRED_AFFINITY, pod):
        touched |= worth.add(nodes, term.topology_key, term.counts, term.weight)
    for term in nodes.terms(TermKind.PREFERRED_ANTI_AFFINITY, pod):
        touched |= worth.add(nodes, term.topology_key, term.counts, -term.weight)
    return worth if touched else None


def score_node(worth: Domains, node: NodeView) -> int:
    """One node: the sum over its domains."""
    return sum(worth.of(key, node) for key, _ in worth)


def score(worth: Domains, nodes: NodeTable) -> Scores:
    """All nodes."""
    scores = np.zeros(len(nodes), np.int64)
    for key, weights in worth:
        scores += weights.take(nodes.label(key).ids)
    return scores
