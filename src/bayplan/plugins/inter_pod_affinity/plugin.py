"""
InterPodAffinity: place pods beside, or away from, other pods.

"Beside" means in the same domain: on nodes with the same value of the term's topology key.  Required terms
of the pod filter, and so do required anti-affinity terms of pods that run already.  Preferred terms of both
score; required affinity of a running pod scores too, with ``hardPodAffinityWeight``.  Terminating pods count.

Extension points: PreFilter (with add and remove), Filter, PreScore, Score.  Requeue: its labels changed; a
pod it needs came, or one it shuns or that shuns it went; a node came or got another value of a topology key.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from bayplan.bounded_cache import BoundedCache
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
    PluginArgs,
    PodMatcher,
    PodTemplate,
    PreFilterExtensions,
    PreScorePlugin,
    Promise,
    Rows,
    ScorePlugin,
    Scores,
    Verdict,
    failed,
    unresolvable,
)
from bayplan.framework.handle import Handle, ObjectStore, handle_of
from bayplan.framework.normalize import by_range
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.selector import PodTerm
from bayplan.objects.workload import Namespace
from bayplan.plugins.inter_pod_affinity import filtering, scoring
from bayplan.plugins.inter_pod_affinity.domains import SoughtPods
from bayplan.plugins.inter_pod_affinity.filtering import Required
from bayplan.plugins.inter_pod_affinity.scoring import Preferred

NO_LABELS: Mapping[str, str] = {}

# One entry per template, and as of which namespaces.
MAX_REMEMBERED = 4096


class InterPodAffinityArgs(PluginArgs):
    """What the profile may set under ``pluginConfig: InterPodAffinity``."""

    hard_pod_affinity_weight: int = Field(1, ge=0, le=100)
    ignore_preferred_terms_of_existing_pods: bool = False


class InterPodAffinity(PreFilterExtensions, FilterPlugin, PreScorePlugin, ScorePlugin):
    """Place pods beside, or away from, other pods."""

    name = "InterPodAffinity"
    reads = ("Namespace",)
    Args = InterPodAffinityArgs
    reasons = filtering.REASONS

    def __init__(self, args: InterPodAffinityArgs | None = None, handle: Handle | None = None) -> None:
        super().__init__(args or InterPodAffinityArgs(), handle)
        self._required: BoundedCache[PodTemplate, tuple[int, Required]] = BoundedCache(MAX_REMEMBERED)
        self._preferred: BoundedCache[PodTemplate, tuple[int, Preferred]] = BoundedCache(MAX_REMEMBERED)

    def requeue_on(self) -> Sequence[On]:
        pods = Change.ADDED | Change.POD_LABEL | Change.DELETED
        return On("Pod", pods, _pod_could_help), On("Node", Change.ADDED | Change.LABEL, _node_could_help)

    def promise(self, template: PodTemplate) -> Promise | None:
        """Terms of pods on nodes read its namespace and labels; namespace selectors read all namespaces."""
        generation = handle_of(self).objects.generation("Namespace")
        if not template.has_pod_terms:
            return Promise(key=(template.label_set, generation), filter=Depends.TERMS, score=Depends.TERMS)
        try:
            terms = (
                template.required_affinity_terms,
                template.required_anti_affinity_terms,
                template.preferred_affinity_terms,
                template.preferred_anti_affinity_terms,
            )
        except ValueError:
            return None
        key = template.label_set, generation, terms
        return Promise(key=key, filter=Depends.DOMAIN, score=Depends.DOMAIN)

    # -- filtering --

    def pre_filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Verdict:
        try:
            required = self._required_by(pod.template)
        except ValueError as error:
            return unresolvable(f"parsing pod: {error}")
        found = filtering.count(pod, required, nodes)
        if required.is_nothing and found.shunning.is_empty:
            return SKIP
        state[filtering.STATE] = found
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
            preferred = self._preferred_by(pod.template)
        except ValueError as error:
            return failed(f"failed to parse pod: {error}")
        if self.args.ignore_preferred_terms_of_existing_pods and not preferred:
            return SKIP
        worth = scoring.weigh(pod, preferred, self.args.hard_pod_affinity_weight, nodes)
        if worth is None:
            return SKIP
        state[scoring.STATE] = worth
        return None

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return scoring.score_node(state[scoring.STATE], node)

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return scoring.score(state[scoring.STATE], nodes)

    def normalize(self, state: CycleState, pod: Pod, scores: Scores, feasible: Rows) -> Scores:
        return by_range(scores)

    # -- which namespaces a term means --

    def _required_by(self, template: PodTemplate) -> Required:
        """The required terms of a template's pods, as namespaces are now; ValueError if one is wrong."""
        generation = handle_of(self).objects.generation("Namespace")
        known = self._required.get(template)
        if known is None or known[0] != generation:
            required = Required(
                tuple(map(self._look_up, template.required_affinity_terms)),
                tuple(map(self._look_up, template.required_anti_affinity_terms)),
                self._namespace_labels(template),
                template,
            )
            known = self._required[template] = generation, required
        return known[1]

    def _preferred_by(self, template: PodTemplate) -> Preferred:
        """The preferred terms of a template's pods, with negative weights for those to stay away from."""
        if template.spec.affinity is None:
            return ()
        generation = handle_of(self).objects.generation("Namespace")
        known = self._preferred.get(template)
        if known is None or known[0] != generation:
            beside = [(weight, self._look_up(term)) for weight, term in template.preferred_affinity_terms]
            away = [(-weight, self._look_up(term)) for weight, term in template.preferred_anti_affinity_terms]
            known = self._preferred[template] = generation, (*beside, *away)
        return known[1]

    def _look_up(self, term: PodTerm) -> SoughtPods:
        """A term of the pod to be placed, with the namespaces that its namespace selector matches now."""
        namespaces = _selected(term, handle_of(self).objects)
        return SoughtPods(PodMatcher(namespaces, term.selector), term.topology_key)

    def _namespace_labels(self, template: PodTemplate) -> Mapping[str, str]:
        namespace = handle_of(self).objects.get("Namespace", "", template.namespace)
        return NO_LABELS if namespace is None else namespace.labels


