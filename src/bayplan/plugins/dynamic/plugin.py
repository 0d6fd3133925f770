"""
Dynamic: nodes by their real load, as Crane's plugin of that name judges it.

The annotator writes each node's load (``cpu_usage_avg_5m`` and the like) and its hot value as annotations.  A node
whose load is above a limit of the policy is refused, DaemonSet pods excepted; the less a node uses, the better it
scores.  What is not known or too old keeps no pod away and earns no points.  By argument, pods that the load does not
show yet and the pod itself are counted too (``estimate``), and percentiles are read in the place of averages.

Extension points: Filter, Score.
Requeue: a node was added or its annotations changed so that its load is no longer too high; a pod left, with estimates.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

import structlog

from bayplan.framework import (
    Change,
    Codes,
    CycleState,
    FilterPlugin,
    Handle,
    NodeTable,
    NodeView,
    On,
    ScorePlugin,
    Scores,
    Verdict,
    Verdicts,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.third_party.crane_annotations import time_zone
from bayplan.plugins.dynamic import text
from bayplan.plugins.dynamic.args import DynamicArgs
from bayplan.plugins.dynamic.estimating import Estimates, Shares
from bayplan.plugins.dynamic.judging import Judge
from bayplan.plugins.dynamic.policy_file import PolicyFile
from bayplan.plugins.dynamic.reading import Loads

log = structlog.get_logger(__name__)

COUNT_EVERY_S = 10.0
"""How often nodes without a known load are counted for the metrics."""


class Dynamic(FilterPlugin, ScorePlugin):
    """Nodes by their real load, as Crane's plugin of that name judges it."""

    name = "Dynamic"
    Args = DynamicArgs
    default_weight = 3

    def __init__(self, args: Any = None, handle: Handle | None = None) -> None:
        super().__init__(args, handle)
        settings = cast(DynamicArgs, args or DynamicArgs())
        self._now: Callable[[], float] = handle.clock.now if handle is not None else lambda: 0.0
        self._loads = Loads(time_zone(settings.time_zone), settings.time_zone, settings.percentiles)
        self._file = PolicyFile(settings.policy_config_path, self._now)
        self._settings = settings
        self._judge = self._made_judge()
        self._estimates: Estimates | None = None
        if settings.estimate is not None:
            self._estimates = Estimates(settings.estimate, self._loads, self._file.policy, self._now)
        self._counted_at = float("-inf")
        self._unknown: dict[str, int] = {}
        self._ahead: dict[str, int] = {}

    # It promises nothing: what was known a minute ago may be too old now, so no answer is kept.

    def requeue_on(self) -> tuple[On, ...]:
        node = On("Node", Change.ADDED | Change.ANNOTATION, self._is_cooler)
        return (node,) if self._estimates is None else (node, On("Pod", Change.DELETED, _left_a_node))

    # -- one node --

    def filter_node(self, state: CycleState, pod: Pod, node: NodeView) -> Verdict:
        if _is_daemon(pod):
            return None
        judge = self.judge()
        found = judge.too_high(node.object, self._expected_on(node, pod), self._now())
        return None if found is None else judge.status(node.name, found)

    def score_node(self, state: CycleState, pod: Pod, node: NodeView) -> int:
        return self.judge().score(node, self._expected_on(node, pod), self._now())

    # -- all nodes --

    def filter(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Codes | Verdicts:
        judge, now = self.judge(), self._now()
        self._count_unknown(judge, nodes, now)
        if _is_daemon(pod):
            return Verdicts(judge.nothing(nodes), ())
        return judge.verdicts(nodes, self._expected(nodes, pod), now)

    def score(self, state: CycleState, pod: Pod, nodes: NodeTable) -> Scores:
        return self.judge().scores(nodes, self._expected(nodes, pod), self._now())

    # -- for people, and for the simulated annotator --

    def tell(self, pod: Pod, node: NodeView) -> Sequence[str]:
        expected = self._expected_on(node, pod)
        return text.lines(self.judge(), self._estimates, expected, pod, node, self._now())

    def judge(self) -> Judge:
        """The rules of the policy as it is now."""
        if self._file.policy() is not self._judge.policy:
            self._judge = self._made_judge()
        return self._judge

    # -- private --

    def _made_judge(self) -> Judge:
        return Judge(self._file.policy(), self._loads, self._settings.reason_numbers, self._settings.fresh_first)

    def _expected(self, nodes: NodeTable, pod: Pod) -> Shares | None:
        return None if self._estimates is None else self._estimates.of_all(nodes, pod)

    def _expected_on(self, node: NodeView, pod: Pod) -> Shares | None:
        return None if self._estimates is None else self._estimates.of_one(node, pod)

    def _is_cooler(self, pod: Pod, old: Node | None, new: Node) -> bool:
        """The node would pass now, and could not before; with estimates every new measurement may have room."""
        judge, now = self.judge(), self._now()
        if not _is_daemon(pod) and judge.too_high(new, None, now) is not None:
            return False
        if old is None:
            return True
        if self._estimates is not None:
            return any(old.annotations.get(rule.name) != new.annotations.get(rule.name) for rule in judge.limits)
        # Whatever its age now: the pod may have been refused when the value was new.
        return judge.too_high(old, None, None) is not None

    def _count_unknown(self, judge: Judge, nodes: NodeTable, now: float) -> None:
        """A load that is not known keeps no pod away, so people must be able to see it."""
        if 0 <= now - self._counted_at < COUNT_EVERY_S or len(nodes) < nodes.total_nodes:
            return
        self._counted_at = now
        unknown, ahead = judge.unknown_nodes(nodes, now), judge.nodes_ahead(nodes, now)
        if unknown != self._unknown:
            self._unknown = unknown
            if any(unknown.values()):
                log.warning("loads are not known or not to go by; these nodes are not judged", nodes=unknown)
            self._gauge("bayplan_load_unknown_nodes", unknown)
        if ahead != self._ahead:
            self._ahead = ahead
            if any(ahead.values()):
                log.warning(
                    "loads are dated in the future and do not count; set timeZone if their writer uses another one",
                    nodes=ahead, time_zone=self._settings.time_zone,
                )  # fmt: skip
            self._gauge("bayplan_load_ahead_nodes", ahead)

    def _gauge(self, name: str, counts: dict[str, int]) -> None:
        if self.handle is not None:
            for metric, count in counts.items():
                self.handle.metrics.gauge(name, count, metric=metric)


def _is_daemon(pod: Pod) -> bool:
    return any(owner.kind == "DaemonSet" for owner in pod.metadata.owner_references or ())


def _left_a_node(pod: Pod, old: Pod, new: Pod | None) -> bool:
    return bool(old.node_name)
