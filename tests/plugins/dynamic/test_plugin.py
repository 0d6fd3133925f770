"""Dynamic: which nodes it refuses, and how it scores them."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from structlog.testing import capture_logs

from bayplan.framework import Change, Code
from bayplan.framework.diagnosis import histogram
from bayplan.framework.ports import NoMetrics
from bayplan.objects.third_party.crane_annotations import format_load
from bayplan.plugins.dynamic import Dynamic
from bayplan.plugins.dynamic.args import DynamicArgs
from bayplan.testing import NodeBuilder, PodBuilder, cluster, make, node, pod, reasons, run_filter, run_score
from bayplan.testing.agreement import assert_forms_agree
from bayplan.testing.harness import handle
from tests.plugins.dynamic.support import NOW, all_loads, clock, loaded

CPU, MEM = "cpu_usage_avg_5m", "mem_usage_avg_5m"
DAY = 86_400.0


class Metrics(NoMetrics):
    """Keeps the gauges that were set, by name and metric."""

    def __init__(self) -> None:
        self.gauges: dict[tuple[str, str], float] = {}

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        self.gauges[name, labels.get("metric", "")] = value


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


def test_the_reason_names_no_node_unless_the_published_text_is_asked_for() -> None:
    hot = loaded("n", age_s=130, **{MEM: 0.89633})
    assert refused(hot) == [f"node(s) whose Load[{MEM}] is too high (above 0.65)"]
    assert refused(hot, reasonNumbers=False) == [f"Load[{MEM}] of node[n] is too high"]


def test_a_thousand_hot_nodes_are_told_in_one_part_for_each_limit_however_their_loads_differ() -> None:
    made = [loaded(f"n{n}", age_s=n % 400, **{(CPU, MEM)[n % 2]: 0.7 + n / 10_000}) for n in range(1000)]
    cache = cluster([*made, loaded("near", **{MEM: 0.6})])
    status = run_filter(make(Dynamic, cache, clock=clock(), estimate={}), pod("p").memory("16Gi"), cache)
    counted = histogram((each, 1) for each in status.values() if each is not None)
    assert counted == {
        f"node(s) whose Load[{CPU}] is too high (above 0.65)": 500,
        f"node(s) whose Load[{MEM}] is too high (above 0.65)": 500,
        f"node(s) whose Load[{MEM}] is too high with what is expected (above 0.65)": 1,
    }


def test_the_first_limit_that_is_broken_is_told() -> None:
    assert f"Load[{CPU}]" in refused(loaded("n", **{CPU: 0.9, MEM: 0.9}))[0]


def test_the_verdict_can_be_changed_by_nobody_but_says_unschedulable_as_published() -> None:
    cache = cluster([loaded("n", **{CPU: 0.9})])
    status = run_filter(make(Dynamic, cache, clock=clock()), pod("p"), cache)["n"]
    assert status is not None
    assert status.code is Code.UNSCHEDULABLE


@pytest.mark.parametrize(
    ("age_s", "is_refused"), [(479, True), (480, False), (-60, True), (-61, False), (-3 * DAY, False)]
)
def test_a_value_is_good_for_its_period_and_five_minutes_and_not_before_its_time(
    age_s: float, is_refused: bool
) -> None:
    assert bool(refused(loaded("n", age_s=age_s, **{CPU: 0.9}))) is is_refused


@pytest.mark.parametrize(("age_s", "points"), [(0, 60), (-60, 60), (-61, 0), (-3 * DAY, 0)])
def test_a_value_from_a_time_to_come_earns_no_points_and_is_no_hot_value(age_s: float, points: int) -> None:
    assert score(loaded("n", hot=2, age_s=age_s, **all_loads(0.2))) == points
    assert score(loaded("n", hot=2, age_s=age_s).annotation({CPU: format_load(0.0, NOW)})) == (0 if points else 10)


def test_values_from_a_time_to_come_are_counted_and_logged() -> None:
    metrics, cache = Metrics(), cluster([loaded("a", age_s=-8 * 3600, **{CPU: 0.9}), loaded("b", **{CPU: 0.5})])
    with capture_logs() as logs:
        given = handle(cache, clock=clock())
        given.metrics = metrics
        run_filter(Dynamic(DynamicArgs(), given), pod("p"), cache)
    assert metrics.gauges["bayplan_load_ahead_nodes", CPU] == 1
    assert metrics.gauges["bayplan_load_ahead_nodes", MEM] == 0
    assert metrics.gauges["bayplan_load_unknown_nodes", CPU] == 1
    (line,) = (entry for entry in logs if "dated in the future" in entry["event"])
    assert (line["log_level"], line["nodes"][CPU], line["time_zone"]) == ("warning", 1, "UTC")


def test_nothing_is_learned_from_values_of_a_time_to_come() -> None:
    def expected(shift_s: float) -> list[str]:
        plugin, cache = make(Dynamic, clock=clock(), estimate={"source": "learned"}), cluster([])
        for at, load, there in ((NOW - 3600, 0.1, 0), (NOW - 60, 0.5, 4)):
            cache.add_node(node("n").annotation({MEM: format_load(load, at + shift_s)}).build())
            for number in range(there):
                started = datetime.fromtimestamp(NOW - 1800 + shift_s, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
                cache.add_pod(
                    pod(f"web-{number}").owned_by("StatefulSet", "web").memory("8Gi").on("n").started(started).build()
                )
            run_filter(plugin, pod("p"), cache)
        told = plugin.tell(pod("web-9").owned_by("StatefulSet", "web").memory("8Gi").build(), cache.nodes.node(0))
        return [line.rpartition(", ")[2] for line in told if line.startswith("expected memory")]

    assert expected(0) != expected(2 * DAY) == ["5734Mi of this pod"]


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


def test_a_node_whose_short_loads_are_too_old_outranks_a_fresh_one_as_published_unless_fresh_ones_go_first() -> None:
    long_ago = {CPU: format_load(0.1, NOW - 600), MEM: format_load(0.1, NOW - 600)}
    stale, fresh = loaded("stale", **all_loads(0.1)).annotation(long_ago), loaded("fresh", **all_loads(0.5))
    cache = cluster([stale, fresh])
    assert run_score(make(Dynamic, cache, clock=clock()), pod("p"), cache) == {"stale": 72, "fresh": 50}
    assert run_score(make(Dynamic, cache, clock=clock(), freshFirst=True), pod("p"), cache) == {"stale": 0, "fresh": 50}


# -- estimates --


def test_estimates_count_the_pod_itself_and_pods_the_load_does_not_show_yet() -> None:
    # 32Gi; 65% are 20.8Gi.  10Gi in use, 7Gi (0.7 of 10Gi) of the pod there that has just come, 7Gi of this one.
    cache = cluster([loaded("n", **{MEM: 0.3125})], [pod("new").memory("10Gi").on("n")])
    asking = pod("p").memory("10Gi")
    assert reasons(run_filter(make(Dynamic, cache, clock=clock()), asking, cache)) == {}
    plugin = make(Dynamic, cache, clock=clock(), estimate={})
    told = reasons(run_filter(plugin, asking, cache))
    assert told == {"n": [f"node(s) whose Load[{MEM}] is too high with what is expected (above 0.65)"]}
    numbers = f"{MEM} 0.3125 + 0.4375 expected, limit 0.65, weight 0.2, under 1m old, too high"
    assert numbers in plugin.tell(asking.build(), cache.nodes.node(0))


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


@pytest.mark.parametrize(
    "args", [{}, {"estimate": {}}, {"estimate": {"source": "learned"}}, {"freshFirst": True}, {"reasonNumbers": False}]
)
def test_both_forms_say_the_same(args: dict[str, Any]) -> None:
    made = [
        loaded("a", **all_loads(0.3)), loaded("b", hot=2, **all_loads(0.66)), loaded("c", age_s=600, **all_loads(0.9)),
        node("d"), loaded("e", **{CPU: 0.649, MEM: 0.1}), loaded("f", age_s=-3600, hot=1, **all_loads(0.9)),
    ]  # fmt: skip
    there = [pod(f"on-{at}-{number}").cpu("1").memory("2Gi").on(at) for at in "abcdef" for number in range(3)]
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
    assert "cpu_usage_avg_5m 0.5 + 0.2125 expected, limit 0.65, weight 0.2, 2m old, too high" in lines
    assert "mem_usage_avg_5m not known, limit 0.65, weight 0.2" in lines
    assert "expected cpu: 0 of pods the load does not show yet, 850m of this pod" in lines
    assert "hot value 2, which costs 20 points" in lines


@pytest.mark.parametrize(
    ("age_s", "ends"),
    [
        (130, "2m old, too high"),
        (600, "10m old, too old to count"),
        (2 * DAY, "2d old, too old to count"),
        (-30, "under 1m old, too high"),
        (-8 * 3600, "dated 480m ahead, from a time to come: does not count"),
        (-3 * DAY, "dated 3d ahead, from a time to come: does not count"),
    ],
)
def test_explain_says_why_a_load_counts_or_does_not(age_s: float, ends: str) -> None:
    cache = cluster([loaded("n", age_s=age_s, **{CPU: 0.9})])
    plugin = make(Dynamic, cache, clock=clock())
    lines = plugin.tell(pod("p").build(), cache.nodes.node(0))
    assert f"cpu_usage_avg_5m 0.9, limit 0.65, weight 0.2, {ends}" in lines