def _selected(term: PodTerm, objects: ObjectStore) -> frozenset[str] | None:
    """Names of the namespaces that a term means; ``None`` is all of them.

    kube-scheduler also asks the selector about a namespace without labels, for whatever pod.  So a selector
    that such a namespace satisfies (``{}``, NotIn, DoesNotExist) selects pods of every namespace.
    """
    selector = term.namespace_selector
    if selector is None:
        return term.namespaces
    if selector.matches(NO_LABELS):
        return None
    namespaces: Iterable[Namespace] = objects.list("Namespace")
    return term.namespaces.union(each.name for each in namespaces if selector.matches(each.labels))


# -- what could change its mind --


def _pod_could_help(pod: Pod, old: Pod | None, new: Pod | None) -> bool:
    if old is not None and new is not None and new.uid == pod.uid:
        return True  # only changes of labels are asked about, and another pod may have shunned the old ones
    if any(each is not None and not (each.node_name or each.nominated_node_name) for each in (old, new)):
        return False
    try:
        affinity, anti_affinity = pod.required_affinity_terms, pod.required_anti_affinity_terms
        if new is not None and old is not None:
            is_needed_now = not _selects(affinity, old) and _selects(affinity, new)
            return is_needed_now or (_selects(anti_affinity, old) and not _selects(anti_affinity, new))
        if new is not None:
            return _selects(affinity, new)
        if old is None:
            return False
        return _selects(anti_affinity, old) or _selects(old.required_anti_affinity_terms, pod)
    except ValueError:
        return True


def _selects(terms: Sequence[PodTerm], pod: Pod) -> bool:
    """All terms select the pod.  As in kube-scheduler, hints do not look up the labels of its namespace."""
    return bool(terms) and all(term.matches(pod.namespace, NO_LABELS, pod.labels) for term in terms)


def _node_could_help(pod: Pod, old: Node | None, new: Node | None) -> bool:
    if new is None:
        return False
    try:
        affinity, anti_affinity = pod.required_affinity_terms, pod.required_anti_affinity_terms
    except ValueError:
        return True
    if old is None:
        return bool(anti_affinity) or any(term.topology_key in new.labels for term in affinity)
    for term in affinity:
        had, has = old.labels.get(term.topology_key), new.labels.get(term.topology_key)
        if has is not None and had != has:
            return True
    for term in anti_affinity:
        had, has = old.labels.get(term.topology_key), new.labels.get(term.topology_key)
        if had is not None and had != has:
            return True
    return False
