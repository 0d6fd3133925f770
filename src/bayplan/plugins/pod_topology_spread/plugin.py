"""
PodTopologySpread: keep pods of one kind evenly spread over zones, hosts or any other node label.

A constraint names a label key; each of its values is a domain.  A DoNotSchedule constraint rejects nodes
whose domain would hold more than ``maxSkew`` pods above the emptiest one; a ScheduleAnyway constraint prefers
nodes in emptier domains.  Pods that write no constraint get the profile's defaults, see ``default_constraints``.

Extension points: PreFilter (with add and remove), Filter, PreScore, Score.  Requeue: a pod that a constraint
counts came, went or changed its labels; a node with every key came or went, or its keys or taints changed.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

from bayplan.framework import (
    SKIP,
    Change,
    Codes,
    CycleState,
    Depends,
    FilterPlugin,
    NodeTable,
    NodeView,
    On,
    PodTemplate,
    PreFilterExtensions,
    PreScorePlugin,
    Promise,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    failed,
)
from bayplan.framework.handle import Handle, handle_of
from bayplan.objects.affinity import SpreadConstraint
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.pod_topology_spread import domain_counts, filtering, scoring
from bayplan.plugins.pod_topology_spread.default_constraints import DefaultConstraints, PodTopologySpreadArgs


class PodTopologySpread(PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Keep pods of one kind evenly spread over zones, hosts or any other node label."""

    name = "PodTopologySpread"
    reads = ("Service", "ReplicationController", "ReplicaSet", "StatefulSet")
    Args = PodTopologySpreadArgs
    reasons = filtering.REASONS

    def __init__(self, args: PodTopologySpreadArgs | None = None, handle: Handle | None = None) -> None:
        super().__init__(args or PodTopologySpreadArgs(), handle)
        self._system_defaults = self.args.defaulting_type == "System"
        self._hard_layouts, self._soft_layouts = domain_counts.Layouts(), domain_counts.Layouts()
        compiled = self.args.compiled()
        self._has_defaults = {hard: any(each.hard is hard for each in compiled) for hard in (True, False)}

    def requeue_on(self) -> Sequence[On]:
        pods = Change.ADDED | Change.POD_LABEL | Change.POD_TOLERATION | Change.DELETED
        nodes = Change.ADDED | Change.DELETED | Change.LABEL | Change.TAINT
        return On("Pod", pods, self._pod_could_help), On("Node", nodes, self._node_could_help)

    def promise(self, template: PodTemplate) -> Promise | None:
        """Default constraints are known by the selector they have now, so a new Service changes the key."""
        try:
            constraints = (*self._constraints(template, hard=True), *self._constraints(template, hard=False))
        except ValueError:
            return None
        if not constraints:
            return Promise(key=(), filter=Depends.OBJECT, score=Depends.OBJECT)
        key = (
            template.namespace,
            constraints,
            self._require_all(template),
            tuple(each.selector.matches(template.labels) for each in constraints if each.hard),
            template.required_node_affinity if any(each.honor_affinity for each in constraints) else None,
            template.tolerations if any(each.honor_taints for each in constraints) else None,
        )
        return Promise(key=key, filter=Depends.DOMAIN, score=Depends.DOMAIN)

    # -- filtering --

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        try:
            constraints = self._constraints(pod.template, hard=True)
        except ValueError as error:
            return failed(f"obtaining pod's hard topology spread constraints: {error}")
        if not constraints:
            return SKIP
        state[filtering.STATE] = filtering.count(pod, constraints, nodes, self._hard_layouts)
        return None

    def add_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        filtering.move(state[filtering.STATE], pod, other, node, 1)

    def remove_pod(self, state: CycleState, pod: Pod, other: Pod, node: NodeView) -> None:
        filtering.move(state[filtering.STATE], pod, other, node, -1)

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        return filtering.fits(state[filtering.STATE], node)

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes:
        return filtering.codes(state[filtering.STATE], nodes)

    # -- scoring --

    def pre_score(self, state: CycleState, pod: Pod, nodes: NodeTable, feasible: Rows) -> Verdict:
        try:
            constraints = self._constraints(pod.template, hard=False)
        except ValueError as error:
            return failed(f"obtaining pod's soft topology spread constraints: {error}")
        if not constraints or not len(nodes):
            return SKIP
        require_all = self._require_all(pod.template)
        state[scoring.STATE] = scoring.prepare(pod, constraints, nodes, feasible, self._soft_layouts, require_all)
        return None

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return scoring.score_node(state[scoring.STATE], pod, node)

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return scoring.score(state[scoring.STATE], pod, nodes)

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        return scoring.normalize(state[scoring.STATE], scores, feasible)

    # -- which constraints a pod has --

    def _constraints(self, template: PodTemplate, *, hard: bool) -> tuple[SpreadConstraint, ...]:
        """Its own, or the defaults if it writes none of either kind; ValueError if a selector is wrong."""
        if template.spec.topology_spread_constraints:
            return template.hard_spread_constraints if hard else template.soft_spread_constraints
        if not self._has_defaults[hard]:
            return ()
        return tuple(each for each in self._defaults.of(template) if each.hard is hard)

    @cached_property
    def _defaults(self) -> DefaultConstraints:
        return DefaultConstraints(self.args.compiled(), handle_of(self).objects)

    def _require_all(self, template: PodTemplate) -> bool:
        """Only the system defaults score nodes that lack a zone: they are still spread by hostname."""
        return bool(template.spec.topology_spread_constraints) or not self._system_defaults

    # -- what could change its mind --

    def _pod_could_help(self, pod: Pod, old: Pod | None, new: Pod | None) -> bool:
        if any(each is not None and not _takes_part(each, pod) for each in (old, new)):
            return False
        try:
            constraints = self._constraints(pod.template, hard=True)
        except ValueError:
            return True
        if old is not None and new is not None:
            return _update_could_help(pod, old, new, constraints)
        changed = new if new is not None else old
        return changed is not None and any(each.selector.matches(changed.labels) for each in constraints)

    def _node_could_help(self, pod: Pod, old: Node | None, new: Node | None) -> bool:
        try:
            constraints = self._constraints(pod.template, hard=True)
        except ValueError:
            return True
        had = old is not None and domain_counts.has_every_key(old.labels, constraints)
        has = new is not None and domain_counts.has_every_key(new.labels, constraints)
        if old is None or new is None:
            return had or has
        if had != has:
            return True
        keys = [each.topology_key for each in constraints]
        moved = any(old.labels.get(key) != new.labels.get(key) for key in keys)
        return has and (moved or old.taints != new.taints)


def _takes_part(changed: Pod, pod: Pod) -> bool:
    """Can the changed pod count in the spreading of this one?"""
    if changed.uid == pod.uid:
        return True
    return bool(changed.node_name or changed.nominated_node_name) and changed.namespace == pod.namespace


def _update_could_help(pod: Pod, old: Pod, new: Pod, constraints: Sequence[SpreadConstraint]) -> bool:
    tolerates_more = new.uid == pod.uid and old.tolerations != new.tolerations
    if tolerates_more and any(each.honor_taints for each in constraints):
        return True
    return any(each.selector.matches(old.labels) != each.selector.matches(new.labels) for each in constraints)
