"""Carrying out intents: what a status patch holds, in which order patches and binds of one pod go, and failures.

The engine is played by a stand-in that hands out binding cycles the test controls.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from bayplan.app.scheduler.executor import MAX_PATCHING, Executor, status_patch
from bayplan.clock import VirtualClock
from bayplan.engine.events import BindFailed, Bound, Event, PreemptionDone
from bayplan.engine.intents import Bind, Evict, Intent, PatchStatus
from bayplan.errors import ConflictError, NotFoundError, TransportError
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import QueuedPod
from bayplan.objects.pod import Pod
from bayplan.testing import pod

pytestmark = pytest.mark.virtual_time

NOW = 1_700_000_000.0
WEB = pod("web").build()


def told(reason: str = "Unschedulable", message: str = "no room", status: str = "False", nominated: str = "") -> Pod:
    """A pod whose status says so already."""
    manifest = pod("web").nominated(nominated).manifest()
    condition = {"type": "PodScheduled", "status": status, "reason": reason, "message": message}
    manifest["status"]["conditions"] = [condition]
    manifest["metadata"] |= {"uid": "u1", "generation": 3}
    return msgspec.convert(manifest, Pod)


CONDITION = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "no room"}


@pytest.mark.parametrize(
    ("before", "nominate", "expected"),
    [
        (
            WEB,
            None,
            {"conditions": [CONDITION | {"observedGeneration": 0, "lastTransitionTime": "2023-11-14T22:13:20Z"}]},
        ),
        (told(), None, {}),
        (told(), "", {}),
        (told(message="other"), None, {"conditions": [CONDITION | {"observedGeneration": 3}]}),
        (told(reason="SchedulerError"), None, {"conditions": [CONDITION | {"observedGeneration": 3}]}),
        (
            told(status="True"),
            None,
            {"conditions": [CONDITION | {"observedGeneration": 3, "lastTransitionTime": "2023-11-14T22:13:20Z"}]},
        ),
        (told(), "n1", {"nominatedNodeName": "n1"}),
        (told(nominated="n1"), "n1", {}),
        (told(nominated="n1"), None, {}),
        (told(nominated="n1"), "", {"nominatedNodeName": None}),
    ],
)
def test_a_patch_holds_only_what_changes(before: Pod, nominate: str | None, expected: dict[str, Any]) -> None:
    assert status_patch(PatchStatus(before, "Unschedulable", "no room", nominate), NOW) == expected


class Engine:
    """Stands in for the scheduler: every binding cycle ends as ``outcome`` says."""

    def __init__(self) -> None:
        self.handled: list[Event] = []
        self.outcome: Callable[[Bind], Bound | BindFailed] = lambda bind: Bound(bind.queued, bind.decision)
        self.answer: list[Intent] = []
        self.order: list[str] = []

    def binding_cycle(self, bind: Bind) -> Any:
        async def run() -> Bound | BindFailed:
            self.order.append(f"bind {bind.decision.pod.name}")
            return self.outcome(bind)

        return SimpleNamespace(run=run)

    def handle(self, event: Event) -> list[Intent]:
        self.handled.append(event)
        return self.answer


class Parts:
    """Writer, recorder, measuring and evictions in one."""

    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.patches: list[tuple[str, dict[str, Any]]] = []
        self.emitted: list[str] = []
        self.notes: list[str] = []
        self.gate = asyncio.Event()
        self.gate.set()
        self.problem: Exception | None = None

    async def patch_pod_status(self, about: Pod, patch: dict[str, Any]) -> None:
        await self.gate.wait()
        self.engine.order.append(f"patch {about.name}")
        self.patches.append((about.name, patch))
        if self.problem is not None:
            raise self.problem

    def emit(self, about: Pod, **settings: Any) -> None:
        self.emitted.append(f"{settings['reason']} {about.name}")
        self.notes.append(settings["note"])

    def binding_ended(self, event: Bound | BindFailed, started: float) -> None:
        return None

    async def carry_out(self, evict: Evict) -> PreemptionDone:
        return PreemptionDone(evict.preemptor)


def made() -> tuple[Executor, Engine, Parts]:
    engine = Engine()
    parts = Parts(engine)
    executor: Any = Executor
    clock = VirtualClock(NOW)
    return executor(engine, parts, parts, parts, clock, lambda *decided: None, parts.binding_ended), engine, parts


def bind(about: Pod = WEB) -> Bind:
    return Bind(QueuedPod(about, NOW), Decision(about, "bayplan", node="n1"))


def no(about: Pod = WEB, message: str = "no room") -> PatchStatus:
    return PatchStatus(about, "Unschedulable", message)


async def settle(executor: Executor) -> None:
    while executor._tasks:
        await asyncio.sleep(0.001)


async def test_a_newer_patch_replaces_the_one_that_waits() -> None:
    executor, _, parts = made()
    parts.gate.clear()
    executor.carry_out([no(message="one")])
    await asyncio.sleep(0)
    executor.carry_out([no(message="two"), no(message="three")])
    parts.gate.set()
    await settle(executor)
    assert [patch["conditions"][0]["message"] for _, patch in parts.patches] == ["one", "three"]
    assert not executor._patching
    assert not executor._patches


async def test_patches_of_a_pod_that_come_whenever_are_never_lost() -> None:
    executor, _, parts = made()
    for number in range(50):
        executor.carry_out([no(message=str(number))])
        for _ in range(number % 5):
            await asyncio.sleep(0)
    await settle(executor)
    assert parts.patches[-1][1]["conditions"][0]["message"] == "49"


async def test_a_bind_waits_for_a_patch_under_way_and_drops_one_that_waits() -> None:
    executor, engine, parts = made()
    parts.gate.clear()
    executor.carry_out([no(message="under way")])
    await asyncio.sleep(0)
    executor.carry_out([no(message="waiting"), bind()])
    executor.carry_out([bind(pod("other").build())])
    await asyncio.sleep(0.01)
    assert engine.order == ["bind other"], "other pods' binds do not wait"
    parts.gate.set()
    await settle(executor)
    assert engine.order == ["bind other", "patch web", "bind web"]
    assert len(parts.patches) == 1


async def test_a_bind_does_not_wait_behind_the_patches_of_others() -> None:
    executor, engine, parts = made()
    parts.gate.clear()
    executor.carry_out([no(pod(f"p{number}").uid(f"p{number}").build()) for number in range(MAX_PATCHING)])
    executor.carry_out([no()])
    await asyncio.sleep(0)
    executor.carry_out([bind()])
    await asyncio.sleep(0.01)
    assert engine.order == ["bind web"], "what it had to say was out of date, so there was nothing to wait for"
    parts.gate.set()
    await settle(executor)
    assert "patch web" not in engine.order
    assert not executor._patching


@pytest.mark.parametrize("problem", [NotFoundError(404, "gone"), ConflictError(409, "anew"), TransportError("down")])
async def test_a_patch_that_fails_is_no_drama(problem: Exception) -> None:
    executor, _, parts = made()
    parts.problem = problem
    executor.carry_out([no()])
    await settle(executor)
    assert len(parts.patches) == 1


async def test_a_cycle_that_breaks_gives_the_pod_back() -> None:
    executor, engine, _ = made()

    def broken(bind: Bind) -> Bound:
        raise KeyError("a mistake of ours")

    engine.outcome = broken
    executor.carry_out([bind()])
    await settle(executor)
    (event,) = engine.handled
    assert isinstance(event, BindFailed)
    assert event.status.is_error
    assert executor.binding_cycles == 0
    assert executor.woken.is_set()


async def test_the_end_of_a_preemption_is_told() -> None:
    executor, engine, _ = made()
    executor.carry_out([Evict(WEB, "n1", ())])
    await settle(executor)
    assert engine.handled == [PreemptionDone(WEB)]
    assert executor.woken.is_set()


async def test_what_pods_wait_for_is_counted_while_it_is_to_be_written() -> None:
    executor, _, parts = made()
    parts.gate.clear()
    executor.carry_out([no(), Evict(WEB, "n1", ())])
    assert executor.saying == 2
    parts.gate.set()
    await settle(executor)
    assert executor.saying == 0


async def test_cancel_ends_all_that_is_under_way() -> None:
    executor, _, parts = made()
    parts.gate.clear()
    executor.carry_out([no(), bind()])
    await asyncio.sleep(0)
    await executor.cancel()
    assert not executor._tasks
    assert executor.binding_cycles == 0
