"""
Making room for a pod: its victims are told why, then deleted; lower pods lose their claim on the node.

``app.scheduler.executor`` calls it for every ``Evict`` intent.
"""

from __future__ import annotations

import asyncio
import time

import structlog

from bayplan.clock import Clock
from bayplan.engine.events import PreemptionDone
from bayplan.engine.intents import Evict
from bayplan.engine.waiting_pods import WaitingPods
from bayplan.errors import BayplanError, ConflictError, NotFoundError
from bayplan.framework.ports import ClusterWriter, MetricSink
from bayplan.kube.recorder import Recorder
from bayplan.objects.pod import Pod
from bayplan.objects.times import format_time

log = structlog.get_logger()

# A preemption that failed is tried again at once by the engine; where it is refused, that would never end.
PAUSE_S = 1.0


class Evictions:
    """Carries out preemptions, one call each."""

    def __init__(
        self,
        writer: ClusterWriter,
        recorder: Recorder,
        waiting: WaitingPods,
        metrics: MetricSink,
        clock: Clock,
    ) -> None:
        self._writer = writer
        self._recorder = recorder
        self._waiting = waiting
        self._metrics = metrics
        self._clock = clock

    async def carry_out(self, evict: Evict) -> PreemptionDone:
        """To its end, whatever happens: until it is over the preemptor is held back."""
        started = time.perf_counter()
        try:
            await self._unnominate(evict)
            await self._victims(evict)
            failed = False
        except Exception as error:
            failed = True
            expected = isinstance(error, BayplanError)
            log.warning("preemption failed", pod=evict.preemptor.key, error=str(error), exc_info=not expected)
        result = "error" if failed else "success"
        took = time.perf_counter() - started
        self._metrics.counter("preemption_goroutines_execution_total", result=result)
        self._metrics.observe("preemption_goroutines_duration_seconds", took, result=result)
        if failed:
            await asyncio.sleep(PAUSE_S)
        return PreemptionDone(evict.preemptor, failed)

    async def _unnominate(self, evict: Evict) -> None:
        """Not critical: a nomination that stays is only a pod that looks for a place later than it could."""
        for pod in evict.lose_nomination:
            try:
                await self._writer.patch_pod_status(pod, {"nominatedNodeName": None})
            except BayplanError as error:
                log.info("nomination not cleared", pod=pod.key, error=str(error))

    async def _victims(self, evict: Evict) -> None:
        """The last one goes last, so that all the others are gone when the event of its end comes."""
        if not evict.victims:
            return
        *first, last = evict.victims
        await asyncio.gather(*(self._one(evict, victim) for victim in first))
        await self._one(evict, last)

    async def _one(self, evict: Evict, victim: Pod) -> None:
        """Held by Permit: it is let go in memory.  Otherwise say why in its status, then delete it."""
        preemptor = evict.preemptor
        note = f"Preempted by pod {preemptor.uid} on node {evict.node_name}"
        held = self._waiting.get(victim.uid)
        if held is not None:
            held.preempt("DefaultPreemption", "preempted")
            note += " (in kube-scheduler memory)."
        else:
            try:
                await self._writer.patch_pod_status(victim, {"conditions": [self._condition(evict)]})
                await self._writer.delete_pod(victim)
            except (NotFoundError, ConflictError):
                return  # gone already
        self._recorder.emit(
            victim,
            type="Normal",
            reason="Preempted",
            action="Preempting",
            note=note,
            related=preemptor,
            reporter=evict.reporter,
        )

    def _condition(self, evict: Evict) -> dict[str, str]:
        return {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"{evict.reporter}: preempting to accommodate a higher priority pod",
            "lastTransitionTime": format_time(self._clock.now()),
        }
