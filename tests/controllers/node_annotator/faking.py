"""A cluster and a Prometheus that the annotator can be run against in virtual time."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field

from bayplan.clock import VirtualClock
from bayplan.controllers.node_annotator.controller import NodeAnnotator
from bayplan.controllers.node_annotator.queries import Answer, Sample
from bayplan.errors import MetricsError
from bayplan.objects.third_party import crane_annotations
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy, published_policy
from bayplan.simulator.clock_loop import run

START = 1_800_000_000.0


@dataclass
class FakePrometheus:
    """Knows every node by its address and answers with what it is told to."""

    clock: VirtualClock
    loads: dict[str, float] = field(default_factory=dict)
    """Percent, by instance."""
    is_down: bool = False
    slow: set[str] = field(default_factory=set)
    """Metrics that take ten seconds and then fail."""
    queries: list[tuple[float, str]] = field(default_factory=list)

    async def query(self, expression: str) -> Answer:
        self.queries.append((self.clock.now(), expression))
        if expression in self.slow:
            await asyncio.sleep(10)
            raise MetricsError("no answer within 10 s")
        await asyncio.sleep(0.05)
        if self.is_down:
            raise MetricsError("connection refused")
        return Answer([Sample({"instance": instance}, value) for instance, value in self.loads.items()])


class Numbers:
    """Keeps what is counted."""

    def __init__(self) -> None:
        self.counters: Counter[tuple[str, ...]] = Counter()
        self.gauges: dict[tuple[str, ...], float] = {}

    def counter(self, name: str, value: float = 1, /, **labels: str) -> None:
        self.counters[name.removeprefix("bayplan_annotator_"), *labels.values()] += int(value)

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        self.gauges[name.removeprefix("bayplan_annotator_"), *labels.values()] = value

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        assert seconds >= 0


class World:
    """Nodes with annotations, and the annotator that writes them."""

    def __init__(self, nodes: int = 3, policy: DynamicSchedulerPolicy | None = None, qps: float = 50.0) -> None:
        self.clock = VirtualClock(START)
        self.prometheus = FakePrometheus(self.clock)
        self.numbers = Numbers()
        self.names = [f"node-{number}" for number in range(nodes)]
        self.shown: dict[str, dict[str, str]] = {name: {} for name in self.names}
        self.patches: list[tuple[float, str, dict[str, str]]] = []
        self.refusal: Callable[[str], Exception | None] = lambda name: None
        self._policy = policy or published_policy()
        self._qps = qps

    def address(self, name: str) -> str:
        number = int(name.rpartition("-")[2])
        return f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"

    def load(self, name: str, percent: float) -> None:
        self.prometheus.loads[f"{self.address(name)}:9100"] = percent

    async def write(self, name: str, annotations: Mapping[str, str]) -> None:
        await asyncio.sleep(0.01)
        error = self.refusal(name)
        if error is not None:
            raise error
        self.patches.append((self.clock.now(), name, dict(annotations)))
        self.shown[name].update(annotations)
        self.annotator.put_node(name, [self.address(name)], self.shown[name])

    def age(self, name: str, metric: str) -> float:
        reading = crane_annotations.read(self.shown[name].get(metric))
        return float("inf") if reading is None else self.clock.now() - reading.at

    def value(self, name: str, metric: str) -> float | None:
        reading = crane_annotations.read(self.shown[name].get(metric))
        return None if reading is None else reading.value

    def play(self, story: Callable[[], Awaitable[None]]) -> None:
        """Run the annotator for as long as the story lasts."""

        async def main() -> None:
            self.annotator = NodeAnnotator(
                self._policy,
                self.prometheus,
                self.write,
                clock=self.clock,
                metrics=self.numbers,
                qps=self._qps,
                burst=round(2 * self._qps),
            )
            for name in self.names:
                self.annotator.put_node(name, [self.address(name)], self.shown[name])
            running = asyncio.ensure_future(self.annotator.run())
            await story()
            assert not running.done(), running
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
            await self.annotator.close(1.0)

        run(main(), self.clock)
