"""
InterPodAffinity at PreFilter and Filter: which domains hold pods that a pod needs, shuns, or is shunned by.

``plugin`` calls ``count`` once per cycle, ``fits`` for one node and ``codes`` for all of them.  Only sums per
domain are kept, so both forms also judge imagined nodes, and ``move`` follows imagined pods.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from bayplan.framework import Code, Codes, Key, NodeTable, NodeView, Reason, TermKind
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import PodTemplate
from bayplan.plugins.inter_pod_affinity.domains import Domains, SoughtPods

SHUNNED = Reason(Code.UNSCHEDULABLE, "node(s) didn't satisfy existing pods anti-affinity rules")
ANTI_AFFINITY = Reason(Code.UNSCHEDULABLE, "node(s) didn't match pod anti-affinity rules")
AFFINITY = Reason(Code.UNRESOLVABLE, "node(s) didn't match pod affinity rules")
REASONS = (SHUNNED, ANTI_AFFINITY, AFFINITY)

# In the order of REASONS.  Affinity is asked first and has the highest number, so that a maximum decides.
SHUNNED_CODE = 1
ANTI_AFFINITY_CODE = 2
AFFINITY_CODE = 3


class Required:
    """The required terms of a template's pods, and what follows from them."""

    __slots__ = ("affinity", "anti_affinity", "keys", "matchers", "matches_itself", "namespace_labels")

    def __init__(
        self,
        affinity: tuple[SoughtPods, ...],
        anti_affinity: tuple[SoughtPods, ...],
        namespace_labels: Mapping[str, str],
        template: PodTemplate,
    ) -> None:
        self.affinity = affinity
        self.anti_affinity = anti_affinity
        self.namespace_labels = namespace_labels
        """Of the pods' own namespace: terms of pods on nodes are asked about them."""
        self.matches_itself = matches_all(affinity, template)
        """A pod satisfies all its own affinity terms, so it may be the first of its kind."""
        self.matchers = tuple(dict.fromkeys(term.matcher for term in affinity))
        self.keys = tuple(dict.fromkeys(term.topology_key for term in affinity))
        """The topology keys of affinity terms."""

    @property
    def is_nothing(self) -> bool:
        return not self.affinity and not self.anti_affinity


@dataclass(slots=True)
class RequiredTerms:
    """What PreFilter found for a pod."""

    required: Required
    needed: Domains = field(default_factory=Domains)
    """Pods that satisfy *all* affinity terms, under each term's topology key."""
    shunned: Domains = field(default_factory=Domains)
    """Pods that the pod's anti-affinity terms select."""
    shunning: Domains = field(default_factory=Domains)
    """Pods whose own anti-affinity terms select the pod."""

    def clone(self) -> RequiredTerms:
        return replace(self, needed=self.needed.clone(), shunned=self.shunned.clone(), shunning=self.shunning.clone())

    @property
    def is_first_of_its_kind(self) -> bool:
        """No pod anywhere is what this pod needs, except itself: then any complete node will do."""
        return self.required.matches_itself and self.needed.is_empty


STATE: Key[RequiredTerms] = Key("PreFilterInterPodAffinity")


def count(pod: Pod, required: Required, nodes: NodeTable) -> RequiredTerms:
    """Sum up over domains, from the table's kept counts."""
    found = RequiredTerms(required)
    for term in nodes.terms(TermKind.REQUIRED_ANTI_AFFINITY, pod):
        found.shunning.add(nodes, term.topology_key, term.counts)
    if required.affinity:
        counts = nodes.matching_pods(*required.matchers)
        for key in required.keys:
            found.needed.add(nodes, key, counts)
    for sought in required.anti_affinity:
        found.shunned.add(nodes, sought.topology_key, nodes.matching_pods(sought.matcher))
    return found


def matches_all(terms: Sequence[SoughtPods], pod: Pod | PodTemplate) -> bool:
    """One pod must satisfy every term; without terms none does."""
    return bool(terms) and all(term.matcher.matches(pod) for term in terms)


def move(found: RequiredTerms, pod: Pod, other: Pod, node: NodeView, by: int) -> None:
    """Follow a pod that is imagined on a node, or gone from it."""
    required = found.required
    for term in other.required_anti_affinity_terms:
        if term.matches(pod.namespace, required.namespace_labels, pod.labels):
            found.shunning.move(term.topology_key, node, by)
    if matches_all(required.affinity, other):
        for key in required.keys:
            found.needed.move(key, node, by)
    for sought in required.anti_affinity:
        if sought.matcher.matches(other):
            found.shunned.move(sought.topology_key, node, by)


# -- one node --


def fits(found: RequiredTerms, node: NodeView) -> Reason | None:
    """The first rule that a node breaks."""
    if not _has_the_needed(found, node):
        return AFFINITY
    if any(found.shunned.of(term.topology_key, node) > 0 for term in found.required.anti_affinity):
        return ANTI_AFFINITY
    if any(found.shunning.of(key, node) > 0 for key, _ in found.shunning):
        return SHUNNED
    return None


def _has_the_needed(found: RequiredTerms, node: NodeView) -> bool:
    keys = found.required.keys
    if any(key not in node.labels for key in keys):
        return False
    return all(found.needed.of(key, node) > 0 for key in keys) or found.is_first_of_its_kind


# -- all nodes --


def codes(found: RequiredTerms, nodes: NodeTable) -> Codes:
    """Each domain is judged once, then every node reads its domain's answer."""
    worst = np.zeros(len(nodes), np.uint8)
    for domains, code in ((found.shunning, SHUNNED_CODE), (found.shunned, ANTI_AFFINITY_CODE)):
        for key, pods in domains:
            _raise_to(worst, nodes, key, np.multiply(pods > 0, np.uint8(code)))
    is_first = found.is_first_of_its_kind
    for key, pods in found.needed:
        lacking = np.zeros(len(pods), np.bool_) if is_first else pods <= 0
        lacking[-1] = True
        _raise_to(worst, nodes, key, np.multiply(lacking, np.uint8(AFFINITY_CODE)))
    return worst


def _raise_to(worst: npt.NDArray[np.uint8], nodes: NodeTable, key: str, verdicts: npt.NDArray[np.uint8]) -> None:
    np.maximum(worst, verdicts.take(nodes.label(key).ids), out=worst)
