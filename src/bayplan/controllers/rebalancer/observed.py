"""
The cluster as the rebalancer sees it: everything the engine is told, and beside it pods by namespace and nodes that
are not ready.

The live app and the simulator tell it every event of the cluster; ``controller`` asks which namespaces changed.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from bayplan.engine.events import (
    Event,
    NodeAdded,
    NodeChanged,
    NodeDeleted,
    ObjectAdded,
    ObjectChanged,
    ObjectDeleted,
    PodAdded,
    PodChanged,
    PodDeleted,
)
from bayplan.engine.scheduler import Scheduler
from bayplan.engine.update_events import node_update_events
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.requirement import IN
from bayplan.objects.selector import Selector
from bayplan.objects.third_party.kosmos import WorkloadPolicy

POLICY = "WorkloadPolicy"
SIZED = ("ReplicaSet", "ReplicationController", "StatefulSet")
"""Kinds of controllers that are known while they are there, with the number of pods they want."""
# Their sizes are what shares are taken of, and say whether a pod is the only one.
_WORKLOADS = (*SIZED, "PodDisruptionBudget")
UNREADY_TAINTS = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")


class Observed:
    """Pods, policies and the readiness of nodes, kept beside a ``Scheduler`` that knows the rest."""

    def __init__(self, scheduler: Scheduler) -> None:
        self.scheduler = scheduler
        self.unready: set[str] = set()
        """Names of nodes that are not ready."""
        self._pods: dict[str, dict[str, Pod]] = {}
        self._labelled: dict[tuple[str, str, str], dict[str, Pod]] = {}
        """Pods by namespace, label and value: with many policies, looking at all pods for each would take long."""
        self._changed: set[str] = set()
        self._all_changed = True

    def note(self, event: Event) -> None:
        """Take in an event that the engine is told as well."""
        match event:
            case PodAdded(pod) | PodChanged(_, pod):
                self._keep(pod)
            case PodDeleted(pod):
                self._drop(pod)
            case NodeAdded(node):
                self._see(node)
                self._all_changed = True
            case NodeChanged(old, node):
                self._see(node)
                self._all_changed |= bool(node_update_events(old, node)) or old.unschedulable != node.unschedulable
            case NodeDeleted(node):
                self.unready.discard(node.name)
                self._all_changed = True
            case ObjectAdded(kind, value) | ObjectChanged(kind, _, value) | ObjectDeleted(kind, value):
                if kind == POLICY or kind in _WORKLOADS:
                    self._changed.add(value.namespace)
            case _:
                pass

    def take_news(self) -> Collection[str] | None:
        """The namespaces that changed since the last call; None if it could be any of them."""
        news = None if self._all_changed else self._changed
        self._changed, self._all_changed = set(), False
        return news

    @property
    def has_news(self) -> bool:
        return self._all_changed or bool(self._changed)

    def pods(self, namespace: str) -> Iterable[Pod]:
        """All pods of a namespace that have not ended."""
        return self._pods.get(namespace, {}).values()

    def pod(self, namespace: str, uid: str) -> Pod | None:
        """One of them."""
        return self._pods.get(namespace, {}).get(uid)

    def sizes(self, namespace: str) -> dict[str, int]:
        """How many pods the controllers of a namespace want, by ``controller_of``."""
        found = {}
        for kind in SIZED:
            for each in self.scheduler.cache.objects.list(kind, namespace):
                found[f"{kind}/{each.name}"] = 1 if each.spec.replicas is None else each.spec.replicas
        return found

    def node(self, name: str) -> Node | None:
        nodes = self.scheduler.cache.nodes
        row = nodes.row_of(name)
        return None if row is None else nodes.object_at(row)

    def selected(self, namespace: str, selector: Selector) -> list[Pod]:
        """Those of them that a selector matches."""
        pairs = [
            (each.key, each.values[0]) for each in selector.requirements if each.op == IN and len(each.values) == 1
        ]
        found = (self._labelled.get((namespace, *pair), {}) for pair in pairs)
        fewest = min(found, key=len, default=self._pods.get(namespace, {}))
        return [pod for pod in fewest.values() if selector.matches(pod.labels)]

    def policies(self) -> list[WorkloadPolicy]:
        """In the order of their names, so that every run looks at them alike."""
        return sorted(self.scheduler.cache.objects.list(POLICY), key=lambda policy: policy.key)

    def policy(self, namespace: str, name: str) -> WorkloadPolicy | None:
        found: WorkloadPolicy | None = self.scheduler.cache.objects.get(POLICY, namespace, name)
        return found

    def domain_of(self, pod: Pod, topology_key: str) -> str | None:
        """The domain of the node that a pod is on; None without a node, or if that has none."""
        nodes = self.scheduler.cache.nodes
        row = nodes.row_of(pod.node_name) if pod.node_name else None
        return None if row is None else nodes.object_at(row).labels.get(topology_key)

    def _keep(self, pod: Pod) -> None:
        if pod.is_terminal:
            self._drop(pod)
            return
        pods = self._pods.setdefault(pod.namespace, {})
        known = pods.get(pod.uid)
        if known is not None and known.labels != pod.labels:
            self._unlabel(known)
        pods[pod.uid] = pod
        for label in pod.labels.items():
            self._labelled.setdefault((pod.namespace, *label), {})[pod.uid] = pod
        self._changed.add(pod.namespace)

    def _drop(self, pod: Pod) -> None:
        pods = self._pods.get(pod.namespace, {})
        known = pods.pop(pod.uid, None)
        if known is not None:
            self._unlabel(known)
            self._changed.add(pod.namespace)
        if not pods:
            self._pods.pop(pod.namespace, None)

    def _unlabel(self, pod: Pod) -> None:
        for label in pod.labels.items():
            key = pod.namespace, *label
            self._labelled[key].pop(pod.uid)
            if not self._labelled[key]:
                del self._labelled[key]

    def _see(self, node: Node) -> None:
        if is_ready_node(node):
            self.unready.discard(node.name)
        else:
            self.unready.add(node.name)


def is_ready_node(node: Node) -> bool:
    """A node that says nothing of itself, as in files, is taken for ready."""
    if any(taint.key in UNREADY_TAINTS for taint in node.taints):
        return False
    return all(each.status == "True" for each in node.conditions if each.type == "Ready")


def is_ready(pod: Pod) -> bool:
    """On a node, running, and not reported as unready."""
    if not pod.node_name or pod.is_terminating or pod.is_terminal:
        return False
    ready = pod.condition("Ready")
    if ready is not None:
        return ready.status == "True"
    return pod.status.phase in ("", "Running")


def controller_of(pod: Pod) -> str:
    """Who looks after a pod, as ``Kind/name``; "" if none does.  Names, since uids in files need not be true."""
    owner = pod.controller
    return f"{owner.kind}/{owner.name}" if owner is not None else ""
