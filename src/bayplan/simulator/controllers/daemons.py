"""
DaemonSet: one pod on each node it is meant for, as its controller makes them.

Each pod names its node in a required node affinity and tolerates what the controller says it must; the scheduler still
has to place it.  ``workloads`` has one ``DaemonPods`` for each DaemonSet.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from bayplan.objects.affinity import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.pod_spec import PodSpec
from bayplan.objects.toleration import (
    EXISTS,
    NO_EXECUTE,
    NO_SCHEDULE,
    NOT_READY_TAINT_KEY,
    UNREACHABLE_TAINT_KEY,
    UNSCHEDULABLE_TAINT_KEY,
    Toleration,
    untolerated,
)
from bayplan.objects.workload import DaemonSet, RollingUpdate
from bayplan.simulator.controllers.disruption_budgets import scaled
from bayplan.simulator.controllers.pod_makers import REVISION_LABEL, Controller, PodMaker, Step, View, same_template
from bayplan.simulator.controllers.rolling_sizes import ON_DELETE

_NAME_FIELD = "metadata.name"
TOLERATED = (
    (NOT_READY_TAINT_KEY, NO_EXECUTE),
    (UNREACHABLE_TAINT_KEY, NO_EXECUTE),
    ("node.kubernetes.io/disk-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/memory-pressure", NO_SCHEDULE),
    ("node.kubernetes.io/pid-pressure", NO_SCHEDULE),
    (UNSCHEDULABLE_TAINT_KEY, NO_SCHEDULE),
)
"""What every daemon puts up with."""

TOLERATED_ON_HOST_NETWORK = (("node.kubernetes.io/network-unavailable", NO_SCHEDULE),)


class DaemonPods(Controller):
    """The pods of one DaemonSet."""

    def __init__(self, maker: PodMaker, owner: DaemonSet, existing: Sequence[Pod], nodes: Sequence[Node]) -> None:
        super().__init__(maker, owner)
        self._set = owner
        carried = next((name for pod in existing if (name := pod.labels.get(REVISION_LABEL))), "")
        self.revision = carried or maker.names.template_hash(owner.spec.template)
        """What pods of the newest template carry."""
        self._generation = 1
        self._template_pod = Pod(spec=with_tolerations(owner.spec.template.spec))
        self._nodes = {node.name for node in nodes if self._belongs_on(node)}
        """Where it wants a pod."""
        self._order = [node.name for node in nodes if node.name in self._nodes]
        self.wanted = len(self._nodes)
        self._served = Counter(node_of(pod) for pod in existing)

    def begin(self) -> Iterable[Pod]:
        return [self._pod(name) for name in self._order if not self._served[name]]

    def gone(self, pod: Pod) -> Iterable[Pod]:
        name = node_of(pod)
        self._served[name] -= 1
        return [self._pod(name)] if name in self._nodes and self._served[name] <= 0 else []

    def update(self, owner: DaemonSet, own: Sequence[Pod], nodes: Iterable[Node]) -> Step:
        """Other nodes may be meant, which pods follow at once; another template is brought to them by ``roll``."""
        template = owner.spec.template
        is_rollout = not same_template(template, self._set.spec.template, self.maker.classes)
        self.owner = self._set = owner
        if is_rollout:
            self.revision = self.maker.names.template_hash(template)
            self._generation += 1
            self._template_pod = Pod(spec=with_tolerations(template.spec))
        step = Step(objects=[owner], is_rollout=is_rollout)
        for node in nodes:
            made, leaving = self.node_changed(node.name, node, own)
            step.made += made
            step.replaced += leaving
        return step

    def roll(self, own: Sequence[Pod], view: View) -> Step:
        """A node is without a ready pod while its pod is replaced, or has two for a while, on so many nodes at once."""
        strategy = self._set.spec.update_strategy
        if strategy.type == ON_DELETE:
            return Step()
        rolling = strategy.rolling_update or RollingUpdate()
        surge = scaled(rolling.max_surge or 0, self.wanted)
        unavailable = scaled(1 if rolling.max_unavailable is None else rolling.max_unavailable, self.wanted)
        old, new = self._by_node(own)
        if surge:
            return self._surge(old, new, surge, view)
        return Step(replaced=self._outdated(old, new, unavailable or 1, view))

    def _outdated(self, old: dict[str, list[Pod]], new: dict[str, list[Pod]], most: int, view: View) -> list[Pod]:
        going: list[Pod] = []
        candidates: list[Pod] = []
        unavailable = 0
        for name in dict.fromkeys([*old, *new, *sorted(self._nodes)]):
            before, after = old.get(name, []), new.get(name, [])
            if len(before) == 1 and not after:
                if not self._is_available(before[0], view):
                    going += before
                    unavailable += 1
                else:
                    candidates += before
            elif before or len(after) != 1 or not self._is_available(after[0], view):
                unavailable += 1
        return going + candidates[: max(0, most - unavailable)]

    def _surge(self, old: dict[str, list[Pod]], new: dict[str, list[Pod]], most: int, view: View) -> Step:
        step, candidates, surging = Step(), [], 0
        for name, before in old.items():
            is_well = self._is_available(before[0], view)
            after = new.get(name, [])
            if after and (not is_well or self._is_available(after[0], view)):
                step.replaced += before
            elif after:
                surging += 1
            elif name in self._nodes and not is_well:
                step.made.append(self._pod(name))
            elif name in self._nodes:
                candidates.append(name)
        step.made += [self._pod(name) for name in candidates[: max(0, most - surging)]]
        return step

    def is_rolled(self, own: Sequence[Pod], view: View) -> bool:
        if self._set.spec.update_strategy.type == ON_DELETE:
            return True
        old, new = self._by_node(own)
        ready = sum(self._is_available(pod, view) for pods in new.values() for pod in pods)
        return not old and ready >= self.wanted

    def _by_node(self, own: Sequence[Pod]) -> tuple[dict[str, list[Pod]], dict[str, list[Pod]]]:
        """The pods of earlier templates, and those of the newest."""
        old: dict[str, list[Pod]] = {}
        new: dict[str, list[Pod]] = {}
        for pod in own:
            part = new if pod.labels.get(REVISION_LABEL) == self.revision else old
            part.setdefault(node_of(pod), []).append(pod)
        return old, new

    def _is_available(self, pod: Pod, view: View) -> bool:
        return view.is_available(pod, self._set.spec.min_ready_seconds)

    def node_changed(self, name: str, node: Node | None, own: Sequence[Pod]) -> tuple[list[Pod], list[Pod]]:
        """A node came, changed or went (None): the pods that are made for it, and those of ``own`` that go."""
        here = [pod for pod in own if node_of(pod) == name]
        if node is not None and self._belongs_on(node):
            self._nodes.add(name)
            self.wanted = len(self._nodes)
            return [] if here else [self._pod(name)], []
        self._nodes.discard(name)
        self.wanted = len(self._nodes)
        return [], [] if node is not None and self._may_stay_on(node) else here

    def _may_stay_on(self, node: Node) -> bool:
        """Where it would not be put any more: only a NoExecute taint, or another label, sends a pod away."""
        return (
            self._is_meant_for(node) and untolerated(self._template_pod.tolerations, node.taints, {NO_EXECUTE}) is None
        )

    def _belongs_on(self, node: Node) -> bool:
        """Would the controller want a pod there?  Room is the scheduler's question, not this one."""
        return self._is_meant_for(node) and untolerated(self._template_pod.tolerations, node.taints) is None

    def _is_meant_for(self, node: Node) -> bool:
        pod = self._template_pod
        requirement = pod.required_node_affinity
        if pod.node_name and pod.node_name != node.name:
            return False
        return requirement is None or requirement.matches(node.name, node.labels)

    def _pod(self, node_name: str) -> Pod:
        name = self.maker.names.generate("Pod", self.owner.namespace, f"{self.owner.name}-")
        labels = {REVISION_LABEL: self.revision, "pod-template-generation": str(self._generation)}
        self._served[node_name] += 1
        spec = pinned_to(self._template_pod.spec, node_name)
        return self.maker.named(self.owner, self._set.spec.template, name, labels, spec=spec)


