"""The policy that Crane publishes, as this program knows it without a file."""

from __future__ import annotations

from bayplan.objects.third_party.crane import HotValueRule, LoadLimit, LoadWeight, published_policy


def test_the_published_policy_measures_cpu_and_memory_over_three_spans() -> None:
    policy = published_policy()
    assert policy.periods == {
        "cpu_usage_avg_5m": 180,
        "cpu_usage_max_avg_1h": 900,
        "cpu_usage_max_avg_1d": 10800,
        "mem_usage_avg_5m": 180,
        "mem_usage_max_avg_1h": 900,
        "mem_usage_max_avg_1d": 10800,
    }
    assert policy.metrics == tuple(policy.periods)


def test_the_published_policy_limits_all_but_the_day_and_weighs_it_most() -> None:
    policy = published_policy()
    assert policy.predicate[:2] == (LoadLimit("cpu_usage_avg_5m", 0.65), LoadLimit("cpu_usage_max_avg_1h", 0.75))
    assert {limit.name for limit in policy.predicate}.isdisjoint({"cpu_usage_max_avg_1d", "mem_usage_max_avg_1d"})
    assert policy.priority[-1] == LoadWeight("mem_usage_max_avg_1d", 0.5)
    assert sum(each.weight for each in policy.priority) == 2.0
    assert policy.hot_value == (HotValueRule(300, 5), HotValueRule(60, 2))
