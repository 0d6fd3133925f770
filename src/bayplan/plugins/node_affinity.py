"""
NodeAffinity: a pod runs only where its nodeSelector and required node affinity allow, and rather where its
preferred terms match.

``addedAffinity`` in the args is asked for on behalf of every pod of the profile, before the pod's own.
Required terms that all name nodes (``matchFields`` on ``metadata.name``) narrow the search to those nodes
before any filter runs.  The score is the sum of the weights of the preferred terms that match.

Extension points: PreFilter, Filter, PreScore, Score (normalised).
Requeue: a node was added that matches, or its labels changed so that it matches now.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from pydantic import Field, model_validator

from bayplan.framework import (
    SKIP,
    Change,
    Code,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    Handle,
    NodeTable,
    NodeView,
    On,
    PluginArgs,
    PodTemplate,
    PreFilterPlugin,
    PreFilterResult,
    PreScorePlugin,
    Promise,
    Reason,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    failed,
)
from bayplan.framework.normalize import by_maximum
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_template import HasSpec
from bayplan.objects.requirement import IN, NODE_OPERATORS, NOT_IN, Requirement, requirement
from bayplan.objects.selector import NODE_NAME_FIELD, NodeRequirement, NodeTerm

NO_MATCH = Reason(Code.UNRESOLVABLE, "node(s) didn't match Pod's node affinity/selector")
NOT_ENFORCED = Reason(Code.UNRESOLVABLE, "node(s) didn't match scheduler-enforced node affinity")
CONFLICT = Reason(Code.UNRESOLVABLE, "pod affinity terms conflict")


class Expression(PluginArgs):
    """One condition on node labels."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> Expression:
        self.compiled()
        return self

    def compiled(self) -> Requirement:
        return requirement(self.key, self.operator, self.values, NODE_OPERATORS)


class FieldExpression(PluginArgs):
    """One condition on node fields; the only one nodes have is ``metadata.name``."""

    key: str
    operator: str
    values: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _check(self) -> FieldExpression:
        if self.operator not in (IN, NOT_IN):
            raise ValueError(f'"{self.operator}" is not an operator for fields; write In or NotIn instead')
        if len(self.values) != 1:
            raise ValueError("a condition on a field takes exactly one value; write one term per node")
        return self

    def compiled(self) -> Requirement:
        return Requirement(self.key, self.operator, self.values)


class Term(PluginArgs):
    """Conditions that must all hold."""

    match_expressions: tuple[Expression, ...] = ()
    match_fields: tuple[FieldExpression, ...] = ()

    def compiled(self) -> NodeTerm:
        expressions = tuple(each.compiled() for each in self.match_expressions)
        return NodeTerm(expressions, tuple(each.compiled() for each in self.match_fields))


class RequiredTerms(PluginArgs):
    """Terms of which one must match."""

    node_selector_terms: tuple[Term, ...] = ()


class PreferredTerm(PluginArgs):
    """A term that adds its weight where it matches."""

    weight: int = Field(ge=0, le=100)
    preference: Term = Term()


class AddedAffinity(PluginArgs):
    """Node affinity as pods write it."""

    required: RequiredTerms | None = Field(None, alias="requiredDuringSchedulingIgnoredDuringExecution")
    preferred: tuple[PreferredTerm, ...] = Field((), alias="preferredDuringSchedulingIgnoredDuringExecution")


class NodeAffinityArgs(PluginArgs):
    """What the profile may set under ``pluginConfig: NodeAffinity``."""

    added_affinity: AddedAffinity | None = None


class NodeAffinity(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin):
    """A pod runs only where its nodeSelector and required node affinity allow."""

    name = "NodeAffinity"
    Args = NodeAffinityArgs
    reasons = (NO_MATCH, NOT_ENFORCED)

    def __init__(self, args: Any = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        added = cast(NodeAffinityArgs, args or NodeAffinityArgs()).added_affinity or AddedAffinity()
        terms = added.required.node_selector_terms if added.required else ()
        self.enforced: NodeRequirement | None = (
            NodeRequirement((), tuple(term.compiled() for term in terms)) if added.required else None
        )
        self.added_terms: tuple[tuple[int, NodeTerm], ...] = tuple(
            (each.weight, each.preference.compiled())
            for each in added.preferred
            if each.weight and not each.preference.compiled().is_empty
        )
        self.has_added_terms = bool(added.preferred)

    def requeue_on(self) -> tuple[On, ...]:
        return (On("Node", Change.ADDED | Change.LABEL, self._matches_now),)

    def promise(self, template: PodTemplate) -> Promise | None:
        """A look at the few nodes that a pod names is quicker than anything that is kept of all of them."""
        required = template.required_node_affinity
        names_nodes = required is not None and _named_nodes(required.terms or ()) is not None
        key = required, template.preferred_node_terms, _has_preferred(template)
        return Promise(key=key, filter=Depends.OBJECT, score=Depends.OBJECT, keep=not names_nodes)

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> PreFilterResult | Verdict:
        required = pod.required_node_affinity
        if required is None:
            return SKIP if self.enforced is None else None
        names = _named_nodes(required.terms or ())
        if names is None:
            return None
        return PreFilterResult(names) if names else CONFLICT

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        if self.enforced is not None and not self.enforced.matches(node.name, node.labels):
            return NOT_ENFORCED
        required = pod.required_node_affinity
        if required is not None and not required.matches(node.name, node.labels):
            return NO_MATCH
        return None

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        terms = (*self.added_terms, *pod.preferred_node_terms)
        return sum(weight for weight, term in terms if term.matches(node.name, node.labels))

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        codes = np.zeros(len(nodes), np.uint8)
        required = pod.required_node_affinity
        if required is not None:
            codes[~nodes.matching(required)] = self.code(NO_MATCH)
        if self.enforced is not None:
            codes[~nodes.matching(self.enforced)] = self.code(NOT_ENFORCED)
        return codes

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        if any(term.invalid for _, term in pod.preferred_node_terms):
            return failed("a preferred node affinity term has an operator or values that cannot be used")
        return None if self.has_added_terms or _has_preferred(pod) else SKIP

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        scores = np.zeros(len(nodes), np.int64)
        for weight, term in (*self.added_terms, *pod.preferred_node_terms):
            scores += weight * nodes.matching(NodeRequirement((), (term,)))
        return scores

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        return by_maximum(scores)

    # -- requeueing --

    def _matches_now(self, pod: Pod, old: Node | None, new: Node) -> bool:
        if self.enforced is not None and not self.enforced.matches(new.name, new.labels):
            return False
        required = pod.required_node_affinity or NodeRequirement()
        if not required.matches(new.name, new.labels):
            return False
        return old is None or not required.matches(old.name, old.labels)


def _named_nodes(terms: tuple[NodeTerm, ...]) -> frozenset[str] | None:
    """The nodes that the terms name between them; None if there are no terms, or one that names no node."""
    union: set[str] = set()
    for term in terms:
        by_name = (field for field in term.fields if field.key == NODE_NAME_FIELD and field.op == IN)
        named = [set(field.values) for field in by_name]
        if not named:
            return None
        union |= set.intersection(*named)
    return frozenset(union) if terms else None


def _has_preferred(pod: HasSpec) -> bool:
    """Whether preferred terms are written, even if none of them weighs anything."""
    affinity = pod.spec.affinity
    written = affinity.node_affinity if affinity else None
    return bool(written and written.preferred_during_scheduling_ignored_during_execution)
