"""
What somebody may see of a live cluster, as documents of ``bayplan.view``.

Rights are looked at here and nowhere else; searching and the pages of nodes go by the view that is made here.  Sums
over pods are made of those that may be seen, never of the engine's own columns, which know them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from bayplan.app.ui.rights import Rights
from bayplan.controllers.rebalancer.observed import Observed
from bayplan.engine.cache import ClusterCache
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.snapshot import NodeTable
from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.simulator.explain.explanation import BOUND, UNSCHEDULABLE, explain
from bayplan.view.cluster_view import PodRow, cluster_view
from bayplan.view.node_use import used_by_annotations
from bayplan.view.pod_view import pod_view
from bayplan.view.policies import policy_of
from bayplan.view.texts import shown

Attempts = Sequence[Mapping[str, Any]]


def cluster(scheduler: Scheduler, rows: Iterable[PodRow], rights: Rights) -> dict[str, Any]:
    """The cluster as far as these rights go."""
    seen = [row for row in rows if rights.sees_pods(row.pod.namespace)]
    nodes = scheduler.cache.nodes if rights.sees_all else _own_nodes(scheduler.cache.nodes, seen, rights)
    return cluster_view(nodes, seen, used=used_by_annotations(nodes) if rights.nodes else None)


def _own_nodes(known: NodeTable, seen: Iterable[PodRow], rights: Rights) -> NodeTable:
    """The nodes with nothing on them but the pods that may be seen."""
    cache = ClusterCache()
    if rights.nodes:
        for row in range(len(known)):
            cache.add_node(known.object_at(row))
    else:  # a pod names its node: that this is there may be known, and nothing more of it
        for name in dict.fromkeys(row.pod.node_name for row in seen if row.pod.node_name):
            cache.add_node(Node(metadata=ObjectMeta(name=name)))
    for each in seen:
        if each.pod.node_name and cache.nodes.row_of(each.pod.node_name) is not None:
            cache.add_pod(each.pod)
    return cache.nodes


def pod_page(observed: Observed, row: PodRow, rights: Rights, attempts: Attempts) -> dict[str, Any]:
    """
    Why a pod waits or is where it is.  An explanation names other nodes, and pods that would have to go, so that it is
    for those who may see all of them; others are told what the pod's own status says.
    """
    pod, scheduler = row.pod, observed.scheduler
    command = shown(f"bayplan explain pod {pod.name} -n {pod.namespace}")
    if rights.sees_all:
        explanation, nodes = explain(scheduler, _judged(scheduler, pod)), scheduler.cache.nodes
    else:
        explanation, nodes = _own_words(row), ClusterCache().nodes
    policy = _own_policy(observed, pod, rights)
    return pod_view(explanation, pod, nodes, owner=row.owner, command=command, attempts=attempts, policy=policy)


def _own_policy(observed: Observed, pod: Pod, rights: Rights) -> dict[str, Any] | None:
    """The policy that governs a pod; the domain that it is in is a label of its node."""
    policy = policy_of(pod, lambda: observed) if rights.sees_policies(pod.namespace) else None
    return policy if policy is None or rights.nodes else {**policy, "domain": None}


def _judged(scheduler: Scheduler, pod: Pod) -> Pod:
    """By the pod's own profile, or, where that is not known here, by the first one."""
    return pod if pod.scheduler_name in scheduler.profiles else pod.for_scheduler(next(iter(scheduler.profiles)))


def _own_words(row: PodRow) -> dict[str, Any]:
    on = row.pod.node_name or None
    return {
        "verdict": BOUND if on else UNSCHEDULABLE,
        "node": on,
        "message": "" if on else row.message or "it has not been tried yet",
        "choice": None,
        "nodes": [],
        "preemption": None,
    }
