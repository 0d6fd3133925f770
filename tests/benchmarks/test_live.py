"""The live benchmarks run to their end on the real control plane; how fast is not for tests to judge."""

from __future__ import annotations

import pytest

from bayplan.simulator.benchmarks.workload_file import find
from benchmarks.contenders import BAYPLAN, BIND_ONLY, KUBE_SCHEDULER
from benchmarks.live import measure, table
from tests.support.binaries import binaries_or_skip

pytestmark = [pytest.mark.kube, pytest.mark.slow]


async def test_everybody_is_measured_on_the_same_workloads_in_turn() -> None:
    binaries_or_skip()
    workloads = [find("plain"), find("unschedulable")]
    document = await measure(workloads, [BAYPLAN, KUBE_SCHEDULER, BIND_ONLY], nodes=4, pods=20)
    plain, unschedulable = document["results"]
    assert [plain[name]["bound"] for name in (BAYPLAN, KUBE_SCHEDULER, BIND_ONLY)] == [20, 20, 20]
    assert [unschedulable[name]["bound"] for name in (BAYPLAN, KUBE_SCHEDULER)] == [20, 20]
    assert BIND_ONLY not in unschedulable
    assert plain["ratio"] > 0
    assert plain["shareOfCeiling"] > 0
    assert document["bindOnlyPodsPerSecond"] == plain[BIND_ONLY]["podsPerSecond"]
    assert [line.split()[:2] for line in table(document).splitlines()[1:]] == [
        ["plain", BAYPLAN],
        ["plain", KUBE_SCHEDULER],
        ["plain", BIND_ONLY],
        ["unschedulable", BAYPLAN],
        ["unschedulable", KUBE_SCHEDULER],
    ]


async def test_evicted_pods_make_room_and_nothing_is_left_for_the_next_workload() -> None:
    binaries_or_skip()
    document = await measure([find("preemption"), find("volumes"), find("gated")], [BAYPLAN], nodes=4, pods=4)
    assert [each[BAYPLAN]["bound"] for each in document["results"]] == [4, 4, 4]
