"""
Do the two forms of a plugin say the same?  The one test every plugin with an all-nodes form gets for free.

``assert_forms_agree(plugin, pods, cache)`` asks the all-nodes form and, node by node, the one-node form, on
the nodes as they are and on nodes with pods imagined away.  ``random_cluster`` and ``random_pod`` make input.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.engine.cache import ClusterCache
from bayplan.framework.cycle_state import CycleState
from bayplan.framework.plugin import (
    FilterPlugin,
    Plugin,
    PreFilterExtensions,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
)
from bayplan.framework.preemption.what_if import WhatIfNode
from bayplan.framework.results import PreFilterResult, Verdicts
from bayplan.framework.snapshot import NodeTable
from bayplan.framework.status import SUCCESS, Status, as_status
from bayplan.objects.pod import Pod
from bayplan.testing.builders import PodBuilder
from bayplan.testing.generating import random_cluster, random_node, random_pod
from bayplan.testing.harness import built_pod, rows_of

__all__ = [
    "assert_forms_agree",
    "codes_as_statuses",
    "prepared_for_filter",
    "prepared_for_score",
    "random_cluster",
    "random_node",
    "random_pod",
]


def assert_forms_agree(plugin: Plugin, pods: Iterable[Pod | PodBuilder], cache: ClusterCache) -> None:
    """Raise with the plugin, the pod and the node where the all-nodes and the one-node form differ."""
    for each in pods:
        pod = built_pod(each)
        if isinstance(plugin, FilterPlugin):
            _filters_agree(plugin, pod, cache)
        if isinstance(plugin, ScorePlugin):
            _scores_agree(plugin, pod, cache)


def prepared_for_filter(plugin: FilterPlugin, pod: Pod, nodes: NodeTable) -> CycleState | None:
    """The state after PreFilter, or None if the plugin's filter is not asked about this pod."""
    state = CycleState()
    if isinstance(plugin, PreFilterPlugin):
        answer = plugin.pre_filter(state, pod, nodes)
        if not isinstance(answer, PreFilterResult) and not as_status(answer).is_success:
            return None
    return state


def prepared_for_score(plugin: ScorePlugin, pod: Pod, cache: ClusterCache) -> CycleState | None:
    """The state after PreScore over all nodes, or None if the plugin does not score this pod."""
    state = CycleState()
    if isinstance(plugin, PreFilterPlugin):
        plugin.pre_filter(state, pod, cache.nodes)
    if isinstance(plugin, PreScorePlugin):
        said = as_status(plugin.pre_score(state, pod, cache.nodes, rows_of(cache)))
        return state if said.is_success else None
    return state


def codes_as_statuses(plugin: FilterPlugin, state: CycleState, pod: Pod, nodes: NodeTable) -> list[Status]:
    """What the all-nodes form says, row by row."""
    answer = plugin.filter(state, pod, nodes)
    if isinstance(answer, Verdicts):
        return [as_status(answer.statuses[int(code) - 1]) if code else SUCCESS for code in answer.codes]
    return [as_status(plugin.reasons[int(code) - 1]) if code else SUCCESS for code in answer]


def _filters_agree(plugin: FilterPlugin, pod: Pod, cache: ClusterCache) -> None:
    nodes = cache.nodes
    state = prepared_for_filter(plugin, pod, nodes)
    if state is None:
        return
    for row, of_all in enumerate(codes_as_statuses(plugin, state, pod, nodes)):
        node = nodes.node(row)
        _same(plugin, pod, node.name, of_all, as_status(plugin.filter_node(state, pod, node)))
        _same(plugin, pod, node.name, of_all, codes_as_statuses(plugin, state, pod, node.as_table())[0])
        _imagined_agree(plugin, state, pod, WhatIfNode(node))


def _imagined_agree(plugin: FilterPlugin, before: CycleState, pod: Pod, node: WhatIfNode) -> None:
    """Take the pods off a node one by one; both forms must see the same node each time."""
    state = before.clone()
    for other in list(node.pods):
        node.remove_pod(other)
        if isinstance(plugin, PreFilterExtensions):
            plugin.remove_pod(state, pod, other, node)
        of_all = codes_as_statuses(plugin, state, pod, node.as_table())[0]
        where = f"{node.name} without {other.key}"
        _same(plugin, pod, where, of_all, as_status(plugin.filter_node(state, pod, node)))


def _scores_agree(plugin: ScorePlugin, pod: Pod, cache: ClusterCache) -> None:
    state = prepared_for_score(plugin, pod, cache)
    if state is None:
        return
    for row, of_all in enumerate(plugin.score(state, pod, cache.nodes)):
        node = cache.nodes.node(row)
        _same(plugin, pod, node.name, int(of_all), plugin.score_node(state, pod, node))


def _same(plugin: Plugin, pod: Pod, where: str, of_all: object, of_one: object) -> None:
    if of_all != of_one:
        raise AssertionError(
            f"{plugin.name} on {where} for pod {pod.key}: all nodes say {of_all}, one node says {of_one}"
        )
