"""What the live scheduler keeps of its last decisions, and that it stays within its bounds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bayplan.app.scheduler import decision_log
from bayplan.app.scheduler.decision_log import DecisionLog
from bayplan.clock import VirtualClock
from bayplan.engine.events import BindFailed, Bound, NodeAdded, PodAdded
from bayplan.engine.intents import Bind, Outcome, PatchStatus
from bayplan.engine.scheduler import Scheduler
from bayplan.errors import InputError
from bayplan.framework.config.model import ProfileConfig, SchedulerConfig
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import QueuedPod
from bayplan.framework.status import Code, Status, unschedulable
from bayplan.plugins.plugin_set import make_profiles, registry
from bayplan.testing import node, pod

NOW = 1_700_000_000.0


def log(**bounds: int) -> DecisionLog:
    return DecisionLog(VirtualClock(NOW), **bounds)


def decided(name: str = "web", node_name: str | None = "n1") -> Outcome:
    decision = Decision(pod(name).build(), "bayplan", node=node_name)
    if node_name is not None:
        return Outcome(decision, [Bind(QueuedPod(decision.pod, NOW, attempts=2), decision)], 2)
    decision.status = unschedulable("no")
    return Outcome(decision, [PatchStatus(decision.pod, "Unschedulable", "0/3 nodes are available: 3 no.")], 2)


def shown(kept: DecisionLog, **query: str) -> list[dict[str, Any]]:
    decisions: list[dict[str, Any]] = json.loads(kept.render(query))["decisions"]
    return decisions


def scheduler(*cpus: str) -> Scheduler:
    config = SchedulerConfig(profiles=(ProfileConfig(scheduler_name="bayplan"),))
    known, _ = registry(discover=False)
    nobody: Any = None
    made = Scheduler(make_profiles(config, known), clock=VirtualClock(NOW), writer=nobody, events=nobody)
    for number, cpu in enumerate(cpus, 1):
        made.handle(NodeAdded(node(f"n{number}").allocatable(cpu=cpu, memory="8Gi", pods=110).build()))
    return made


def one(made: Scheduler, cpu: str) -> dict[str, Any]:
    made.handle(PodAdded(pod("web").scheduler("bayplan").cpu(cpu).memory("1Gi").build()))
    kept = log()
    for outcome in made.schedule() or ():
        kept.decided(outcome)
    (record,) = shown(kept)
    return record


def test_a_pod_that_fits_nowhere_is_told_with_its_reasons_by_plugin() -> None:
    record = one(scheduler("1", "1", "2"), "4")
    assert record == {
        "at": "2023-11-14T22:13:20Z",
        "pod": {"namespace": "default", "name": "web"},
        "profile": "bayplan",
        "attempt": 1,
        "result": "unschedulable",
        "node": None,
        "message": record["message"],
        "ties": 0,
        "reasons": [{"plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"], "nodes": 3}],
        "top": [],
    }
    assert record["message"].startswith("0/3 nodes are available: 3 Insufficient cpu.")


def test_a_pod_that_was_evaluated_in_full_is_told_with_the_best_nodes() -> None:
    made = scheduler("1", "4", "8", "16", "32", "2")
    waiting = pod("web").scheduler("bayplan").cpu("3").memory("1Gi").build()
    kept = log()
    # A decision with everything told, as for a pod that nothing is kept for.
    kept.decided(Outcome(made.decide(waiting), []))
    (record,) = shown(kept)
    assert record["reasons"] == [{"plugin": "NodeResourcesFit", "reasons": ["Insufficient cpu"], "nodes": 2}]
    assert record["top"][0]["node"] == "n5"
    assert len(record["top"]) == decision_log.TOP
    for best in record["top"]:
        assert best["total"] == sum(best["scores"].values())


def test_the_result_follows_the_binding_cycle() -> None:
    kept = log()
    results = []
    for name in ("bound", "refused", "rejected"):
        outcome = decided(name)
        kept.decided(outcome)
        assert shown(kept, limit="1")[0]["result"] == "binding"
        decision = outcome.decision
        assert decision is not None
        queued = QueuedPod(decision.pod, NOW)
        if name == "bound":
            kept.binding_ended(Bound(queued, decision))
        else:
            status = Status(Code.ERROR, ("409",)) if name == "refused" else unschedulable("time is up")
            kept.binding_ended(BindFailed(queued, decision, status))
        newest = shown(kept, limit="1")[0]
        results.append((newest["result"], newest["node"], newest["message"], newest["attempt"]))
    assert results == [
        ("scheduled", "n1", "", 2),
        ("error", "n1", "409", 2),
        ("unschedulable", "n1", "time is up", 2),
    ]


def test_the_newest_come_first_and_one_pod_can_be_asked_for() -> None:
    kept = log()
    for name in ("a", "b", "a"):
        kept.decided(decided(name, None))
    assert [each["pod"]["name"] for each in shown(kept)] == ["a", "b", "a"]
    assert len(shown(kept, pod="default/a")) == 2
    assert len(shown(kept, limit="2")) == 2
    assert shown(kept, pod="default/c") == []


@pytest.mark.parametrize("limit", ["many", "-1", "", "1e3", "²", "9" * 20])
def test_a_limit_that_is_no_number_is_one_line(limit: str) -> None:
    with pytest.raises(InputError, match="limit: is not a number"):
        log().render({"limit": limit})


def test_memory_is_bounded_by_count_and_by_bytes() -> None:
    by_count = log(most=10)
    for number in range(100):
        by_count.decided(decided(f"p{number}", None))
    assert [each["pod"]["name"] for each in shown(by_count)] == [f"p{number}" for number in range(99, 89, -1)]
    by_bytes = log(most=1000, most_bytes=50_000)
    for _ in range(100):
        outcome = decided("p", None)
        patch = outcome.intents[0]
        assert isinstance(patch, PatchStatus)
        by_bytes.decided(Outcome(outcome.decision, [PatchStatus(patch.pod, patch.reason, "x" * 10_000_000)]))
    assert by_bytes.size <= 50_000
    assert 10 < len(by_bytes) < 25
    assert len(shown(by_bytes)[0]["message"]) == decision_log.MOST_TEXT
    none = log(most=0)
    none.decided(decided())
    assert len(none) == 0


def test_a_decision_that_was_dropped_before_its_bind_ended_counts_no_more() -> None:
    kept = log(most=1)
    first = decided("first")
    kept.decided(first)
    kept.decided(decided("second"))
    before = kept.size
    assert first.decision is not None
    kept.binding_ended(BindFailed(QueuedPod(first.decision.pod, NOW), first.decision, Status(Code.ERROR, ("409",))))
    assert kept.size == before
    assert [each["pod"]["name"] for each in shown(kept)] == ["second"]
