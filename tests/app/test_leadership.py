"""Two live schedulers, one lease: only the leader binds, and the other takes over when it must.

Lease times are a fifth of the defaults, in the same proportions.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, ClassVar

import pytest
from structlog.testing import capture_logs

from bayplan.errors import LeadershipLostError
from bayplan.framework import FilterPlugin
from tests.support.api import Object
from tests.support.faults import Hold, LostRequest
from tests.support.live import Cluster, config_of, running, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

LEASE_S, DEADLINE_S, RETRY_S = 3.0, 2.0, 0.4
LEASES = "/leases/"


def lease(cluster: Cluster, identity: str) -> dict[str, Any]:
    return {
        "identity": identity,
        "namespace": "kube-system",
        "name": f"lease-{cluster.namespace}",
        "lease_s": LEASE_S,
        "renew_deadline_s": DEADLINE_S,
        "retry_s": RETRY_S,
    }


async def held(cluster: Cluster) -> Object:
    found: Object = await asyncio.to_thread(cluster.api.get, "Lease", f"lease-{cluster.namespace}", "kube-system")
    return found["spec"]  # type: ignore[no-any-return]


async def test_only_the_leader_binds_and_the_lease_is_given_back_at_once(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with (
        running(cluster.plane, lease=lease(cluster, "one")) as one,
        running(cluster.plane, lease=lease(cluster, "two"), wait=False) as two,
    ):
        await cluster.pods(5)
        await cluster.all_bound(5)
        assert (await held(cluster))["holderIdentity"] == "one"
        await until(two.live.is_synced, "the second to have seen the cluster")
        assert two.faults.count("POST", "/binding$") == 0
        assert not two.live.is_working()
        stopped_at = time.monotonic()
        await one.stop()
        assert (await held(cluster))["holderIdentity"] in ("", "two")
        await two.scheduling()
        assert time.monotonic() - stopped_at < LEASE_S, "it need not wait for the lease to run out"
        await cluster.pods(5, prefix="later")
        await cluster.all_bound(10)
        spec = await held(cluster)
        assert (spec["holderIdentity"], spec["leaseTransitions"]) == ("two", 1)
        assert two.faults.count("POST", "/binding$") == 5


async def test_a_leader_cut_off_stops_before_the_other_starts(cluster: Cluster, witness: Witness) -> None:
    await cluster.nodes(2)
    async with (
        running(cluster.plane, lease=lease(cluster, "one")) as one,
        running(cluster.plane, lease=lease(cluster, "two"), wait=False) as two,
    ):
        await cluster.pod("p1")
        await cluster.bound("p1")
        await until(two.live.is_synced, "the second to have seen the cluster")
        # Its requests get nowhere, but it still hears of new pods.
        one.faults.on("PUT|POST|PATCH|GET", "", LostRequest())
        cut_at = time.monotonic()
        await cluster.pods(10, prefix="new")
        await until(lambda: not one.live.supervisor.may_write(), "the first to know that it must not write")
        stopped_writing = time.monotonic()
        await two.scheduling()
        took_over = time.monotonic()
        assert stopped_writing < took_over
        assert stopped_writing - cut_at < DEADLINE_S + 0.5
        assert took_over - cut_at < LEASE_S + 3 * RETRY_S + 0.5
        with pytest.raises(LeadershipLostError):
            await one.task
        binds = one.faults.count("POST", "/binding$")
        await cluster.all_bound(11)
        assert one.faults.count("POST", "/binding$") == binds


async def test_a_bind_that_waited_while_the_lease_was_lost_is_not_sent(cluster: Cluster) -> None:
    """As after a SIGSTOP: what was about to be written when the clock stood still must not be written now."""
    await cluster.node()
    async with running(cluster.plane, lease=lease(cluster, "one")) as one:
        hold = Hold()
        one.faults.on("POST", "/binding$", LostRequest(), times=1)
        one.faults.on("PUT|POST", f"{LEASES}|/leases$", hold)
        await cluster.pod()
        await until(lambda: one.faults.count("POST", "/binding$") == 1, "the first try")
        election = one.live.supervisor.election
        assert election is not None
        election._renewed_at = (election._renewed_at or 0.0) - 2 * DEADLINE_S
        await asyncio.sleep(0.5)
        assert one.faults.count("POST", "/binding$") == 1
        assert "nodeName" not in (await cluster.get("p1"))["spec"]


class Slow(FilterPlugin):
    """Takes its time for one pod, once."""

    name = "Slow"
    is_rested: ClassVar[bool] = False

    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        if not Slow.is_rested:
            Slow.is_rested = True
            time.sleep(DEADLINE_S + 0.2)


async def test_a_plugin_that_holds_up_the_renewal_is_named_and_its_pod_is_tried_again(
    cluster: Cluster, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Slow, "is_rested", False)
    await cluster.nodes(2)
    async with running(cluster.plane, plugins=[Slow], lease=lease(cluster, "one")):
        with capture_logs() as logs:
            await cluster.pod("p1")
            event = await cluster.event("p1", "FailedScheduling")
            await cluster.bound("p1")
    (line,) = (each for each in logs if each["event"].startswith("the lease could not be renewed in time"))
    assert (line["plugin"], line["pod"]) == ("Slow/Filter", f"{cluster.namespace}/p1")
    assert "DefaultBinder" not in event["message"]
    assert f"plugin Slow took {DEADLINE_S + 0.2:.1f} s in Filter" in event["message"]


async def test_a_short_trouble_with_the_lease_costs_nothing(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane, lease=lease(cluster, "one")) as one:
        one.faults.on("PUT|GET", LEASES, LostRequest(), times=2)
        await asyncio.sleep(3 * RETRY_S)
        await cluster.pod()
        await cluster.bound()
        assert (await held(cluster))["leaseTransitions"] == 0


async def test_with_delay_cache_until_active_only_the_leader_follows_the_cluster(cluster: Cluster) -> None:
    await cluster.node()
    config = config_of(delayCacheUntilActive=True)
    async with (
        running(cluster.plane, config=config, lease=lease(cluster, "one")) as one,
        running(cluster.plane, config=config, lease=lease(cluster, "two"), wait=False) as two,
    ):
        await cluster.pod()
        await cluster.bound()
        await until(lambda: two.faults.count("GET", LEASES) >= 2, "the second to ask for the lease")
        assert one.faults.count("GET", "/pods$") == 1
        assert two.faults.count("GET", "/pods$") == 0
        assert two.live.is_ready(), "it waits for its turn, and that is fine"
        await one.stop()
        await two.scheduling()
        await cluster.pod("p2")
        await cluster.bound("p2")
