"""SpareCapacity: spare pods against the ledgers of nodes."""

from __future__ import annotations

import pytest

from bayplan.clock import VirtualClock
from bayplan.framework import Change, Code
from bayplan.objects.spare import CLASS_LABEL, CPU_MILLI, LEDGER, MEMORY_MIB, SPARE, Ledger
from bayplan.plugins.spare_capacity import SpareCapacity
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.agreement import assert_forms_agree

NOW = 1_750_000_000.0


def clock() -> VirtualClock:
    return VirtualClock(NOW)


def offering(name: str, cpu_milli: int = 2000, memory_mib: int = 4096, age_s: float = 0.0) -> NodeBuilder:
    return node(name).annotation({LEDGER: Ledger(cpu_milli, memory_mib, NOW - age_s, "2 = …").as_text()})


def spare_pod(name: str = "p", cpu_milli: int = 1000, memory_mib: int = 1024) -> PodBuilder:
    return pod(name).label({CLASS_LABEL: SPARE}).request({CPU_MILLI: cpu_milli, MEMORY_MIB: memory_mib})


def refused(asking: PodBuilder, *nodes: NodeBuilder, pods: tuple[PodBuilder, ...] = ()) -> dict[str, list[str]]:
    cache = cluster(nodes, pods)
    return reasons(run_filter(make(SpareCapacity, cache, clock=clock()), asking, cache))


def test_other_pods_are_not_looked_at() -> None:
    assert refused(pod("p").cpu("1"), node("n")) == {}


def test_a_spare_pod_needs_room_in_the_ledger_for_what_it_declares() -> None:
    found = refused(
        spare_pod(), offering("fits"), offering("cpu", cpu_milli=999), offering("memory", memory_mib=1023),
        offering("both", 1, 1), node("none"), offering("old", age_s=360), node("odd").annotation({LEDGER: "{}"}),
    )  # fmt: skip
    assert found == {
        "cpu": ["node(s) had too little spare cpu"],
        "memory": ["node(s) had too little spare memory"],
        "both": ["node(s) had too little spare cpu and memory"],
        "none": ["node(s) offer no spare capacity"],
        "odd": ["node(s) offer no spare capacity"],
        "old": ["node(s) closed their spare capacity: their load is not known"],
    }


def test_a_ledger_from_a_time_to_come_is_closed_since_nobody_knows_its_age() -> None:
    closed = ["node(s) closed their spare capacity: their load is not known"]
    found = refused(spare_pod(), offering("ahead", age_s=-61), offering("clocks-differ", age_s=-60))
    assert found == {"ahead": closed}
    cache = cluster([offering("ahead", age_s=-28800), offering("now")])
    plugin = make(SpareCapacity, cache, clock=clock())
    assert_forms_agree(plugin, [spare_pod()], cache)
    assert "closed: that is a time to come" in plugin.tell(spare_pod().build(), cache.nodes.node(0))[-1]


def test_what_is_declared_on_the_node_already_counts_and_requests_of_others_do_not() -> None:
    there = (spare_pod("first", cpu_milli=1500).on("n"), pod("guaranteed").cpu("4").memory("32Gi").on("n"))
    assert refused(spare_pod(cpu_milli=500), offering("n"), pods=there) == {}
    assert refused(spare_pod(cpu_milli=501), offering("n"), pods=there) != {}


@pytest.mark.parametrize(
    ("asking", "problem"),
    [
        (spare_pod().cpu("1"), "a spare pod requests neither cpu nor memory"),
        (pod("p").label({CLASS_LABEL: SPARE}), "a spare pod declares what it uses"),
        (pod("p").request({CPU_MILLI: 5}), "a spare pod declares what it uses"),
    ],
)
def test_a_spare_pod_that_cannot_be_counted_right_is_told_what_to_write(asking: PodBuilder, problem: str) -> None:
    cache = cluster([offering("n")])
    status = run_filter(make(SpareCapacity, cache, clock=clock()), asking, cache)["n"]
    assert status is not None
    assert status.code is Code.UNRESOLVABLE
    assert problem in status.message


def test_the_node_with_the_most_left_is_best() -> None:
    cache = cluster([offering("small", 1200), offering("large", 3000, 16384)], [])
    scores = run_score(make(SpareCapacity, cache, clock=clock()), spare_pod(), cache)
    assert scores == {"small": 5, "large": 46}  # 200m of 4; 15Gi of 32Gi


def test_both_forms_say_the_same() -> None:
    cache = cluster(
        [offering("a"), offering("b", 100, 100), offering("c", age_s=999), node("d")],
        [spare_pod(f"{at}{number}", 400, 300).on(at) for at in "abcd" for number in range(3)],
    )
    asking = [spare_pod(), spare_pod("q", 100, 100), pod("other")]
    assert_forms_agree(make(SpareCapacity, cache, clock=clock()), asking, cache)


def test_a_pod_is_woken_when_a_ledger_grows_or_opens_or_a_spare_pod_leaves() -> None:
    plugin = make(SpareCapacity, clock=clock())
    left, grown = plugin.requeue_on()
    assert grown.change == Change.ADDED | Change.ANNOTATION
    assert grown.hint is not None
    assert left.hint is not None
    waiting = spare_pod().build()

    def wakes(old: NodeBuilder | None, new: NodeBuilder) -> bool:
        assert grown.hint is not None
        return grown.hint(waiting, None if old is None else old.build(), new.build())

    assert wakes(None, offering("n"))
    assert wakes(node("n"), offering("n"))
    assert wakes(offering("n", age_s=400), offering("n"))
    assert wakes(offering("n", 1999), offering("n"))
    assert not wakes(offering("n"), offering("n", 1999))
    assert not wakes(offering("n"), node("n"))
    assert left.hint(waiting, spare_pod("gone").on("n").build(), None)
    assert not left.hint(waiting, pod("gone").on("n").build(), None)


def test_explain_is_told_the_sum_and_what_is_taken_of_it() -> None:
    cache = cluster([offering("n", age_s=30)], [spare_pod("there").on("n")])
    plugin = make(SpareCapacity, cache, clock=clock())
    assert list(plugin.tell(spare_pod().build(), cache.nodes.node(0))) == [
        "spare cpu 2 = …; 1 declared by spare pods",
        "spare memory 4Gi; 1Gi declared by spare pods",
        "the load behind it is 30 s old",
    ]
    assert list(plugin.tell(pod("p").build(), cache.nodes.node(0))) == []
