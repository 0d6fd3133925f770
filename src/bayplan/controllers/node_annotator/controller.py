"""The annotator's two loops: ask for every metric now and then, and write to the nodes whose turn it is.

`app.annotator.live` runs it with Prometheus and the API server behind it; anything with the same two ports will do. It
is told of nodes and of Scheduled events by callbacks. A source that fails, hangs or knows only some nodes never stops
the writing of what is known: a value that is not renewed grows old where it is, and its readers can see that.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress

import structlog

from bayplan.clock import Clock, wait_at_most
from bayplan.controllers.node_annotator import annotator_metrics
from bayplan.controllers.node_annotator.hot_values import Bindings
from bayplan.controllers.node_annotator.node_index import NodeIndex
from bayplan.controllers.node_annotator.queries import MetricSource
from bayplan.controllers.node_annotator.readings import Reading
from bayplan.controllers.node_annotator.sync_plan import NEVER, SyncPlan
from bayplan.controllers.node_annotator.token_bucket import TokenBucket
from bayplan.errors import ApiError, BayplanError, MetricsError, NotFoundError, TooManyRequestsError, TransportError
from bayplan.framework.ports import MetricSink
from bayplan.objects.third_party import crane_annotations
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy
from bayplan.objects.third_party.crane_annotations import HOT_VALUE, HOT_VALUE_LIFETIME_S

log = structlog.get_logger()

WriteAnnotations = Callable[[str, Mapping[str, str]], Awaitable[None]]
"""Write annotations to a node; raises ``ApiError`` or ``TransportError``."""

MAX_WRITING = 16
# A node that gets one pod after the other is not written to for each of them.
HOT_STEP_S = 10.0
HOT_DELAY_S = 1.0
RETRY_S = 5.0
# A node without a new value is looked at again this long after the next query.
NEWS_S = 1.0
COMPLAIN_S = 60.0
FORGET_S = 60.0
# This many nodes without a new value are passed over before other tasks get their turn.
_BATCH = 200
# Timers may fire a little before their time; a wait must not be so short that nothing has changed after it.
_TICK_S = 0.001
# So long the first writes wait for the first answers, to hold all metrics at once.
FIRST_ANSWERS_S = 2.0


class NodeAnnotator:
    """Keeps the annotations of all nodes up to date."""

    def __init__(
        self,
        policy: DynamicSchedulerPolicy,
        source: MetricSource,
        write: WriteAnnotations,
        *,
        clock: Clock,
        metrics: MetricSink,
        qps: float = 50.0,
        burst: int = 100,
    ) -> None:
        self._source = source
        self._write = write
        self._clock = clock
        self._metrics = metrics
        self._pace = TokenBucket(qps, burst)
        self._slots = asyncio.Semaphore(MAX_WRITING)
        self._index = NodeIndex()
        self._annotations: dict[str, Mapping[str, str]] = {}
        self._hot: dict[str, tuple[int, float]] = {}
        """Each node's hot value as it was written last, and when."""
        self._woken = asyncio.Event()
        self._reloaded = asyncio.Event()
        self._writing: set[asyncio.Task[None]] = set()
        self._complained: dict[str, float] = {}
        self._bindings = Bindings()
        self._take(policy)

    # -- what is told --

    def use(self, policy: DynamicSchedulerPolicy) -> None:
        """Go by another policy from now on."""
        self._take(policy)
        self._reloaded.set()
        self._woken.set()

    def put_node(self, name: str, addresses: Sequence[str], annotations: Mapping[str, str]) -> None:
        """A node is there or has changed."""
        self._index.put(name, addresses)
        wanted = (*self._readings, HOT_VALUE)
        kept = {key: annotations[key] for key in wanted if key in annotations}
        if name not in self._annotations or self._annotations[name] != kept:
            self._annotations[name] = kept
            self._observe(name, kept)

    def drop_node(self, name: str) -> None:
        self._index.drop(name)
        self._plan.drop(name)
        self._bindings.drop(name)
        self._annotations.pop(name, None)
        self._hot.pop(name, None)

    def bound(self, node: str, at: float) -> None:
        """A scheduler gave a pod to a node."""
        now = self._clock.now()
        if not self._bindings.record(node, at, now):
            return
        value, written_at = self._hot.get(node, (0, float("-inf")))
        if self._bindings.hot_value(node, now) != value:
            self._plan.warm(node, max(now + HOT_DELAY_S, written_at + HOT_STEP_S))
            self._woken.set()

    def publish(self) -> None:
        """Bring the gauges up to date."""
        now = self._clock.now()
        annotator_metrics.publish(self._metrics, self._readings.values(), self._plan, list(self._annotations), now)
        self._metrics.gauge("bayplan_annotator_bindings", len(self._bindings))

    # -- running --

    async def run(self) -> None:
        """Until cancelled."""
        async with asyncio.TaskGroup() as group:
            group.create_task(self._ask_all())
            group.create_task(self._write_all())
            group.create_task(self._forget())

    async def close(self, timeout_s: float) -> None:
        """Let the writes under way end."""
        if self._writing:
            _, left = await asyncio.wait(self._writing, timeout=timeout_s)
            for task in left:
                task.cancel()

    async def _forget(self) -> None:
        while True:
            await asyncio.sleep(FORGET_S)
            self._bindings.forget(self._clock.now())

    # -- asking --

    async def _ask_all(self) -> None:
        """One task for each metric of the policy, so that a slow one holds up no other; anew with every policy."""
        while True:
            self._reloaded.clear()
            asking = [asyncio.ensure_future(self._ask(reading)) for reading in self._readings.values()]
            try:
                await self._reloaded.wait()
            finally:
                for task in asking:
                    task.cancel()
                await asyncio.gather(*asking, return_exceptions=True)

    async def _ask(self, reading: Reading) -> None:
        while True:
            at = self._clock.now()
            try:
                answer = await self._source.query(reading.metric)
            except MetricsError as error:
                reading.fail(str(error))
                self._metrics.counter("bayplan_annotator_queries_total", metric=reading.metric, result="error")
                self._complain("metric not read", "query", error, metric=reading.metric)
                self._woken.set()
            else:
                # Annotations hold whole seconds; what is read back must be what was written.
                reading.succeed(self._index.loads(answer.samples), float(int(at)))
                self._metrics.counter("bayplan_annotator_queries_total", metric=reading.metric, result="success")
                for warning in answer.warnings:
                    self._complain("metric read with a warning", warning, warning, metric=reading.metric)
                if self._annotations and not reading.loads.by_node:
                    self._complain(
                        "metric of no node", reading.metric, annotator_metrics.advice(reading), metric=reading.metric
                    )
                self._woken.set()
            took = self._clock.now() - at
            self._metrics.observe("bayplan_annotator_query_duration_seconds", took, metric=reading.metric)
            pause = max(0.0, reading.pause_s - took)
            reading.next_at = at + took + pause
            await asyncio.sleep(pause)

    # -- writing --

    async def _write_all(self) -> None:
        await self._first_answers()
        passed = 0
        while True:
            now = self._clock.now()
            if wait := self._pace.wait_s(now):
                await asyncio.sleep(max(wait, _TICK_S))
                continue
            name = self._plan.pop(now)
            if name is None:
                await self._wait(self._plan.next_at() - now)
                continue
            values, stamps = self._changes(name, now)
            if not values:
                self._plan.settle(name, self._next_hot(name, now))
                passed += 1
                if passed % _BATCH == 0:
                    await asyncio.sleep(0)
                continue
            self._pace.take(now)
            await self._slots.acquire()
            task = asyncio.ensure_future(self._write_one(name, values, stamps))
            self._writing.add(task)
            task.add_done_callback(self._writing.discard)

    async def _first_answers(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(FIRST_ANSWERS_S):
                while any(reading.is_awaited for reading in self._readings.values()):
                    self._woken.clear()
                    await self._woken.wait()

    async def _wait(self, seconds: float) -> None:
        self._woken.clear()
        await wait_at_most(self._woken, max(seconds, _TICK_S))

    def _changes(self, name: str, now: float) -> tuple[dict[str, str], dict[str, float]]:
        """The annotations to write, and when the loads among them were taken."""
        values: dict[str, str] = {}
        stamps: dict[str, float] = {}
        for metric in self._plan.due_metrics(name, now):
            reading = self._readings[metric]
            load = reading.value(name, self._plan.last_written(name, metric))
            if load is None:
                self._plan.postpone(name, metric, max(now, reading.next_at) + NEWS_S)
            else:
                values[metric] = crane_annotations.format_load(load, reading.at)
                stamps[metric] = reading.at
        hot = self._bindings.hot_value(name, now)
        written, written_at = self._hot.get(name, (0, float("-inf")))
        if values or hot != written or (hot and now - written_at >= HOT_VALUE_LIFETIME_S / 2):
            values[HOT_VALUE] = crane_annotations.format_hot_value(hot, now)
        return values, stamps

    def _next_hot(self, name: str, now: float) -> float:
        """When the hot value must be written again, though no pod comes."""
        value, written_at = self._hot.get(name, (0, now))
        cools_at = self._bindings.next_change(name, now)
        turns = [written_at + HOT_VALUE_LIFETIME_S / 2] if value else []
        turns += [cools_at] if cools_at is not None else []
        if self._bindings.hot_value(name, now) != value:
            turns.append(written_at + HOT_STEP_S)
        return max(min(turns), now + HOT_DELAY_S) if turns else NEVER

    async def _write_one(self, name: str, values: Mapping[str, str], stamps: Mapping[str, float]) -> None:
        try:
            await self._write(name, values)
        except NotFoundError:
            self._plan.drop(name)  # its informer will say so, too
            self._count("gone")
        except BayplanError as error:
            self._failed(name, error)
        else:
            now = self._clock.now()
            self._plan.wrote(name, stamps, now)
            if name in self._annotations:
                self._hot[name] = int(values[HOT_VALUE].partition(",")[0]), now
            self._plan.settle(name, self._next_hot(name, now))
            self._count("success")
        finally:
            self._slots.release()
            self._woken.set()

    def _failed(self, name: str, error: BayplanError) -> None:
        now = self._clock.now()
        wait = RETRY_S
        if isinstance(error, TooManyRequestsError) and error.retry_after_s:
            wait = error.retry_after_s
            self._pace.pause(now + wait)
        self._plan.retry(name, now + wait)
        self._count("error")
        if isinstance(error, ApiError | TransportError):
            self._complain("node not written", "write", error, node=name)

    # -- inside --

    def _take(self, policy: DynamicSchedulerPolicy) -> None:
        self._readings = {rule.name: Reading(rule.name, rule.period_s) for rule in policy.sync_policy}
        self._plan = SyncPlan(policy.periods)
        self._bindings.use(policy.hot_value)
        for name, shown in self._annotations.items():
            self._observe(name, shown)

    def _observe(self, name: str, annotations: Mapping[str, str]) -> None:
        now = self._clock.now()
        read = {key: crane_annotations.read(text) for key, text in annotations.items()}
        self._plan.observe(name, {key: each.at for key, each in read.items() if each is not None}, now)
        hot = read.get(HOT_VALUE)
        known = self._hot.get(name)
        if hot is not None and hot.at <= now and (known is None or hot.at > known[1]):
            self._hot[name] = int(hot.value) if hot.value < 1e9 else 0, hot.at
        if self._hot.get(name, (0, 0.0))[0] or self._bindings.hot_value(name, now):
            self._plan.warm(name, self._next_hot(name, now))
        self._woken.set()

    def _count(self, result: str) -> None:
        self._metrics.counter("bayplan_annotator_patches_total", result=result)

    def _complain(self, text: str, about: str, error: object, **fields: str) -> None:
        """Once a minute for each kind of trouble."""
        now = self._clock.now()
        if now - self._complained.get(about, float("-inf")) >= COMPLAIN_S:
            self._complained[about] = now
            log.warning(text, error=str(error), **fields)
