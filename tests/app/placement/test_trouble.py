"""The placement controller when clusters, writes or people are in trouble."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime, timedelta
from functools import partial

import pytest

from tests.app.placement.hub import (
    GROUP,
    NAMESPACE,
    add_cluster,
    add_placement,
    condition,
    decided,
    deciding,
    eventually,
    spread,
)
from tests.support.api import Api, Object
from tests.support.control_plane import ControlPlane
from tests.support.faults import Answer, FaultyTransport, Rule
from tests.support.live import until

pytestmark = pytest.mark.kube


async def test_a_cluster_leaves_when_its_toleration_ends_and_returns_when_the_taint_goes(
    api: Api, control_plane: ControlPlane
) -> None:
    add_cluster(api, "eu-1", "eu")
    add_cluster(api, "eu-2", "eu", [{"key": "old", "effect": "PreferNoSelect", "timeAdded": "2026-01-01T00:00:00Z"}])
    tolerated = {"key": f"{GROUP}/unreachable", "operator": "Exists", "tolerationSeconds": 3}
    steady = {"configurations": [{"scoreCoordinate": {"builtIn": "Steady"}, "weight": 0}]}
    add_placement(api, numberOfClusters=1, tolerations=[tolerated], prioritizerPolicy=steady)
    async with deciding(control_plane):
        await eventually(lambda: decided(api) == ["eu-1"], "the cluster without a taint")
        began = datetime.now(UTC).replace(microsecond=0)
        taint = {"key": f"{GROUP}/unreachable", "effect": "NoSelect", "timeAdded": f"{began:%Y-%m-%dT%H:%M:%SZ}"}
        api.patch("ManagedCluster", "eu-1", {"spec": {"taints": [taint]}})
        await eventually(lambda: decided(api) == ["eu-2"], "the other one once the toleration has ended")
        assert datetime.now(UTC) >= began + timedelta(seconds=3)
        api.patch("ManagedCluster", "eu-1", {"spec": {"taints": None}})
        await eventually(lambda: decided(api) == ["eu-1"], "the cluster to be back without its taint")


async def test_a_taint_that_goes_in_time_moves_nothing(api: Api, control_plane: ControlPlane) -> None:
    for name in ("eu-1", "eu-2"):
        add_cluster(api, name, "eu")
    tolerated = {"key": f"{GROUP}/unreachable", "operator": "Exists", "tolerationSeconds": 4}
    add_placement(api, numberOfClusters=1, tolerations=[tolerated])
    async with deciding(control_plane) as live:
        await eventually(lambda: condition(api, "PlacementSatisfied").get("status") == "True", "the condition")
        page = api.get("PlacementDecision", "web-decision-1", NAMESPACE)["metadata"]["resourceVersion"]
        now = datetime.now(UTC)
        taint = {"key": f"{GROUP}/unreachable", "effect": "NoSelect", "timeAdded": f"{now:%Y-%m-%dT%H:%M:%SZ}"}
        api.patch("ManagedCluster", "eu-1", {"spec": {"taints": [taint]}})
        key = f"{NAMESPACE}/web"
        await until(lambda: live.state.evaluation(key).until < time.time() + 5, "the hub to know when it ends")
        api.patch("ManagedCluster", "eu-1", {"spec": {"taints": None}})
        await until(lambda: live.state.evaluation(key).until > time.time() + 5, "the hub to know that it does not")
        await asyncio.sleep(max(0.0, (now + timedelta(seconds=4.5) - datetime.now(UTC)).total_seconds()))
        assert decided(api) == ["eu-1"]
        assert api.get("PlacementDecision", "web-decision-1", NAMESPACE)["metadata"]["resourceVersion"] == page


def told(api: Api, reason: str) -> list[Object]:
    """Events about the placement that is there now."""
    uid = api.get("Placement", "web", NAMESPACE)["metadata"]["uid"]
    events = api.list("Event", NAMESPACE)
    return [each for each in events if each["reason"] == reason and each["involvedObject"].get("uid") == uid]


async def test_events_on_a_placement_tell_what_was_decided_and_what_is_missing(
    api: Api, control_plane: ControlPlane, granted: str
) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, **spread(2))
    async with deciding(control_plane, granted):
        await eventually(lambda: told(api, "DecisionCreate"), "an event about the page")
        await eventually(lambda: told(api, "NotAllDecisionsScheduled"), "an event about what is missing")
        (made,), (missing,) = told(api, "DecisionCreate"), told(api, "NotAllDecisionsScheduled")
        assert made["message"] == "web-decision-1: 1 cluster joined: eu-1"
        assert (made["type"], missing["type"]) == ("Normal", "Warning")
        assert (made["involvedObject"]["kind"], made["involvedObject"]["name"]) == ("Placement", "web")
        assert missing["message"].startswith("1 more cluster is wanted")
        add_cluster(api, "us-1", "us")
        await eventually(lambda: told(api, "DecisionUpdate"), "an event about the change")
        await eventually(lambda: told(api, "AllDecisionsScheduled"), "an event that nothing is missing")
        assert told(api, "DecisionUpdate")[0]["message"] == "web-decision-1: 1 cluster joined: us-1"
        wrong = [{"topologyKey": "a", "topologyKeyType": "Label"}] * 2
        api.patch("Placement", "web", {"spec": {"spreadPolicy": {"spreadConstraints": wrong}}}, NAMESPACE)
        await eventually(lambda: told(api, "Misconfigured"), "an event about the mistake")


async def test_a_write_that_keeps_failing_is_tried_later_and_later_and_holds_up_nobody(
    api: Api, control_plane: ControlPlane
) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, numberOfClusters=1)
    add_placement(api, "other")
    rules: list[Rule] = []

    def refuse(faults: FaultyTransport) -> None:
        rules.append(faults.on("PATCH", "/placementdecisions/web-decision-1", Answer(403, reason="Forbidden")))

    async with deciding(control_plane, trouble=refuse) as live:
        await eventually(lambda: condition(api, "PlacementSatisfied", "other").get("status") == "True", "the other")
        (rule,) = rules
        await until(lambda: rule.hits >= 3, "three tries")
        await asyncio.sleep(1.0)
        # After half a second, one, two: four tries would take longer than this.
        assert rule.hits == 3
        assert b"bayplan_placements_not_written 1" in live.render_metrics()
        add_cluster(api, "eu-2", "eu")
        await until(lambda: len(live.state.clusters(f"{NAMESPACE}/other")) == 2, "another cluster to be seen")
        assert rule.hits == 3
        rule.times = 0
        await eventually(lambda: condition(api, "PlacementSatisfied").get("status") == "True", "it to be written")
        await until(lambda: b"bayplan_placements_not_written 0" in live.render_metrics(), "nothing to be left")


async def test_whoever_mends_a_placement_does_not_wait(api: Api, control_plane: ControlPlane) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, numberOfClusters=1)
    rules: list[Rule] = []

    def refuse(faults: FaultyTransport) -> None:
        rules.append(faults.on("PATCH", "/placements/web/status", Answer(422, reason="Invalid"), times=4))

    async with deciding(control_plane, trouble=refuse) as live:
        await until(lambda: rules[0].hits == 4, "four tries", 15.0)
        api.patch("Placement", "web", {"spec": {"numberOfClusters": 2}}, NAMESPACE)
        began = time.monotonic()
        await eventually(lambda: condition(api, "PlacementSatisfied").get("status") == "False", "the condition")
        # The next try of the old one would have come four seconds after the last.
        assert time.monotonic() - began < 3.0
        await until(lambda: b"bayplan_placements_not_written 0" in live.render_metrics(), "nothing to be left")


async def test_a_placement_that_comes_while_others_are_decided_is_written(
    api: Api, control_plane: ControlPlane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It wants nothing, so deciding it changes nothing, and only its coming says that it must be written."""
    monkeypatch.setattr("bayplan.app.placement.live.DECIDED_AT_ONCE", 1)
    add_cluster(api, "eu-1", "eu")
    for number in range(10):
        add_placement(api, f"p{number}", numberOfClusters=1)
    async with deciding(control_plane):
        for number in range(10):
            api.patch("Placement", f"p{number}", {"spec": {"numberOfClusters": 0}}, NAMESPACE)
            add_placement(api, f"late-{number}", numberOfClusters=0)
        for number in range(10):
            name = f"late-{number}"
            await eventually(partial(condition, api, "PlacementSatisfied", name), f"{name} to be written")
