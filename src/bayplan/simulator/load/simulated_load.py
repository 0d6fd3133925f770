"""
The load of a simulated cluster: what pods use by their profiles, measured, written to nodes, and acted upon.

Stands where node exporters, Prometheus, the annotator and the controller of spare capacity stand in life.  Every 30
seconds of virtual time all nodes are sampled; the metrics of the policy are written to nodes when they are due.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from msgspec.structs import replace

from bayplan.controllers.node_annotator.hot_values import Bindings
from bayplan.controllers.spare_capacity.deciding import Memory, decide
from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.engine.events import NodeChanged
from bayplan.errors import EvictionRefusedError
from bayplan.objects.load_estimate import Use
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.spare import LEDGER
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy
from bayplan.objects.third_party.crane_annotations import HOT_VALUE, format_hot_value, format_load
from bayplan.simulator.cluster import SimulatedCluster
from bayplan.simulator.load.usage_history import SAMPLE_EVERY_S, Fractions, UsageHistory, parse_metric
from bayplan.simulator.load.usage_profiles import profile_of, profile_of_pod


@dataclass(frozen=True, slots=True)
class LoadOptions:
    """How the load is simulated.  ``outages``: from and to, in seconds after the start, while nothing is measured."""

    outages: Sequence[tuple[float, float]] = ()
    spare: SpareSettings = field(default_factory=SpareSettings)


class SimulatedLoad:
    """A ``Timetable``: real use, over time."""

    is_endless = True

    def __init__(
        self,
        cluster: SimulatedCluster,
        nodes: Iterable[Node],
        started_at: float,
        policy: Callable[[], DynamicSchedulerPolicy] | None,
        options: LoadOptions,
        *,
        keeps_ledgers: bool,
    ) -> None:
        self._cluster = cluster
        self.nodes = {node.name: node for node in nodes}
        """As they are now, with what is written to them."""
        self.started_at = started_at
        self._policy = policy
        self._options = options
        self._keeps_ledgers = keeps_ledgers
        self._memory = Memory()
        self._bindings = Bindings()
        self._counted: set[str] = set()
        self._gone: set[str] = set()
        self._synced: dict[str, float] = {}
        self._next_at = started_at + SAMPLE_EVERY_S
        self._rows = {name: row for row, name in enumerate(self.nodes)}
        self._size = np.array(
            [[each.allocatable.cpu_milli, each.allocatable.memory_bytes] for each in self.nodes.values()], np.float64
        ).reshape(-1, 2)
        self.history = UsageHistory(started_at, self._sample(started_at))
        self.requested: list[Fractions] = [self._requests()]
        self.notes: list[tuple[float, str]] = []
        """What the controller of spare capacity would tell people, with seconds after the start."""

    def next_at(self) -> float | None:
        return self._next_at

    async def begin(self) -> None:
        """What was there before the simulation has been measured, too."""
        await self._measure(self.started_at)

    async def happen(self, now: float) -> None:
        self._next_at = now + SAMPLE_EVERY_S
        self.history.add(now, self._sample(now))
        self.requested.append(self._requests())
        await self._measure(now)

    # -- real use --

    def _sample(self, now: float) -> Fractions:
        used = np.zeros((len(self._rows), 2))
        for name, node in self.nodes.items():
            profile = profile_of(node)
            if profile is not None:
                used[self._rows[name]] += profile.at(now - self.started_at)
        for pod in self._on_nodes():
            used[self._rows[pod.node_name]] += self._use(pod, now)
        return self._shares(used)

    def _use(self, pod: Pod, now: float) -> Use:
        started = pod.start_time
        return profile_of_pod(pod).at(now - (self.started_at if started is None else started))

    def _requests(self) -> Fractions:
        asked = np.zeros((len(self._rows), 2))
        for pod in self._on_nodes():
            asked[self._rows[pod.node_name]] += (pod.requests.cpu_milli, pod.requests.memory_bytes)
        return self._shares(asked)

    def _shares(self, amounts: Fractions) -> Fractions:
        return np.divide(amounts, self._size, out=np.zeros_like(amounts), where=self._size > 0)

    def _on_nodes(self) -> Iterable[Pod]:
        for record in self._cluster.records.values():
            if not record.is_gone and record.pod.node_name in self._rows and not record.pod.is_terminal:
                yield record.pod

    # -- what is made of it --

    async def _measure(self, now: float) -> None:
        elapsed = now - self.started_at
        is_down = any(start <= elapsed < end for start, end in self._options.outages)
        if self._policy is not None and not is_down:
            self._sync(self._policy(), now)
        if self._keeps_ledgers:
            await self._keep_ledgers(now)

    def _sync(self, policy: DynamicSchedulerPolicy, now: float) -> None:
        """Write the metrics that are due, and with them the hot values."""
        self._bindings.use(policy.hot_value)
        self._count_bindings(now)
        written: dict[str, dict[str, str]] = {}
        for rule in policy.sync_policy:
            metric = parse_metric(rule.name)
            if metric is None or now < self._synced.get(rule.name, -np.inf) + rule.period_s - 1e-3:
                continue
            self._synced[rule.name] = now
            for name, value in zip(self.nodes, self.history.value(metric, now).tolist(), strict=True):
                written.setdefault(name, {})[rule.name] = format_load(value, now)
        for name, values in written.items():
            if policy.hot_value:
                values[HOT_VALUE] = format_hot_value(self._bindings.hot_value(name, now), now)
            self._annotate(name, values)

    def _count_bindings(self, now: float) -> None:
        for uid, record in self._cluster.records.items():
            if record.bound_at is not None and uid not in self._counted:
                self._counted.add(uid)
                self._bindings.record(record.pod.node_name, self.started_at + record.bound_at, now)
        self._bindings.forget(now)

    async def _keep_ledgers(self, now: float) -> None:
        pods: dict[str, list[Pod]] = {name: [] for name in self.nodes}
        for pod in self._on_nodes():
            pods[pod.node_name].append(pod)
        plan = decide(((node, pods[name]) for name, node in self.nodes.items()), now, self._options.spare, self._memory)
        self._memory = plan.memory
        for name, ledger in plan.ledgers.items():
            self._annotate(name, {LEDGER: ledger.as_text()})
        for eviction in plan.evictions:
            self._cluster.records[eviction.pod.uid].message = f"evicted: {eviction.because}"
            try:
                await self._cluster.evict(eviction.pod)
            except EvictionRefusedError as error:
                self.notes.append((now - self.started_at, f"{eviction.pod.key} is not evicted: {error}"))
        elapsed = now - self.started_at
        self.notes += [(elapsed, f"spare capacity of {name} closed: its load is not known") for name in plan.closed]
        self.notes += [(elapsed, f"spare capacity of {name} open again") for name in plan.opened]

    def node_changed(self, name: str, node: Node | None) -> None:
        """A node says something else or is gone; what is written to it stays there."""
        if name in self.nodes and node is not None:
            annotations = {**self.nodes[name].annotations, **node.annotations}
            self.nodes[name] = node.evolve(metadata=replace(node.metadata, annotations=annotations))
        (self._gone.add if node is None else self._gone.discard)(name)

    def _annotate(self, name: str, values: dict[str, str]) -> None:
        if name in self._gone:
            return
        old = self.nodes[name]
        new = old.evolve(metadata=replace(old.metadata, annotations={**old.annotations, **values}))
        self.nodes[name] = new
        self._cluster.revision += 1
        self._cluster.events.append(NodeChanged(old, new))