def with_tolerations(spec: PodSpec) -> PodSpec:
    """With the tolerations that every daemon gets, unless it has them."""
    wanted = TOLERATED + (TOLERATED_ON_HOST_NETWORK if spec.host_network else ())
    own = spec.tolerations or ()
    added = (Toleration(key=key, operator=EXISTS, effect=effect) for key, effect in wanted)
    return replace(spec, tolerations=(*own, *(each for each in added if each not in own)))


def pinned_to(spec: PodSpec, node_name: str) -> PodSpec:
    """With a required node affinity to one node in place of the one that is written."""
    field = NodeSelectorRequirement(key=_NAME_FIELD, operator="In", values=(node_name,))
    selector = NodeSelector(node_selector_terms=(NodeSelectorTerm(match_fields=(field,)),))
    affinity = spec.affinity or Affinity()
    node_affinity = replace(
        affinity.node_affinity or NodeAffinity(), required_during_scheduling_ignored_during_execution=selector
    )
    return replace(spec, affinity=replace(affinity, node_affinity=node_affinity))


def node_of(pod: Pod) -> str:
    """The node a daemon's pod is on or is meant for; "" if neither is said."""
    affinity = pod.spec.affinity.node_affinity if pod.spec.affinity is not None else None
    required = affinity.required_during_scheduling_ignored_during_execution if affinity is not None else None
    for term in (required.node_selector_terms or ()) if required is not None else ():
        for field in term.match_fields or ():
            if field.key == _NAME_FIELD and field.values:
                return field.values[0]
    return pod.node_name
