"""The annotator in virtual time: values arrive, in time and in few writes, whatever Prometheus and the API do."""

from __future__ import annotations

import asyncio

import pytest

from bayplan.errors import ForbiddenError, NotFoundError, TooManyRequestsError, TransportError
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy, SyncRule, published_policy
from bayplan.objects.third_party.crane_annotations import GRACE_S
from tests.controllers.node_annotator.faking import START, World

CPU, MEM, DAY = "cpu_usage_avg_5m", "mem_usage_avg_5m", "mem_usage_max_avg_1d"


def test_every_node_gets_all_metrics_and_its_hot_value_in_one_write() -> None:
    world = World(3)
    for number, name in enumerate(world.names):
        world.load(name, 10.0 * number + 1.234567)

    async def story() -> None:
        await asyncio.sleep(5)
        assert len(world.patches) == 3
        assert world.shown["node-2"] == {
            **dict.fromkeys(published_policy().metrics, "0.21235,2027-01-15T08:00:00Z"),
            "node_hot_value": "0,2027-01-15T08:00:00Z",
        }

    world.play(story)


def test_no_value_grows_older_than_its_period_and_a_little() -> None:
    world = World(20)
    for name in world.names:
        world.load(name, 50)

    async def story() -> None:
        for _ in range(400):
            await asyncio.sleep(30)
            for name in world.names:
                for rule in published_policy().sync_policy:
                    assert world.age(name, rule.name) <= rule.period_s + 60 + 61

    world.play(story)
    # Twenty nodes, 200 minutes, one write every three minutes: nothing is written for the longer periods alone.
    assert 1300 <= len(world.patches) <= 1450
    assert world.numbers.counters["queries_total", CPU, "success"] <= 12_000 / 18 + 2
    assert world.numbers.counters["queries_total", DAY, "success"] <= 12_000 / 60 + 2


@pytest.mark.slow
def test_five_thousand_nodes_stay_fresh_on_fifty_writes_a_second() -> None:
    world = World(5000)
    for name in world.names:
        world.load(name, 50)

    async def story() -> None:
        await asyncio.sleep(105)
        assert all(world.value(name, DAY) == 0.5 for name in world.names)
        await asyncio.sleep(300)
        before = len(world.patches)
        await asyncio.sleep(60)
        assert abs(len(world.patches) - before - 5000 / 3) < 200
        assert max(world.age(name, CPU) for name in world.names) <= 180 + 60 + 18

    world.play(story)


def test_an_hour_without_prometheus_leaves_values_as_they_were_and_the_state_shows() -> None:
    world = World(10)
    for name in world.names:
        world.load(name, 50)

    async def story() -> None:
        await asyncio.sleep(60)
        world.prometheus.is_down = True
        await asyncio.sleep(3600)
        world.annotator.publish()
        gauges = world.numbers.gauges
        assert min(world.age(name, CPU) for name in world.names) > 3500
        assert gauges["prometheus_up", CPU] == 0
        assert gauges["reading_age_seconds", CPU] > 3500
        assert gauges["stale_nodes", CPU] == 10
        assert gauges["stale_nodes", DAY] == 0  # a day's value is good for three hours
        for name in world.names:
            world.load(name, 80)
        world.prometheus.is_down = False
        await asyncio.sleep(50)
        world.annotator.publish()
        assert {world.value(name, CPU) for name in world.names} == {0.8}
        assert gauges["prometheus_up", CPU] == 1
        assert gauges["stale_nodes", CPU] == 0

    world.play(story)
    assert world.numbers.counters["queries_total", CPU, "error"] > 100


def test_a_slow_metric_holds_up_no_other() -> None:
    world = World(3)
    world.prometheus.slow = {MEM}
    for name in world.names:
        world.load(name, 50)

    async def story() -> None:
        await asyncio.sleep(600)
        assert all(world.age(name, CPU) <= 260 for name in world.names)
        assert all(MEM not in world.shown[name] for name in world.names)

    world.play(story)


def test_nodes_that_prometheus_does_not_know_hold_up_no_other() -> None:
    world = World(3)
    world.load("node-0", 50)
    world.load("node-1", float("nan"))

    async def story() -> None:
        await asyncio.sleep(1000)
        world.annotator.publish()
        assert world.age("node-0", CPU) <= 260
        assert world.shown["node-1"] == world.shown["node-2"] == {}
        assert world.numbers.gauges["nodes_without_value", CPU] == 2
        assert world.numbers.gauges["series", CPU, "unusable"] == 1
        world.load("node-2", 70)
        await asyncio.sleep(80)
        assert world.value("node-2", CPU) == 0.7

    world.play(story)


def test_pods_make_a_node_hot_within_seconds_and_it_cools_by_itself() -> None:
    world = World(2)
    for name in world.names:
        world.load(name, 50)

    async def story() -> None:
        await asyncio.sleep(20)
        for _ in range(10):
            world.annotator.bound("node-0", world.clock.now())
        await asyncio.sleep(12)
        assert world.value("node-0", "node_hot_value") == 7
        assert world.value("node-1", "node_hot_value") == 0
        await asyncio.sleep(60)
        assert world.value("node-0", "node_hot_value") == 2
        for _ in range(8):
            await asyncio.sleep(25)
            assert world.value("node-0", "node_hot_value") == 2
            assert world.age("node-0", "node_hot_value") < 300
        await asyncio.sleep(60)
        assert world.value("node-0", "node_hot_value") == 0

    world.play(story)


