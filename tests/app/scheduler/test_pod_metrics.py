"""From what happened to pods to numbers: attempts, waiting times, extension points and their outcomes."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest

from bayplan.app.scheduler.pod_metrics import PodMetrics
from bayplan.clock import VirtualClock
from bayplan.engine.events import BindFailed, Bound
from bayplan.engine.intents import Outcome, PatchStatus
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.status import Code, Status, unschedulable
from bayplan.testing import pod

WEB = pod("web").build()


class Sink:
    """Keeps what it is told, labels in order."""

    def __init__(self) -> None:
        self.told: list[tuple[str, float, tuple[str, ...]]] = []

    def _take(self, name: str, value: float = 1, /, **labels: str) -> None:
        self.told.append((name, value, tuple(labels[key] for key in sorted(labels))))

    counter = gauge = observe = _take

    def of(self, name: str) -> list[tuple[float, tuple[str, ...]]]:
        return [(value, labels) for each, value, labels in self.told if each == name]


def made() -> tuple[PodMetrics, Sink, VirtualClock]:
    def extension(name: str) -> list[Any]:
        named = {"pre_filter": "AB", "filter": "ABC", "pre_score": "B", "score": "BC"}
        return [SimpleNamespace(name=letter) for letter in named[name]]

    profile: Any = SimpleNamespace(scheduler_name="p", extension=extension)
    sink, clock = Sink(), VirtualClock(100.0)
    return PodMetrics(sink, {"p": profile}, clock), sink, clock


def decision(node: str | None = "n1", **timings: float) -> Decision:
    return Decision(WEB, "p", node=node, timings=dict(timings))


def points(sink: Sink) -> list[tuple[str, str]]:
    return [(point, status) for _, (point, _, status) in sink.of("framework_extension_point_duration_seconds")]


@pytest.mark.parametrize(("attempts", "label"), [(1, "1"), (14, "14"), (15, "15+"), (40, "15+")])
def test_a_bound_pod_tells_how_long_and_how_often(attempts: int, label: str) -> None:
    measuring, sink, _ = made()
    queued = QueuedPod(WEB, 90.0, attempts=attempts, initial_attempt_at=93.0, flushed_at=95.0)
    measuring.binding_ended(Bound(queued, decision(PreBind=0.1, Bind=0.2)), time.perf_counter() - 1)
    assert sink.of("pod_scheduling_attempts") == [(attempts, ())]
    assert sink.of("pod_scheduling_sli_duration_seconds") == [(7.0, (label,))]
    assert sink.of("pod_scheduled_after_flush_total") == [(1, ())]
    ((took, labels),) = sink.of("scheduling_attempt_duration_seconds")
    assert took == pytest.approx(1.0, abs=0.2)
    assert labels == ("p", "scheduled")
    assert points(sink) == [("PreBind", "Success"), ("Bind", "Success")]


@pytest.mark.parametrize(
    ("status", "result"), [(Status(Code.ERROR, ("no",)), "error"), (unschedulable("no"), "unschedulable")]
)
def test_a_failed_bind_blames_the_point_where_it_ended(status: Status, result: str) -> None:
    measuring, sink, _ = made()
    failed = BindFailed(QueuedPod(WEB, 90.0), decision(WaitOnPermit=3.0, PreBind=0.1), status)
    measuring.binding_ended(failed, time.perf_counter())
    assert points(sink) == [("WaitOnPermit", "Success"), ("PreBind", status.code.title)]
    assert sink.of("permit_wait_duration_seconds") == [(3.0, ("Success",))]
    assert [labels for _, labels in sink.of("scheduling_attempt_duration_seconds")] == [("p", result)]
    assert sink.of("pod_scheduling_attempts") == []


def test_a_pod_rejected_while_waiting_tells_how_the_wait_ended() -> None:
    measuring, sink, _ = made()
    failed = BindFailed(QueuedPod(WEB, 90.0), decision(WaitOnPermit=3.0), unschedulable("time is up"), waited=True)
    measuring.binding_ended(failed, time.perf_counter())
    assert sink.of("permit_wait_duration_seconds") == [(3.0, ("Unschedulable",))]


@pytest.mark.parametrize(
    ("made_decision", "reason", "expected"),
    [
        (
            decision(None, PreFilter=1, Filter=1, PostFilter=1),
            "Unschedulable",
            [("PostFilter", "Unschedulable"), ("PreFilter", "Success"), ("Filter", "Unschedulable")],
        ),
        (decision(None, PreFilter=1), "SchedulerError", [("PreFilter", "Error")]),
        (
            decision("n1", PreFilter=1, Filter=1, Score=1, Reserve=1),
            "Unschedulable",
            [
                ("PreFilter", "Success"),
                ("Filter", "Success"),
                ("Score", "Success"),
                ("Reserve", "Unschedulable"),
            ],
        ),
        (decision(None), "Unschedulable", []),
    ],
)
def test_an_attempt_that_ends_early_blames_its_last_point(
    made_decision: Decision, reason: str, expected: list[tuple[str, str]]
) -> None:
    measuring, sink, _ = made()
    told = PatchStatus(WEB, reason, "no")
    measuring.decided(Outcome(made_decision, [told]), time.perf_counter(), 0.5)
    assert points(sink) == expected


def test_plugin_evaluations_are_counted_without_those_that_were_skipped() -> None:
    measuring, sink, _ = made()
    full, short = decision(PreFilter=1, Filter=1, Score=1), decision(None, PreFilter=1)
    full.state.skip_filter.add("A")
    full.state.skip_score.add("C")
    for each in (full, full, short):
        measuring.decided(Outcome(each, []), 0.0, 0.5)
    assert sink.of("plugin_evaluation_total") == [], "only when somebody looks"
    measuring.publish()
    counts: dict[tuple[str, str], float] = {}
    for times, (point, plugin, _) in sink.of("plugin_evaluation_total"):
        counts[point, plugin] = counts.get((point, plugin), 0) + times
    assert counts == {
        ("PreFilter", "A"): 3,
        ("PreFilter", "B"): 3,
        ("Filter", "B"): 2,
        ("Filter", "C"): 2,
        ("PreScore", "B"): 2,
        ("Score", "B"): 2,
    }
    measuring.publish()
    assert len(sink.of("scheduling_algorithm_duration_seconds")) == 3
