"""The plugin on a cluster with policies, asked as the engine asks it."""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.engine.cache import ClusterCache
from bayplan.framework import CycleState, Status
from bayplan.framework.status import as_status
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.leaf_node_workload_policy import LeafNodeWorkloadPolicy
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, reasons, run_filter, run_score
from bayplan.testing.harness import built_pod


class Bench:
    """A cluster and the plugin that looks at it."""

    def __init__(
        self,
        nodes: Iterable[Node | NodeBuilder],
        pods: Iterable[Pod | PodBuilder] = (),
        objects: Iterable[ApiObject] = (),
    ) -> None:
        self.cache: ClusterCache = cluster(nodes, pods, objects)
        self.plugin = make(LeafNodeWorkloadPolicy, self.cache)

    def statuses(self, pod: Pod | PodBuilder) -> dict[str, Status | None]:
        return run_filter(self.plugin, pod, self.cache)

    def reasons(self, pod: Pod | PodBuilder) -> dict[str, list[str]]:
        return reasons(self.statuses(pod))

    def pre_filter(self, pod: Pod | PodBuilder) -> Status:
        return as_status(self.plugin.pre_filter(CycleState(), built_pod(pod), self.cache.nodes))

    def prepared(self, pod: Pod | PodBuilder) -> CycleState:
        state = CycleState()
        assert self.plugin.pre_filter(state, built_pod(pod), self.cache.nodes) is None
        return state

    def scores(
        self, pod: Pod | PodBuilder, *, raw: bool = False, feasible: Iterable[str] | None = None
    ) -> dict[str, int]:
        state = self.prepared(pod)
        return run_score(self.plugin, pod, self.cache, normalize=not raw, state=state, feasible=feasible)
