"""The controller of spare capacity: ledgers, evictions, and what is told."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bayplan.controllers.spare_capacity.deciding import Memory, Plan, decide
from bayplan.controllers.spare_capacity.settings import SpareSettings
from bayplan.objects.load_estimate import Use
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.spare import CPU_MILLI, LEDGER, MEMORY_MIB, Ledger, read_ledger
from bayplan.objects.third_party.crane_annotations import format_load
from bayplan.objects.times import format_time
from bayplan.testing import node, pod

NOW = 1_750_000_000.0
GIB = 1024**3
QUICK = SpareSettings(grow_per_minute=1.0, most_share=1.0)


def busy(cpu: float, memory: float, at: float = NOW, ledger: Ledger | None = None) -> Node:
    """A node of 40 cores and 188Gi."""
    loads = {"cpu_usage_avg_5m": format_load(cpu, at), "mem_usage_avg_5m": format_load(memory, at)}
    made = node("n").allocatable(cpu="40", memory="188Gi").annotation(loads)
    return (made if ledger is None else made.annotation({LEDGER: ledger.as_text()})).build()


def spare_pod(name: str, memory_mib: int = 20480, *, priority: int = 0, started: float = NOW - 3600) -> Pod:
    made = pod(name).request({CPU_MILLI: 2000, MEMORY_MIB: memory_mib}).priority(priority).on("n")
    return made.owned_by("ReplicaSet", f"set-{name}").started(format_time(started)).build()


def plan(
    made: Node, *pods: Pod, now: float = NOW, memory: Memory | None = None, settings: SpareSettings = QUICK
) -> Plan:
    return decide([(made, pods)], now, settings, memory or Memory())


def ledger(found: Plan) -> Ledger:
    return found.ledgers["n"]


# -- ledgers --


def test_a_ledger_is_what_the_share_leaves_and_says_how_it_came_about() -> None:
    # The worked example: 188Gi, 100Gi in use.
    made = ledger(plan(busy(10 / 40, 100 / 188)))
    assert made.cpu_milli == 16000
    assert made.memory_mib == pytest.approx(22.2 * 1024, abs=2)
    assert made.cpu_because == "16 = 0.65 x 40 - 10 used - 0 expected"
    assert made.memory_because == "22.2Gi = 0.65 x 188.0Gi - 100.0Gi used - 0.0Gi expected"


def test_a_node_above_its_share_has_nothing_to_spare() -> None:
    assert ledger(plan(busy(0.1, 0.7)))[:2] == (22000, 0)


def test_guaranteed_pods_that_the_load_does_not_show_yet_are_taken_off_and_spare_pods_are_not() -> None:
    young = pod("young").cpu("10").memory("10Gi").on("n").build()
    made = ledger(plan(busy(0.25, 0.0), young, spare_pod("s", started=NOW)))
    assert made.cpu_milli == 16000 - 8500
    assert "7.0Gi expected" in made.memory_because


def test_it_shrinks_at_once_and_grows_slowly_with_new_samples_only() -> None:
    slow = SpareSettings()
    small = Ledger(1000, 1024, NOW - 60)
    assert ledger(plan(busy(0.0, 0.0, ledger=small), settings=slow)).cpu_milli == 1000 + 4000
    assert (
        "growing by at most 10% of the node a minute"
        in ledger(plan(busy(0.0, 0.0, ledger=small), settings=slow)).cpu_because
    )
    same_sample = Ledger(1000, 1024, NOW)
    assert plan(busy(0.0, 0.0, ledger=same_sample), now=NOW + 60, settings=slow).ledgers == {}
    large = Ledger(20000, 90000, NOW - 60)
    assert ledger(plan(busy(0.6, 0.6, ledger=large), settings=slow)).cpu_milli == 2000


def test_no_ledger_is_larger_than_its_part_of_the_node_and_the_first_one_is_one_step() -> None:
    assert ledger(plan(busy(0.0, 0.0), settings=replace(QUICK, most_share=0.5))).cpu_milli == 20000
    assert ledger(plan(busy(0.0, 0.0), settings=SpareSettings())).cpu_milli == 4000


def test_without_a_load_that_is_young_enough_it_is_closed_and_that_is_told_once() -> None:
    opened = Ledger(4000, 4096, NOW)
    first = plan(busy(0.1, 0.1, ledger=opened), now=NOW + 360)
    assert ledger(first)[:2] == (0, 0)
    assert first.closed == ["n"]
    assert ledger(first).cpu_because == f"0: closed, the node's load is from {format_time(NOW)}"
    again = plan(busy(0.1, 0.1, ledger=ledger(first)), now=NOW + 400, memory=first.memory)
    assert (again.closed, again.ledgers) == ([], {})
    fresh = plan(
        busy(0.1, 0.1, NOW + 3600, ledger(first)), now=NOW + 3600, memory=first.memory, settings=SpareSettings()
    )
    assert fresh.opened == ["n"]
    assert ledger(fresh).cpu_milli == 4000


def test_a_node_without_metrics_is_closed() -> None:
    found = plan(node("n").build())
    assert ledger(found)[:2] == (0, 0)
    assert "not known" in ledger(found).cpu_because


@pytest.mark.parametrize(
    ("cpu", "at"),
    [("0.10000", NOW + 8 * 3600), ("+Inf", NOW), ("1e400", NOW)],
    ids=["to come", "infinite", "too large"],
)
def test_a_load_that_cannot_be_believed_closes_the_ledger(cpu: str, at: float) -> None:
    loads = {"cpu_usage_avg_5m": f"{cpu},{format_time(at)}", "mem_usage_avg_5m": format_load(0.1, at)}
    found = plan(node("n").allocatable(cpu="40", memory="188Gi").annotation(loads).build())
    assert ledger(found)[:2] == (0, 0)
    assert found.closed == ["n"]


def test_a_ledger_from_a_time_to_come_grows_again_with_the_next_sample() -> None:
    wrong = Ledger(0, 0, NOW + 8 * 3600)
    assert ledger(plan(busy(0.0, 0.0, ledger=wrong), settings=SpareSettings())).cpu_milli == 4000


def test_use_of_spare_pods_that_is_measured_is_not_taken_off_twice() -> None:
    one = spare_pod("s")
    measured = {one.uid: Use(2000, 20 * GIB)}
    found = decide([(busy(12 / 40, 120 / 188), [one])], NOW, QUICK, Memory(), measured)
    assert ledger(found).cpu_milli == 16000


# -- evictions --


def above(memory: float, *pods: Pod, settings: SpareSettings = QUICK, samples: int = 2) -> list[str]:
    """Who goes after so many samples above the watermark."""
    remembered = Memory()
    gone: list[str] = []
    for number in range(samples):
        at = NOW + number * 180
        found = plan(busy(0.1, memory, at), *pods, now=at, memory=remembered, settings=settings)
        remembered, gone = found.memory, [*gone, *(each.pod.name for each in found.evictions)]
    return gone


def test_spare_pods_go_after_two_samples_above_the_watermark() -> None:
    assert above(0.85, spare_pod("s"), samples=1) == []
    assert above(0.80, spare_pod("s")) == []
    assert above(0.85, spare_pod("s")) == ["s"]


def test_the_same_sample_seen_twice_is_one() -> None:
    first = plan(busy(0.1, 0.9), spare_pod("s"))
    assert plan(busy(0.1, 0.9), spare_pod("s"), now=NOW + 30, memory=first.memory).evictions == []


def test_only_as_many_go_as_bring_the_node_below_its_share_lowest_priority_and_youngest_first() -> None:
    pods = [
        spare_pod("old"), spare_pod("young", started=NOW - 60), spare_pod("dear", priority=10),
        pod("guaranteed").cpu("1").memory("100Gi").on("n").build(),
    ]  # fmt: skip
    assert above(0.83, *pods) == ["young", "old"]  # 18% of 188Gi are 33.8Gi, each gives 20Gi


def test_a_node_is_left_alone_for_a_while_after_an_eviction() -> None:
    pods = [spare_pod(name, 1024) for name in "abc"]
    assert len(above(0.85, *pods, samples=3)) == 3  # one eviction takes what is needed, here all
    rested = replace(QUICK, node_cooldown_s=60.0)
    assert len(above(0.85, *pods, samples=3, settings=rested)) == 6


def test_guaranteed_pods_are_never_evicted() -> None:
    assert above(0.99, pod("guaranteed").cpu("1").memory("100Gi").on("n").build(), samples=5) == []


def test_why_a_pod_is_evicted_is_said_in_numbers() -> None:
    first = plan(busy(0.9, 0.1), spare_pod("s"))
    (found,) = plan(busy(0.9, 0.1, NOW + 60), spare_pod("s"), now=NOW + 60, memory=first.memory).evictions
    assert found.because == "cpu of node n is in use at 90%, above 85%"


def test_the_ledger_of_a_node_reads_back() -> None:
    made = ledger(plan(busy(0.1, 0.1)))
    assert read_ledger(made.as_text()) == made
