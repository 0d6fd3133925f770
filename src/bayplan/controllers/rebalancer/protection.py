"""
Which pods are left where they are, and why: they would not be replaced, or moving them would cost more than it gives.

``planner`` asks for every pod of a domain that has too many; people read the reasons in the plan.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from bayplan.controllers.rebalancer.observed import Observed, controller_of
from bayplan.controllers.rebalancer.survey import Survey
from bayplan.controllers.rebalancer.terms import Terms
from bayplan.framework.handle import ObjectStore
from bayplan.objects.admission.own_keys import REBALANCE
from bayplan.objects.meta import OwnerReference
from bayplan.objects.pod import Pod
from bayplan.objects.times import parse_time

OPT_OUTS = {
    REBALANCE: "false",
    "cluster-autoscaler.kubernetes.io/safe-to-evict": "false",
}
PREFER_NO_EVICTION = "descheduler.alpha.kubernetes.io/prefer-no-eviction"
MIRROR = "kubernetes.io/config.mirror"
REVISION_LABEL = "controller-revision-hash"
SYSTEM_CRITICAL = 2_000_000_000
READ_ANNOTATIONS = (*OPT_OUTS, PREFER_NO_EVICTION, MIRROR)


class Protection:
    """The rules for the pods of one policy at one moment."""

    def __init__(self, observed: Observed, survey: Survey, terms: Terms, now: float) -> None:
        self._observed = observed
        self._survey = survey
        self._terms = terms
        self._now = now
        self._objects: ObjectStore = observed.scheduler.cache.objects
        self._pods = [pod for group in survey.groups for pod in (*group.bound, *group.pending)]
        self._sizes = Counter(controller_of(pod) for pod in self._pods)

    def reason(self, pod: Pod) -> str:
        """Why this pod is not moved; "" if it may be."""
        return next(filter(None, self._reasons(pod)), "")

    def _reasons(self, pod: Pod) -> Iterable[str]:
        owner = pod.controller
        if pod.uid not in self._survey.named:
            yield "it does not name the policy"
        yield from lasting_reasons(self._observed, pod)
        if owner is None:
            return
        yield self._young(pod)
        if self._size(owner, pod.namespace) < 2 and not self._terms.allows_single_replica:
            yield f"it is the only one of {owner.kind} {owner.name}; allowSingleReplica: true would move it anyway"
        yield from passing_reasons(self._observed, pod, self._pods)

    def _young(self, pod: Pod) -> str:
        try:
            created = parse_time(pod.metadata.creation_timestamp)
        except ValueError:
            return ""
        age = self._terms.min_pod_age_s
        return f"it is younger than {age:g} s" if created is not None and self._now - created < age else ""

    def _size(self, owner: OwnerReference, namespace: str) -> int:
        """How many pods its controller wants; of a controller of an unknown kind, how many there are."""
        known = self._objects.get(owner.kind, namespace, owner.name)
        replicas = getattr(getattr(known, "spec", None), "replicas", None)
        return self._sizes[f"{owner.kind}/{owner.name}"] if replicas is None else int(replicas)


def lasting_reasons(observed: Observed, pod: Pod) -> Iterable[str]:
    """Why a pod is not moved, whoever asks, that no waiting will change; "" says nothing."""
    yield from own_reasons(pod)
    if observed.scheduler.cache.nodes.row_of(pod.node_name) is None:
        yield f"its node {pod.node_name} is not known"
    if pod.scheduler_name not in observed.scheduler.profiles:
        yield f'no profile is for its scheduler "{pod.scheduler_name}"'


def passing_reasons(observed: Observed, pod: Pod, pods: Iterable[Pod]) -> Iterable[str]:
    """Why a pod is not moved now, whoever asks; ``pods`` are those among which others of its controller are."""
    if pod.node_name in observed.unready:
        yield f"its node {pod.node_name} is not ready"
    if observed.scheduler.cache.is_assumed(pod.uid):
        yield "it is on its way to its node"
    owner = pod.controller
    if owner is not None and _is_rolling(observed.scheduler.cache.objects, owner, pod.namespace, pods):
        yield f"{owner.kind} {owner.name} is being updated"


def _is_rolling(objects: ObjectStore, owner: OwnerReference, namespace: str, pods: Iterable[Pod]) -> bool:
    """Are there pods of more than one revision?  Then the controller is at work itself."""
    if owner.kind == "ReplicaSet":
        own = objects.get("ReplicaSet", namespace, owner.name)
        above = own.controller if own is not None else None
        if above is None:
            return False
        others = objects.list("ReplicaSet", namespace)
        same = (each for each in others if each.controller is not None and each.controller.uid == above.uid)
        return sum(bool(each.spec.replicas) for each in same) > 1
    if owner.kind == "StatefulSet":
        own_pods = (pod for pod in pods if controller_of(pod) == f"{owner.kind}/{owner.name}")
        return len({pod.labels.get(REVISION_LABEL) for pod in own_pods}) > 1
    return False


def belongs_to_its_node(pod: Pod) -> bool:
    """It would not be made anywhere else."""
    return MIRROR in pod.annotations or (pod.controller is not None and pod.controller.kind in ("DaemonSet", "Node"))


def own_reasons(pod: Pod) -> Iterable[str]:
    """Why a pod is not moved that it carries itself, whoever asks; "" says nothing."""
    owner = pod.controller
    if belongs_to_its_node(pod):
        yield "it belongs to its node"
    if owner is None:
        yield "nobody would make another one in its place"
        return
    if owner.kind == "Job":
        yield "it belongs to a Job, whose work would be lost"
    if pod.priority >= SYSTEM_CRITICAL:
        yield "it is critical to the cluster"
    yield _opt_out(pod)
    yield _local_storage(pod)


def _opt_out(pod: Pod) -> str:
    for name, value in OPT_OUTS.items():
        if pod.annotations.get(name) == value:
            return f"annotation {name} says {value}"
    return f"annotation {PREFER_NO_EVICTION} is there" if PREFER_NO_EVICTION in pod.annotations else ""


def _local_storage(pod: Pod) -> str:
    if pod.annotations.get(REBALANCE) == "true":
        return ""
    for volume in pod.volumes:
        if volume.empty_dir is not None or volume.host_path is not None:
            return f'its volume {volume.name} is on its node; annotate it {REBALANCE}: "true" if that may be lost'
    return ""
