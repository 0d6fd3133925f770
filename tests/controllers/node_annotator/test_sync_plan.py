"""Turns are spread evenly, shared between metrics, and never further apart than a metric's period allows."""

from __future__ import annotations

from collections import Counter

import pytest

from bayplan.controllers.node_annotator.sync_plan import NEVER, SyncPlan
from bayplan.objects.third_party.crane import published_policy
from bayplan.objects.third_party.crane_annotations import GRACE_S

START = 1_000_000.0
PERIODS = published_policy().periods


def drive(plan: SyncPlan, until: float, start: float = START) -> list[tuple[float, str, tuple[str, ...]]]:
    """Give every node its turn the moment it comes."""
    turns, now = [], start
    while (at := plan.next_at()) < until:
        now = max(now, at)
        name = plan.pop(now)
        assert name is not None
        metrics = plan.due_metrics(name, now)
        plan.wrote(name, dict.fromkeys(metrics, now), now)
        plan.settle(name)
        turns.append((now, name, tuple(metrics)))
    return turns


def nodes(plan: SyncPlan, count: int) -> list[str]:
    names = [f"node-{number}" for number in range(count)]
    for name in names:
        plan.observe(name, {}, START)
    return names


def test_a_new_node_is_due_at_once_for_everything() -> None:
    plan = SyncPlan(PERIODS)
    plan.observe("n", {}, START)
    assert plan.next_at() == START
    assert plan.pop(START) == "n"
    assert plan.due_metrics("n", START) == list(PERIODS)
    assert plan.pop(START) is None


def test_later_turns_are_spread_evenly_and_cost_one_write_each() -> None:
    plan = SyncPlan(PERIODS)
    nodes(plan, 2000)
    turns = drive(plan, START + 3600)
    later = [at for at, _, _ in turns if at > START + 360]
    buckets = Counter(int(at // 30) for at in later)
    full = [buckets[key] for key in sorted(buckets)[1:-1]]
    assert min(full) > 0.7 * 2000 / 6
    assert max(full) < 1.3 * 2000 / 6
    # The hour's and the day's metrics come along with those of five minutes, without writes of their own.
    assert len(later) == pytest.approx(2000 * (3600 - 360) / 180, rel=0.02)


def test_no_metric_of_a_node_waits_longer_than_the_scheduler_trusts_it() -> None:
    plan = SyncPlan({**PERIODS, "odd": 250.0, "slow": 50_000.0})
    names = nodes(plan, 50)
    last: dict[tuple[str, str], float] = {}
    for at, name, metrics in drive(plan, START + 120_000):
        for metric in metrics:
            period = {**PERIODS, "odd": 250.0, "slow": 50_000.0}[metric]
            gap = at - last.get((name, metric), at)
            assert gap <= period + 60
            assert gap < period + GRACE_S
            last[name, metric] = at
    assert len(last) == len(names) * 8


def test_what_a_node_shows_already_is_not_written_again_before_its_time() -> None:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("n", {"cpu": START - 10}, START)
    assert START < plan.next_at() <= START - 10 + 180 + 18


def test_a_stamp_from_the_future_is_another_time_zone_and_is_replaced_at_once() -> None:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("n", {"cpu": START + 8 * 3600}, START)
    assert plan.next_at() == START
    assert plan.is_late("n", "cpu", START, GRACE_S)


def test_an_annotation_that_somebody_removed_is_due_at_once() -> None:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("n", {"cpu": START}, START)
    plan.observe("n", {}, START + 20)
    assert plan.next_at() == START + 20


def written_once() -> SyncPlan:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("n", {}, START)
    plan.pop(START)
    plan.wrote("n", {"cpu": START}, START)
    plan.settle("n")
    return plan


@pytest.mark.parametrize("older", [{}, {"cpu": START - 180}], ids=["without", "with an older value"])
def test_news_of_a_node_from_before_our_own_write_costs_nothing(older: dict[str, float]) -> None:
    plan = written_once()
    at = plan.next_at()
    plan.observe("n", older, START + 1)
    plan.observe("n", {"cpu": START}, START + 2)
    assert plan.next_at() == at


def test_an_annotation_removed_right_after_our_own_write_is_back_shortly() -> None:
    plan = written_once()
    plan.observe("n", {"cpu": START}, START + 1)
    plan.observe("n", {}, START + 2)
    assert plan.next_at() == START + 10


def test_loads_go_before_hot_values() -> None:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("hot", {"cpu": START}, START)
    plan.warm("hot", START + 1)
    plan.observe("load", {}, START + 5)
    assert [plan.pop(START + 5), plan.pop(START + 5), plan.pop(START + 5)] == ["load", "hot", None]


def test_a_turn_for_the_hot_value_does_not_lose_the_one_for_the_load() -> None:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("n", {"cpu": START}, START)
    load_at = plan.next_at()
    plan.warm("n", START + 1)
    assert plan.pop(START + 1) == "n"
    plan.settle("n")
    assert plan.next_at() == load_at


def test_a_pod_that_comes_during_a_write_is_not_forgotten() -> None:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("n", {"cpu": START}, START)
    plan.warm("n", START + 1)
    plan.pop(START + 1)
    plan.warm("n", START + 11)
    plan.settle("n", NEVER)
    assert plan.next_at() == START + 11


def test_a_failed_write_is_tried_again_later_with_all_it_held() -> None:
    plan = SyncPlan({"cpu": 180.0, "mem": 180.0})
    plan.observe("n", {}, START)
    plan.pop(START)
    plan.retry("n", START + 5)
    assert plan.next_at() == START + 5
    assert plan.pop(START + 5) == "n"
    assert plan.due_metrics("n", START + 5) == ["cpu", "mem"]


def test_a_metric_without_news_is_looked_at_later_and_holds_up_no_other() -> None:
    plan = SyncPlan({"cpu": 180.0, "mem": 180.0})
    plan.observe("n", {}, START)
    plan.pop(START)
    plan.postpone("n", "mem", START + 18)
    plan.wrote("n", {"cpu": START}, START)
    plan.settle("n")
    assert plan.due_metrics("n", START) == ["mem"]  # within a turn's slack
    assert plan.next_at() <= START + 18


def test_a_node_that_left_gets_no_turn() -> None:
    plan = SyncPlan({"cpu": 180.0})
    plan.observe("n", {}, START)
    plan.drop("n")
    assert plan.pop(START) is None
    assert plan.next_at() == NEVER
    plan.settle("n")
    plan.retry("n", START)
    plan.warm("n", START)
    plan.wrote("n", {"cpu": START}, START)
    assert "n" not in plan