def test_a_stream_of_pods_does_not_make_a_stream_of_writes() -> None:
    world = World(1)
    world.load("node-0", 50)

    async def story() -> None:
        await asyncio.sleep(20)
        for _ in range(600):
            world.annotator.bound("node-0", world.clock.now())
            await asyncio.sleep(0.1)

    world.play(story)
    assert len(world.patches) < 12


def test_without_prometheus_hot_values_are_written_still() -> None:
    world = World(1)
    world.prometheus.is_down = True

    async def story() -> None:
        await asyncio.sleep(5)
        for _ in range(2):
            world.annotator.bound("node-0", world.clock.now())
        await asyncio.sleep(5)
        assert world.shown["node-0"].keys() == {"node_hot_value"}
        assert world.value("node-0", "node_hot_value") == 1

    world.play(story)


def test_a_replica_that_takes_over_goes_on_where_the_last_one_stopped() -> None:
    world = World(30)
    for name in world.names:
        world.load(name, 50)
        stamp = "0.50000,2027-01-15T07:59:50Z"
        world.shown[name] = dict.fromkeys(published_policy().metrics, stamp)

    async def story() -> None:
        await asyncio.sleep(10)
        assert len(world.patches) < 6  # those whose turn it was anyway
        await asyncio.sleep(200)
        assert all(world.age(name, CPU) <= 200 for name in world.names)

    world.play(story)


def test_a_hot_value_of_a_replica_before_is_set_right() -> None:
    world = World(1)
    world.shown["node-0"] = {"node_hot_value": "3,2027-01-15T07:59:50Z"}

    async def story() -> None:
        await asyncio.sleep(5)
        assert world.value("node-0", "node_hot_value") == 0

    world.play(story)


def test_stamps_of_cranes_own_controller_are_replaced() -> None:
    world = World(1)
    world.load("node-0", 50)
    world.shown["node-0"] = dict.fromkeys(published_policy().metrics, "0.90000,2027-01-15T16:00:00Z")  # in Shanghai

    async def story() -> None:
        await asyncio.sleep(5)
        assert world.value("node-0", CPU) == 0.5

    world.play(story)


def test_an_api_server_that_fails_gets_the_write_later() -> None:
    world = World(2)
    for name in world.names:
        world.load(name, 50)
    errors = {"node-0": TransportError("reset"), "node-1": TooManyRequestsError(429, "slow down", retry_after_s=20)}
    world.refusal = lambda name: errors.get(name)

    async def story() -> None:
        await asyncio.sleep(60)
        assert world.patches == []
        errors.clear()
        await asyncio.sleep(45)
        assert all(world.value(name, CPU) == 0.5 for name in world.names)

    world.play(story)
    assert 2 <= world.numbers.counters["patches_total", "error"] <= 30


def test_a_node_that_is_gone_or_forbidden_disturbs_no_other() -> None:
    world = World(3)
    for name in world.names:
        world.load(name, 50)
    errors = {"node-0": NotFoundError(404, "gone"), "node-1": ForbiddenError(403, "no")}
    world.refusal = lambda name: errors.get(name)

    async def story() -> None:
        await asyncio.sleep(300)
        assert world.age("node-2", CPU) <= 260
        world.annotator.drop_node("node-0")
        world.annotator.publish()
        assert world.numbers.gauges[("nodes",)] == 2

    world.play(story)
    assert world.numbers.counters["patches_total", "gone"] == 1


def test_another_policy_is_followed_at_once() -> None:
    world = World(2)
    for name in world.names:
        world.load(name, 50)

    async def story() -> None:
        await asyncio.sleep(20)
        world.annotator.use(DynamicSchedulerPolicy(sync_policy=(SyncRule("disk_usage", 60.0),)))
        await asyncio.sleep(10)
        before = len(world.prometheus.queries)
        assert all(world.value(name, "disk_usage") == 0.5 for name in world.names)
        await asyncio.sleep(600)
        assert {metric for _, metric in world.prometheus.queries[before:]} == {"disk_usage"}
        assert all(world.age(name, "disk_usage") <= 60 + 12 for name in world.names)

    world.play(story)


def test_a_node_that_joins_is_written_within_a_minute() -> None:
    world = World(2)
    for name in world.names:
        world.load(name, 50)

    async def story() -> None:
        await asyncio.sleep(500)
        world.shown["node-7"] = {}
        world.load("node-7", 33)
        world.annotator.put_node("node-7", [world.address("node-7")], {})
        await asyncio.sleep(70)
        assert {world.value("node-7", metric) for metric in published_policy().metrics} == {0.33}

    world.play(story)


def test_a_value_is_good_until_the_next_comes() -> None:
    """What the scheduler trusts (period and five minutes) is never overrun while all is well."""
    assert START % 1 == 0
    world = World(5)
    for name in world.names:
        world.load(name, 50)
    oldest: dict[str, float] = {}

    async def story() -> None:
        await asyncio.sleep(10)
        for _ in range(800):
            await asyncio.sleep(60)
            for name in world.names:
                for rule in published_policy().sync_policy:
                    oldest[rule.name] = max(oldest.get(rule.name, 0.0), world.age(name, rule.name))

    world.play(story)
    for rule in published_policy().sync_policy:
        assert oldest[rule.name] < rule.period_s + GRACE_S / 2
