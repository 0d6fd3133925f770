"""Virtual time moves on, or the run ends with a reason: plugins that go round and round stop neither."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from bayplan.simulator.patience import MAX_SECONDS_GIVEN, MAX_TRIES_AT_ONCE
from tests.simulator.support import Manifest, budget, config, node, pod, simulated, workload

RESTLESS = Path(__file__).with_name("restless_plugins.py")
SHORT = {"podInitialBackoffSeconds": 1, "podMaxBackoffSeconds": 1}
LONG = 600.0


def ran(*manifests: Manifest, plugin: str, **options: Any) -> Manifest:
    return simulated(*manifests, plugins=[f"{RESTLESS}:{plugin}"], **options)


def tries(document: Manifest) -> int:
    return sum(each["attempts"] for each in document["pods"])


@pytest.mark.parametrize("seconds", [None, 59, 60, 61, LONG])
def test_gangs_that_are_never_complete_come_to_an_end(seconds: float | None) -> None:
    document = ran(node("n1"), workload("Deployment", "web", "1", replicas=6), plugin="Gang", run_for_s=seconds)
    assert document["summary"]["pending"] == 6
    assert document["elapsed"] <= (seconds or LONG)
    moments = (seconds or 180) / 60 + 1
    assert tries(document) <= 6 * MAX_TRIES_AT_ONCE * moments


def test_pods_that_send_each_other_away_are_named_with_the_plugin_and_the_run_is_stopped() -> None:
    document = ran(node("n1"), pod("a"), pod("b"), plugin="Quarrel", run_for_s=LONG)
    assert document["stopped"] == (
        f"after {MAX_SECONDS_GIVEN} s: default/a, default/b (the last no came from Quarrel) are tried again and again "
        "in one moment, and nothing comes of it"
    )
    assert document["elapsed"] == MAX_SECONDS_GIVEN
    assert tries(document) <= 2 * MAX_TRIES_AT_ONCE * (MAX_SECONDS_GIVEN + 1)


def test_a_run_that_ends_by_the_clock_ends_by_the_clock_also_then() -> None:
    document = ran(node("n1"), pod("a"), pod("b"), plugin="Quarrel", run_for_s=3)
    assert "stopped" not in document
    assert document["elapsed"] == 3


@pytest.mark.parametrize("plugin", ["NoPatience", "Nominates", "Fails"])
@pytest.mark.parametrize("seconds", [None, LONG])
@pytest.mark.parametrize("backoff", [{}, SHORT], ids=["backoff", "short backoff"])
def test_pods_that_fail_again_and_again_do_not_stop_time(
    plugin: str, seconds: float | None, backoff: dict[str, int]
) -> None:
    pods = [pod(name) for name in "abc"]
    document = ran(node("n1"), node("n2"), *pods, config() | backoff, plugin=plugin, run_for_s=seconds)
    assert document["summary"]["pending"] == 3
    if "stopped" in document:
        assert "default/a" in document["stopped"]
    elif seconds:
        assert document["elapsed"] == seconds
    assert tries(document) <= 3 * MAX_TRIES_AT_ONCE * (MAX_SECONDS_GIVEN + 1) + (seconds or 0) * 3


def test_pods_that_are_made_again_as_soon_as_they_are_bound_are_named() -> None:
    document = ran(node("n1"), workload("ReplicaSet", "web", replicas=2), plugin="Undoes", run_for_s=LONG)
    assert "default/web-" in document["stopped"]
    assert "again and again in one moment" in document["stopped"]
    assert len(document["pods"]) <= 3 * MAX_TRIES_AT_ONCE * (MAX_SECONDS_GIVEN + 1)


@pytest.mark.parametrize("plugin", ["Spins", "Hurries"])
def test_work_beside_scheduling_that_never_waits_is_named(plugin: str) -> None:
    document = ran(node("n1"), pod("a"), budget("b", {}, minAvailable=1), plugin=plugin, run_for_s=LONG)
    assert document["summary"]["bound"] == 1
    assert document["stopped"].startswith("after ")
    assert plugin in document["stopped"]


@pytest.mark.parametrize("plugin", ["Scribbles", "ScribblesInTurn"])
def test_a_writer_without_a_pause_is_ended_and_the_run_goes_on(plugin: str) -> None:
    document = ran(node("n1"), pod("a"), budget("b", {}, minAvailable=1), plugin=plugin, run_for_s=LONG)
    assert document["summary"]["bound"] == 1
    assert document["elapsed"] == LONG


def test_what_others_write_is_no_reason_to_wait_for_ever() -> None:
    broken = {"plugins": [f"{RESTLESS}:ScribblesEverySecond", f"{RESTLESS}:Fails"]}
    document = simulated(node("n1"), pod("a"), budget("b", {}, minAvailable=1), **broken)
    assert document["summary"]["pending"] == 1
    assert document["elapsed"] < 3600


def test_a_bind_that_never_gets_ready_and_never_waits_is_told() -> None:
    document = ran(node("n1"), pod("a"), plugin="NeverReady")
    assert "time cannot move on" in document["stopped"]
    assert "default/a" in document["stopped"]
