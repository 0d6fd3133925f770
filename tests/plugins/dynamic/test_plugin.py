"""Dynamic: which nodes it refuses, and how it scores them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayplan.framework import Change, Code
from bayplan.objects.crane_annotations import format_load
from bayplan.plugins.dynamic import Dynamic
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.agreement import assert_forms_agree
from tests.plugins.dynamic.support import NOW, all_loads, clock, loaded

CPU, MEM = "cpu_usage_avg_5m", "mem_usage_avg_5m"


def refused(made: NodeBuilder, asking: PodBuilder | None = None, **args: Any) -> list[str]:
    cache = cluster([made])
    found = run_filter(make(Dynamic, cache, clock=clock(), **args), asking or pod("p"), cache)
    return reasons(found).get("n", [])


def score(made: NodeBuilder, **args: Any) -> int:
    cache = cluster([made])
    return run_score(make(Dynamic, cache, clock=clock(), **args), pod("p"), cache)["n"]


@pytest.mark.parametrize(
    ("loads", "is_refused"),
    [
        ({CPU: 0.65}, False),
        ({CPU: 0.65001}, True),
        ({"cpu_usage_max_avg_1h": 0.75}, False),
        ({"mem_usage_max_avg_1h": 0.76}, True),
        ({"mem_usage_max_avg_1d": 0.99}, False),
        ({}, False),
    ],
)
def test_a_load_above_its_limit_is_refused_and_one_that_equals_it_is_not(
    loads: dict[str, float], is_refused: bool
) -> None:
    assert bool(refused(loaded("n", **loads))) is is_refused


def test_the_reason_is_the_published_one_with_the_numbers_behind_it() -> None:
    hot = loaded("n", age_s=130, **{MEM: 0.89633})
    assert refused(hot) == [f"Load[{MEM}] of node[n] is too high (0.89633 > 0.65, 2m old)"]
    assert refused(hot, reasonNumbers=False) == [f"Load[{MEM}] of node[n] is too high"]


def test_the_first_limit_that_is_broken_is_told() -> None:
    assert refused(loaded("n", **{CPU: 0.9, MEM: 0.9}))[0].startswith(f"Load[{CPU}]")


def test_the_verdict_can_be_changed_by_nobody_but_says_unschedulable_as_published() -> None:
    cache = cluster([loaded("n", **{CPU: 0.9})])
    status = run_filter(make(Dynamic, cache, clock=clock()), pod("p"), cache)["n"]
    assert status is not None
    assert status.code is Code.UNSCHEDULABLE


@pytest.mark.parametrize(("age_s", "is_refused"), [(479, True), (480, False), (-60, True)])
def test_a_value_is_good_for_its_period_and_five_minutes(age_s: float, is_refused: bool) -> None:
    assert bool(refused(loaded("n", age_s=age_s, **{CPU: 0.9}))) is is_refused


@pytest.mark.parametrize(
    "text", ["0.9", "0.9,", "0.9,now", "x,2025-06-15T15:06:40Z", "-1,2025-06-15T15:06:40Z", "nan,2025-06-15T15:06:40Z"]
)
def test_what_cannot_be_read_keeps_no_pod_away(text: str) -> None:
    assert refused(node("n").annotation({CPU: text})) == []


def test_pods_of_daemon_sets_pass_and_are_scored_all_the_same() -> None:
    daemon = pod("p").owned_by("DaemonSet", "agent")
    assert refused(loaded("n", **{CPU: 0.9}), daemon) == []


def test_annotations_of_another_time_zone_are_read_as_its_own() -> None:
    shanghai = node("n").annotation({CPU: format_load(0.9, NOW + 8 * 3600)})
    assert refused(shanghai, timeZone="Asia/Shanghai") != []
    stale = node("n").annotation({CPU: format_load(0.9, NOW)})
    assert refused(stale, timeZone="Asia/Shanghai") == []


def test_a_percentile_counts_in_place_of_the_average_where_it_is_measured(tmp_path: Path) -> None:
    path = tmp_path / "policy.yaml"
    path.write_text(
        "apiVersion: scheduler.policy.crane.io/v1alpha1\nkind: DynamicSchedulerPolicy\nspec:\n"
        "  syncPolicy:\n  - {name: cpu_usage_avg_5m, period: 3m}\n  - {name: cpu_usage_p95_5m, period: 3m}\n"
        "  predicate:\n  - {name: cpu_usage_avg_5m, maxLimitPecent: 0.65}\n"
    )
    peaks = loaded("n", **{CPU: 0.5, "cpu_usage_p95_5m": 0.8})
    args: dict[str, Any] = {"policyConfigPath": str(path)}
    assert refused(peaks, **args) == []
    assert refused(peaks, percentiles="p95", **args) != []
    assert refused(loaded("n", **{CPU: 0.7}), percentiles="p95", **args) != []


# -- scores --


@pytest.mark.parametrize(
    ("made", "points"),
    [
        (loaded("n", **all_loads(0.0)), 100),
        (loaded("n", **all_loads(0.256)), 74),  # 74.4, cut off
        (loaded("n", **all_loads(1.5)), 0),
        (loaded("n"), 0),
        (loaded("n", **{CPU: 0.0}), 10),  # 0.2 of 2.0; what is not known counts as all in use
        (loaded("n", hot=3, **all_loads(0.2)), 50),
        (loaded("n", hot=9, **all_loads(0.2)), 0),
        (loaded("n", hot=3, age_s=300, **all_loads(0.2)), 80),  # the hot value is good for five minutes
    ],
)
def test_less_use_scores_higher_and_hot_nodes_lose_ten_points_a_step(made: NodeBuilder, points: int) -> None:
    assert score(made) == points


# -- estimates --


def test_estimates_count_the_pod_itself_and_pods_the_load_does_not_show_yet() -> None:
    # 32Gi; 65% are 20.8Gi.  10Gi in use, 7Gi (0.7 of 10Gi) of the pod there that has just come, 7Gi of this one.
    cache = cluster([loaded("n", **{MEM: 0.3125})], [pod("new").memory("10Gi").on("n")])
    asking = pod("p").memory("10Gi")
    assert reasons(run_filter(make(Dynamic, cache, clock=clock()), asking, cache)) == {}
    told = reasons(run_filter(make(Dynamic, cache, clock=clock(), estimate={}), asking, cache))
    assert told == {"n": [f"Load[{MEM}] of node[n] is too high (0.3125 + 0.4375 expected > 0.65, under 1m old)"]}


def test_a_pod_that_the_average_shows_already_is_not_counted_twice() -> None:
    old = pod("old").memory("10Gi").on("n").started("2025-06-15T10:00:00Z")
    cache = cluster([loaded("n", **{MEM: 0.3125})], [old])
    assert reasons(run_filter(make(Dynamic, cache, clock=clock(), estimate={}), pod("p").memory("10Gi"), cache)) == {}


def test_estimates_follow_pods_that_come_and_go() -> None:
    cache = cluster([loaded("n", **{MEM: 0.0})])
    plugin = make(Dynamic, cache, clock=clock(), estimate={})
    asking, first = pod("p").memory("20Gi"), pod("first").memory("20Gi").on("n").build()
    assert reasons(run_filter(plugin, asking, cache)) == {}
    cache.add_pod(first)
    assert "n" in reasons(run_filter(plugin, asking, cache))
    cache.remove_pod(first)
    assert reasons(run_filter(plugin, asking, cache)) == {}


def test_peaks_of_the_past_get_nothing_added() -> None:
    cache = cluster([loaded("n", mem_usage_max_avg_1h=0.7)])
    assert reasons(run_filter(make(Dynamic, cache, clock=clock(), estimate={}), pod("p").memory("10Gi"), cache)) == {}


@pytest.mark.parametrize("args", [{}, {"estimate": {}}, {"estimate": {"source": "learned"}}])
def test_both_forms_say_the_same(args: dict[str, Any]) -> None:
    made = [
        loaded("a", **all_loads(0.3)), loaded("b", hot=2, **all_loads(0.66)), loaded("c", age_s=600, **all_loads(0.9)),
        node("d"), loaded("e", **{CPU: 0.649, MEM: 0.1}),
    ]  # fmt: skip
    there = [pod(f"on-{at}-{number}").cpu("1").memory("2Gi").on(at) for at in "abcde" for number in range(3)]
    cache = cluster(made, there)
    asking = [pod("p").cpu("500m").memory("1Gi"), pod("q"), pod("r").owned_by("DaemonSet", "d")]
    assert_forms_agree(make(Dynamic, cache, clock=clock(), **args), asking, cache)


# -- waking up --


def wakes(plugin: Dynamic, old: NodeBuilder | None, new: NodeBuilder) -> bool:
    (rule, *_) = plugin.requeue_on()
    assert rule.kind == "Node"
    assert rule.change == Change.ADDED | Change.ANNOTATION
    assert rule.hint is not None
    return rule.hint(pod("p").build(), None if old is None else old.build(), new.build())


def test_a_pod_is_woken_when_a_node_cools_down() -> None:
    plugin = make(Dynamic, clock=clock())
    hot, cool = loaded("n", **{CPU: 0.9}), loaded("n", **{CPU: 0.5})
    assert wakes(plugin, hot, cool)
    assert wakes(plugin, None, cool)
    assert not wakes(plugin, cool, cool)
    assert not wakes(plugin, cool, hot)
    assert not wakes(plugin, hot, loaded("n", **{CPU: 0.8}))


def test_a_pod_that_was_refused_before_the_load_grew_old_is_woken_by_the_next_measurement() -> None:
    plugin = make(Dynamic, clock=clock())
    assert wakes(plugin, loaded("n", age_s=3600, **{CPU: 0.9}), loaded("n", **{CPU: 0.5}))


def test_with_estimates_every_new_measurement_and_every_pod_that_leaves_is_a_reason_to_try() -> None:
    plugin = make(Dynamic, clock=clock(), estimate={})
    assert wakes(plugin, loaded("n", **{CPU: 0.5}), loaded("n", **{CPU: 0.4}))
    assert not wakes(plugin, loaded("n", **{CPU: 0.5}), loaded("n", **{CPU: 0.5}))
    assert [rule.kind for rule in plugin.requeue_on()] == ["Node", "Pod"]


def test_explain_is_told_every_number() -> None:
    cache = cluster([loaded("n", hot=2, age_s=130, **{CPU: 0.5})])
    plugin = make(Dynamic, cache, clock=clock(), estimate={})
    lines = list(plugin.tell(pod("p").cpu("1").memory("1Gi").build(), cache.nodes.node(0)))
    assert "cpu_usage_avg_5m 0.5, limit 0.65, weight 0.2, 2m old" in lines
    assert "mem_usage_avg_5m not known, limit 0.65, weight 0.2" in lines
    assert "expected cpu: 0 of pods the load does not show yet, 850m of this pod" in lines
    assert "hot value 2, which costs 20 points" in lines
