"""
The controller of spare capacity, live: informers before ``controllers.spare_capacity.decide``, API calls behind it.

Part of the annotator's process (``bayplan annotator --spare-capacity``): the loads it goes by are the annotations that
are written there.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

import structlog

from bayplan.app.shell.metrics import Declared
from bayplan.clock import Clock
from bayplan.controllers.node_annotator.token_bucket import TokenBucket
from bayplan.controllers.spare_capacity.deciding import Eviction, Memory, Plan, decide
from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.errors import ApiError, EvictionRefusedError, TransportError
from bayplan.framework.ports import MetricSink
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S, Informer
from bayplan.kube.recorder import Recorder
from bayplan.kube.writer import ApiWriter
from bayplan.objects.kinds import Kind, find
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.spare import LEDGER, Ledger

log = structlog.get_logger(__name__)

LOOK_EVERY_S = 15.0
WRITES_AT_ONCE = 16
TICK_S = 0.001
MAX_NODE_EVENTS = 20
"""When Prometheus dies every node closes: the first of them get an event, the metrics count all."""
REPORTER = "bayplan-annotator"

COUNTERS = {"bayplan_spare_evictions_total": Declared("Evictions of spare pods, by result.", ("result",))}
GAUGES = {"bayplan_spare_nodes": Declared("Nodes by the state of their spare capacity.", ("state",))}


class LiveSpareCapacity:
    """Keeps the ledgers of a cluster."""

    def __init__(
        self,
        client: Client,
        clock: Clock,
        metrics: MetricSink,
        check_lead: Callable[[], None],
        *,
        settings: SpareSettings | None = None,
        silence_s: float = SILENCE_S,
        look_every_s: float = LOOK_EVERY_S,
        qps: float = 50.0,
        burst: int = 100,
    ) -> None:
        self._clock = clock
        self._metrics = metrics
        self._settings = settings or SpareSettings()
        self._look_every_s = look_every_s
        self._writer = ApiWriter(client, check_lead)
        self._recorder = Recorder(client, clock)
        self._nodes: dict[str, Node] = {}
        self._pods: dict[str, dict[str, Pod]] = {}
        self._memory = Memory()
        self._slots = asyncio.Semaphore(WRITES_AT_ONCE)
        self._pace = TokenBucket(qps, burst)
        self.informers = (
            Informer[Node](
                client, _kind("Node"), added=self._put_node, changed=lambda _, node: self._put_node(node),
                deleted=lambda node: self._drop_node(node.name), silence_s=silence_s, essential=True,
            ),
            Informer[Pod](
                client, _kind("Pod"), added=self._put_pod, changed=self._change_pod, deleted=self._drop_pod,
                field_selector="status.phase!=Succeeded,status.phase!=Failed", silence_s=silence_s, essential=True,
            ),
        )  # fmt: skip

    async def run(self) -> None:
        """Until cancelled; the informers run beside it."""
        recording = asyncio.ensure_future(self._recorder.run())
        try:
            while True:
                await self.step()
                await asyncio.sleep(self._look_every_s)
        finally:
            recording.cancel()
            await asyncio.gather(recording, return_exceptions=True)

    async def step(self) -> Plan:
        """Look once at everything, and do what is to be done."""
        pods = {name: tuple(self._pods.get(name, {}).values()) for name in self._nodes}
        looked_at = [(node, pods[name]) for name, node in self._nodes.items()]
        plan = decide(looked_at, self._clock.now(), self._settings, self._memory)
        self._memory = plan.memory
        closed = len(plan.memory.closed)
        self._metrics.gauge("bayplan_spare_nodes", closed, state="closed")
        self._metrics.gauge("bayplan_spare_nodes", len(self._nodes) - closed, state="open")
        # A large cluster takes a while to write: nodes that are too busy go first, and wait for no other.
        busy = {eviction.pod.node_name for eviction in plan.evictions}
        await self._write_all({name: each for name, each in plan.ledgers.items() if name in busy})
        for eviction in plan.evictions:
            await self._evict(eviction)
        await self._write_all({name: each for name, each in plan.ledgers.items() if name not in busy})
        self._tell(plan)
        return plan

    # -- what comes and goes --

    def _put_node(self, node: Node) -> None:
        self._nodes[node.name] = node

    def _drop_node(self, name: str) -> None:
        self._nodes.pop(name, None)

    def _put_pod(self, pod: Pod) -> None:
        if pod.node_name:
            self._pods.setdefault(pod.node_name, {})[pod.uid] = pod

    def _change_pod(self, old: Pod, new: Pod) -> None:
        if old.uid != new.uid:
            self._drop_pod(old)
        self._put_pod(new)

    def _drop_pod(self, pod: Pod) -> None:
        there = self._pods.get(pod.node_name, {})
        there.pop(pod.uid, None)
        if not there:
            self._pods.pop(pod.node_name, None)

    # -- what is done --

    async def _write_all(self, ledgers: Mapping[str, Ledger]) -> None:
        await asyncio.gather(*(self._write(name, {LEDGER: each.as_text()}) for name, each in ledgers.items()))

    async def _write(self, name: str, annotations: Mapping[str, str]) -> None:
        async with self._slots:
            while wait := self._pace.wait_s(self._clock.now()):
                await asyncio.sleep(max(wait, TICK_S))
            self._pace.take(self._clock.now())
            try:
                await self._writer.patch("Node", "", name, {"metadata": {"annotations": dict(annotations)}})
            except (ApiError, TransportError) as error:
                # The next look finds the node as it is, and writes again.
                log.warning("ledger not written", node=name, error=str(error))

    async def _evict(self, eviction: Eviction) -> None:
        pod = eviction.pod
        try:
            await self._writer.evict(pod)
        except EvictionRefusedError as error:
            self._metrics.counter("bayplan_spare_evictions_total", result="refused")
            log.warning("spare pod not evicted", pod=pod.key, error=str(error))
            return
        except (ApiError, TransportError) as error:
            self._metrics.counter("bayplan_spare_evictions_total", result="error")
            log.warning("spare pod not evicted", pod=pod.key, error=str(error))
            return
        self._metrics.counter("bayplan_spare_evictions_total", result="evicted")
        note = f"Evicted from spare capacity: {eviction.because}"
        self._recorder.emit(pod, type="Warning", reason="SpareEvicted", action="Evicting", note=note, reporter=REPORTER)

    def _tell(self, plan: Plan) -> None:
        self._tell_nodes(plan.closed, "Warning", "SpareCapacityClosed", "the node's load is not known or too old")
        self._tell_nodes(plan.opened, "Normal", "SpareCapacityOpen", "the node's load is known again")

    def _tell_nodes(self, names: Sequence[str], type: str, reason: str, note: str) -> None:
        if names:
            log.info(note, reason=reason, nodes=len(names), first=names[0])
        there = [node for name in names if (node := self._nodes.get(name)) is not None]
        for node in there[:MAX_NODE_EVENTS]:
            self._recorder.emit(
                node, type=type, reason=reason, action="KeepingSpareCapacity", note=note, reporter=REPORTER
            )


def _kind(name: str) -> Kind:
    kind = find("v1", name)
    assert kind is not None
    return kind
