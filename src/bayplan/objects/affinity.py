"""Node selectors, affinity and topology spread as they are written, and their compiled forms.

`pod` and `volume` carry these; `pod` calls the compile functions once per pod and keeps the answers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from bayplan.objects.meta import LabelSelector, Wire
from bayplan.objects.requirement import IN, Requirement
from bayplan.objects.selector import (
    NodeTerm,
    PodTerm,
    Selector,
    compile_label_selector,
    compile_node_term,
)

DO_NOT_SCHEDULE = "DoNotSchedule"
SCHEDULE_ANYWAY = "ScheduleAnyway"
HONOR = "Honor"
IGNORE = "Ignore"


class NodeSelectorRequirement(Wire, frozen=True, kw_only=True):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] | None = None


class NodeSelectorTerm(Wire, frozen=True, kw_only=True):
    match_expressions: tuple[NodeSelectorRequirement, ...] | None = None
    match_fields: tuple[NodeSelectorRequirement, ...] | None = None


class NodeSelector(Wire, frozen=True, kw_only=True):
    node_selector_terms: tuple[NodeSelectorTerm, ...] | None = None


class PreferredSchedulingTerm(Wire, frozen=True, kw_only=True):
    weight: int = 0
    preference: NodeSelectorTerm = NodeSelectorTerm()


class NodeAffinity(Wire, frozen=True, kw_only=True):
    required_during_scheduling_ignored_during_execution: NodeSelector | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[PreferredSchedulingTerm, ...] | None = None


class PodAffinityTerm(Wire, frozen=True, kw_only=True):
    label_selector: LabelSelector | None = None
    namespaces: tuple[str, ...] | None = None
    topology_key: str = ""
    namespace_selector: LabelSelector | None = None
    match_label_keys: tuple[str, ...] | None = None
    mismatch_label_keys: tuple[str, ...] | None = None


class WeightedPodAffinityTerm(Wire, frozen=True, kw_only=True):
    weight: int = 0
    pod_affinity_term: PodAffinityTerm = PodAffinityTerm()


class PodAffinity(Wire, frozen=True, kw_only=True):
    required_during_scheduling_ignored_during_execution: tuple[PodAffinityTerm, ...] | None = None
    preferred_during_scheduling_ignored_during_execution: tuple[WeightedPodAffinityTerm, ...] | None = None


class PodAntiAffinity(PodAffinity, frozen=True, kw_only=True):
    """The same shape; the terms say what to stay away from."""


class Affinity(Wire, frozen=True, kw_only=True):
    node_affinity: NodeAffinity | None = None
    pod_affinity: PodAffinity | None = None
    pod_anti_affinity: PodAntiAffinity | None = None


class TopologySpreadConstraint(Wire, frozen=True, kw_only=True):
    max_skew: int = 0
    topology_key: str = ""
    when_unsatisfiable: str = ""
    label_selector: LabelSelector | None = None
    min_domains: int | None = None
    node_affinity_policy: str | None = None
    node_taints_policy: str | None = None
    match_label_keys: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class SpreadConstraint:
    """A topology spread constraint, ready to be counted with."""

    max_skew: int
    topology_key: str
    hard: bool
    selector: Selector
    min_domains: int = 1
    honor_affinity: bool = True
    honor_taints: bool = False


def compile_pod_term(written: PodAffinityTerm, namespace: str) -> PodTerm:
    """One term of a pod that lives in `namespace`. The API server has merged the label keys already."""
    if not written.namespaces and written.namespace_selector is None:
        namespaces = frozenset((namespace,))
    else:
        namespaces = frozenset(written.namespaces or ())
    chosen = written.namespace_selector
    return PodTerm(
        namespaces=namespaces,
        namespace_selector=None if chosen is None else compile_label_selector(chosen),
        selector=compile_label_selector(written.label_selector),
        topology_key=written.topology_key,
    )


def compile_required(written: PodAffinity | None, namespace: str) -> tuple[PodTerm, ...]:
    terms = written.required_during_scheduling_ignored_during_execution if written else None
    return tuple(compile_pod_term(term, namespace) for term in terms or ())


def compile_preferred(written: PodAffinity | None, namespace: str) -> tuple[tuple[int, PodTerm], ...]:
    terms = written.preferred_during_scheduling_ignored_during_execution if written else None
    return tuple((each.weight, compile_pod_term(each.pod_affinity_term, namespace)) for each in terms or ())


def compile_preferred_node_terms(
    written: Iterable[PreferredSchedulingTerm] | None,
) -> tuple[tuple[int, NodeTerm], ...]:
    """(weight, term) pairs; those that weigh nothing or ask for nothing are left out."""
    pairs = ((each.weight, compile_node_term(each.preference)) for each in written or ())
    return tuple((weight, term) for weight, term in pairs if weight and not term.is_empty)


def compile_spread(written: TopologySpreadConstraint, labels: Mapping[str, str]) -> SpreadConstraint:
    """One constraint of a pod with `labels`, its matchLabelKeys merged in.

    The API server merges them too; a selector holds each requirement once, so doing it again changes nothing.
    """
    own = (Requirement(key, IN, (labels[key],)) for key in written.match_label_keys or () if key in labels)
    return SpreadConstraint(
        max_skew=written.max_skew,
        topology_key=written.topology_key,
        hard=written.when_unsatisfiable == DO_NOT_SCHEDULE,
        selector=compile_label_selector(written.label_selector).plus(own),
        min_domains=1 if written.min_domains is None else written.min_domains,
        honor_affinity=written.node_affinity_policy != IGNORE,
        honor_taints=written.node_taints_policy == HONOR,
    )
