"""Calling plugins: whoever raises, talks nonsense or is slow is named."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from itertools import count
from typing import Any

import pytest
from structlog.testing import capture_logs

from bayplan.engine.plugin_calls import SLOW_S, Calls, beside
from bayplan.engine.thread_time import ThreadTime, ThreadTimes
from bayplan.errors import PluginError
from bayplan.framework.ports import NoMetrics
from bayplan.framework.status import SKIP, Status, unschedulable
from bayplan.testing import pod
from tests.engine.support import SaysFilter, named

POD = pod("p").build()
PLUGIN = named(SaysFilter, "A")()


class Counted(NoMetrics):
    def __init__(self) -> None:
        self.counted: list[tuple[str, ...]] = []

    def counter(self, name: str, value: float = 1, /, **labels: str) -> None:
        self.counted.append((name, *labels.values()))


def ticking(seconds: float) -> Iterator[float]:
    now = 0.0
    while True:
        yield now
        now += seconds


def test_what_a_plugin_raises_names_plugin_point_and_pod() -> None:
    cause = KeyError("zone")
    with pytest.raises(PluginError, match="plugin A failed in Filter for pod default/p: KeyError: 'zone'") as caught:
        Calls(POD).run(PLUGIN, "Filter", lambda: (_ for _ in ()).throw(cause))
    assert caught.value.cause is cause
    assert (caught.value.plugin, caught.value.extension_point) == ("A", "Filter")


@pytest.mark.parametrize(
    "raised", [SystemExit(7), BaseException("bare"), GeneratorExit("mine"), asyncio.CancelledError("mine")]
)
def test_so_does_what_would_end_the_process(raised: BaseException) -> None:
    with pytest.raises(PluginError) as caught:
        Calls(POD).run(PLUGIN, "Filter", _raising(raised))
    assert str(caught.value).endswith(f"{type(raised).__name__}: {raised}")


def test_only_an_interrupt_goes_through() -> None:
    with pytest.raises(KeyboardInterrupt):
        Calls(POD).run(PLUGIN, "Filter", _raising(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        asyncio.run(_beside(KeyboardInterrupt()))


@pytest.mark.parametrize("end", [asyncio.Task.cancel, lambda task: task.get_coro().close()], ids=["told", "dropped"])
def test_what_runs_beside_scheduling_ends_with_its_task(end: Any) -> None:
    async def ended() -> None:
        task = asyncio.create_task(beside(_working(None)))
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        end(task)
        await asyncio.wait([task], timeout=0.01)

    with capture_logs() as logs:
        asyncio.run(ended())
    assert logs == []


def _raising(error: BaseException) -> Any:
    def fail() -> None:
        raise error

    return fail


def _working(error: BaseException | None) -> SaysFilter:
    """Waits for ever, or raises."""

    class Working(SaysFilter):
        name = "Working"

        async def background(self) -> None:
            await asyncio.sleep(0)
            if error is not None:
                raise error
            await asyncio.Event().wait()

    return Working()


async def _beside(error: BaseException) -> None:
    await beside(_working(error))


@pytest.mark.parametrize(
    "raised", [ValueError("no idea"), SystemExit(7), GeneratorExit("mine"), asyncio.CancelledError("mine")]
)
def test_what_is_done_beside_scheduling_and_fails_is_named(raised: BaseException) -> None:
    with capture_logs() as logs:
        asyncio.run(_beside(raised))
    line, details = logs
    assert (line["log_level"], line["plugin"]) == ("error", "Working")
    assert line["error"] == f"{type(raised).__name__}: {raised}"
    assert "exc_info" not in line
    assert (details["log_level"], details["exc_info"]) == ("debug", raised)


def test_a_coroutine_where_a_verdict_belongs_is_refused_and_closed() -> None:
    async def later() -> None:
        return None

    with pytest.raises(PluginError, match="got coroutine"):
        Calls(POD).verdict(PLUGIN, "Filter", later)


def test_a_verdict_is_stamped_with_the_plugins_name() -> None:
    assert Calls(POD).verdict(PLUGIN, "Filter", lambda: unschedulable("no")) == unschedulable("no").by("A")


def test_what_is_no_verdict_names_plugin_and_point() -> None:
    with pytest.raises(PluginError, match=r"A failed in Permit .* expected None, a Reason or a Status, got bool"):
        Calls(POD).verdict(PLUGIN, "Permit", lambda: True)


def spending(cpu_s: float, starved_s: float = 0.0, pauses: int = 0) -> ThreadTimes:
    """A thread that spends its time so from one reading to the next."""
    readings = (ThreadTime(1, cpu_s * n, starved_s * n, pauses * n) for n in count())
    return ThreadTimes(readings.__next__)


def test_a_slow_call_is_remembered_and_counted_also_when_it_fails() -> None:
    metrics = Counted()
    calls = Calls(POD, metrics, ticking(2 * SLOW_S).__next__, spending(2 * SLOW_S))
    calls.run(PLUGIN, "Filter", lambda: None)
    with pytest.raises(PluginError):
        calls.run(PLUGIN, "Score", lambda: 1 // 0)
    assert calls.slow == pytest.approx({"A/Filter": 2 * SLOW_S, "A/Score": 2 * SLOW_S})
    assert metrics.counted == [("slow_plugin_calls_total", "A", "Filter"), ("slow_plugin_calls_total", "A", "Score")]


def test_slow_calls_of_one_plugin_add_up() -> None:
    calls = Calls(POD, timer=ticking(2 * SLOW_S).__next__, thread=spending(2 * SLOW_S))
    for _ in range(3):
        calls.run(PLUGIN, "Filter", lambda: None)
    assert calls.slow == pytest.approx({"A/Filter": 6 * SLOW_S})


def test_a_quick_call_leaves_no_trace() -> None:
    calls = Calls(POD, timer=ticking(SLOW_S / 2).__next__)
    calls.run(PLUGIN, "Filter", lambda: None)
    assert calls.slow == {}


@pytest.mark.parametrize(
    ("thread", "cpu_s", "mostly"),
    [
        (spending(0.0, starved_s=0.5), None, None),  # never had a core
        (spending(0.0), None, None),  # the whole machine stood still
        (spending(0.09, starved_s=0.41), None, None),  # a little work, and then no core
        (spending(0.04, starved_s=0.41, pauses=3), None, None),  # the same with a short wait
        (spending(0.11, starved_s=0.39), 0.11, "computing"),
        (spending(0.5), 0.5, "computing"),
        (spending(0.0, pauses=1), 0.0, "waiting"),  # slept
        (spending(0.0, starved_s=0.3, pauses=1), 0.0, "waiting"),  # slept, and then had no core
        (spending(0.1, pauses=40), 0.1, "waiting"),
    ],
)
def test_a_plugin_is_slow_by_what_it_did_and_not_by_what_others_did(
    thread: ThreadTimes, cpu_s: float | None, mostly: str | None
) -> None:
    calls = Calls(POD, timer=ticking(0.5).__next__, thread=thread)
    with capture_logs() as logs:
        calls.run(PLUGIN, "PreFilter", lambda: SKIP)
    if mostly is None:
        assert (logs, calls.slow) == ([], {})
        return
    assert [(each["seconds"], each["cpu_seconds"], each["mostly"]) for each in logs] == [(0.5, cpu_s, mostly)]
    assert calls.slow == {"A/PreFilter": 0.5}


@pytest.mark.parametrize(("status", "text"), [(unschedulable("a", "b"), "a, b"), (SKIP, "answered Skip")])
def test_an_answer_that_has_no_place_here_is_told_by_its_text_or_its_name(status: Status, text: str) -> None:
    assert Calls.complaint(status) == text
