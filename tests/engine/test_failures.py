"""What happens to a pod that was not placed: queue, event, condition, nomination and evictions."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.engine.events import BindFailed, NodeAdded, PodAdded, PodChanged, PodDeleted
from bayplan.engine.failures import MAX_NOTE_BYTES, cut
from bayplan.engine.intents import Emit, Intent, PatchStatus
from bayplan.errors import ConflictError, LeadershipLostError, NotFoundError
from bayplan.framework.results import Nomination, PostFilterResult
from bayplan.framework.status import Code, Status, failed, unresolvable, unschedulable
from bayplan.testing import node, pod
from tests.engine.support import (
    SaysFilter,
    SaysPostFilter,
    SaysPreFilter,
    SaysReserve,
    World,
    evict_of,
    named,
    note_of,
    patch_of,
)

P = pod("p").priority(10)
NO = unschedulable("no")


def rejecting(post_filter: Any = None, status: Status = NO) -> World:
    """A scheduler whose filter rejects every pod on its one node."""
    plugins = [named(SaysFilter, "F", answer=status)]
    if post_filter is not None:
        plugins.append(named(SaysPostFilter, "Post", answer=post_filter))
    world = World(*plugins)
    world.add(node("n"))
    return world


# -- event and condition --


def test_a_rejected_pod_gets_an_event_a_condition_and_a_place_to_wait() -> None:
    world = rejecting()
    world.add(P)
    event, patch = world.schedule()
    note = "0/1 nodes are available: 1 no."
    assert event == Emit(P.build(), "Warning", "FailedScheduling", "Scheduling", note, reporter="default-scheduler")
    assert patch == PatchStatus(P.build(), "Unschedulable", note, "")
    ((place, queued),) = world.queue.entries()
    assert (place, set(queued.unschedulable_plugins), set(queued.pending_plugins)) == ("unschedulable", {"F"}, set())


@pytest.mark.parametrize(
    ("status", "reason", "place", "rejectors", "pending"),
    [
        (NO, "Unschedulable", "unschedulable", {"F"}, set()),
        (unresolvable("wrong"), "Unschedulable", "unschedulable", {"F"}, set()),
        (Status(Code.PENDING, ("not yet",)), "Unschedulable", "unschedulable", {"F"}, {"F"}),
        (failed("broken"), "SchedulerError", "backoff", set(), set()),
    ],
)
def test_the_kind_of_no_decides_where_the_pod_waits(
    status: Status, reason: str, place: str, rejectors: set[str], pending: set[str]
) -> None:
    world = rejecting(status=status)
    world.add(P)
    assert patch_of(world.schedule()).reason == reason
    ((where, queued),) = world.queue.entries()
    assert (where, set(queued.unschedulable_plugins), set(queued.pending_plugins)) == (place, rejectors, pending)


def test_without_nodes_the_pod_is_tried_again_after_an_error_backoff_or_with_the_first_node() -> None:
    world = World(named(SaysFilter, "F"))
    world.add(P.nominated("gone"))
    intents = world.schedule()
    assert note_of(intents) == "no nodes available to schedule pods"
    patch = patch_of(intents)
    assert (patch.reason, patch.nominated_node) == ("Unschedulable", "")
    ((place, queued),) = world.queue.entries()
    assert (place, queued.consecutive_errors, queued.unschedulable_plugins) == ("backoff", 1, frozenset())
    assert world.scheduler.schedule(1) is None, "an error backoff is waited out"
    world.scheduler.handle(NodeAdded(node("n").build()))
    assert world.scheduler.schedule(1) is not None, "unlike kube-scheduler's, which lasts up to ten seconds more"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("short", "short"),
        ("x" * 1024, "x" * 1024),
        ("x" * 1025, "x" * 1020 + " ..."),
        ("é" * 512, "é" * 512),
        ("é" * 513, "é" * 510 + " ..."),
        ("x" + "é" * 512, "x" + "é" * 509 + " ..."),
    ],
    ids=["short", "just fits", "one too long", "fits in bytes", "cut between letters", "never cut inside a letter"],
)
def test_a_note_is_cut_to_1024_bytes(text: str, expected: str) -> None:
    assert cut(text) == expected
    assert len(cut(text).encode()) <= MAX_NOTE_BYTES


def test_the_event_is_cut_and_the_condition_is_not() -> None:
    world = rejecting(status=unschedulable(*(f"reason number {number:03d}" for number in range(100))))
    world.add(P)
    intents = world.schedule()
    assert len(note_of(intents)) == 1024
    assert note_of(intents).endswith(" ...")
    assert patch_of(intents).message.endswith("1 reason number 099.")


# -- nominations --


@pytest.mark.parametrize(
    ("post_filter", "expected", "nominated_after"),
    [
        (PostFilterResult(Nomination("n")), "n", "n"),
        (PostFilterResult(Nomination(""), status=NO), "", ""),
        (NO, None, "old"),
        (failed("broken"), None, "old"),
        (RuntimeError("broken"), None, "old"),
        (None, "", ""),
    ],
    ids=["found a node", "nothing helps", "not eligible", "an error", "raised", "no PostFilter plugin"],
)
def test_a_nomination_follows_what_post_filter_said(
    post_filter: Any, expected: str | None, nominated_after: str
) -> None:
    world = rejecting(post_filter)
    made = P.nominated("old")
    world.add(made)
    assert patch_of(world.schedule()).nominated_node == expected
    nominated = {name for name in ("n", "old") if world.queue.nominations.nominated(name)}
    assert nominated == ({nominated_after} if nominated_after else set())


@pytest.mark.parametrize(
    "plugin",
    [
        named(SaysPreFilter, "A", answer=failed("broken")),
        named(SaysFilter, "A", answer=RuntimeError("broken")),
        named(SaysReserve, "A", answer=NO),
        named(SaysReserve, "A", answer=failed("broken")),
    ],
    ids=["PreFilter error", "Filter raises", "Reserve no", "Reserve error"],
)
def test_errors_and_refused_commits_clear_the_nomination(plugin: Any) -> None:
    world = World(plugin)
    world.add(node("n"), P.nominated("old"))
    assert patch_of(world.schedule()).nominated_node == ""
    assert list(world.queue.nominations.nominated("old")) == []


def test_a_nomination_counts_before_the_api_server_knows_of_it() -> None:
    world = rejecting(PostFilterResult(Nomination("n"), (pod("victim").on("n").build(),)))
    world.add(P)
    world.schedule()
    assert [other.name for other in world.queue.nominations.nominated("n")] == ["p"]


# -- a pod that changed meanwhile --


def failing_bind(world: World, made: Any, *events: Any) -> list[Any]:
    """Schedule the pod, let things happen to it, then let its binding fail."""
    world.add(made)
    bind = world.bind()
    for event in events:
        world.scheduler.handle(event)
    return world.scheduler.handle(BindFailed(bind.queued, bind.decision, failed("bind refused")))


def open_world() -> World:
    world = World()
    world.add(node("n"))
    return world


def test_the_newest_version_goes_back_to_the_queue() -> None:
    world = open_world()
    intents = failing_bind(world, P, PodChanged(P.build(), P.label(v="2").build()))
    assert patch_of(intents).pod.labels == {"v": "2"}
    ((place, queued),) = world.queue.entries()
    assert (place, queued.pod.labels) == ("backoff", {"v": "2"})


@pytest.mark.parametrize("event", [PodDeleted(P.build()), PodChanged(P.build(), P.on("m").build())])
def test_a_pod_that_is_gone_or_placed_is_told_about_but_not_queued(event: Any) -> None:
    world = open_world()
    intents = failing_bind(world, P, event)
    assert note_of(intents) == "bind refused"
    assert patch_of(intents).pod == P.build()
    assert list(world.queue.entries()) == []


def test_a_pod_made_anew_gets_no_word_of_the_old_one() -> None:
    world = open_world()
    again = P.uid("again")
    intents = failing_bind(world, P, PodDeleted(P.build()), PodAdded(again.build()))
    assert intents == []
    assert world.queue.where("again") == "active"
    assert world.where(P) is None


# -- evictions --


def test_victims_are_evicted_unless_they_are_leaving_already() -> None:
    victims = (pod("v1").on("n").build(), pod("v2").on("n").terminating().build())
    world = rejecting(PostFilterResult(Nomination("n"), victims))
    world.add(P)
    evict = evict_of(world.schedule())
    assert (evict.preemptor.name, evict.node_name, evict.reporter) == ("p", "n", "default-scheduler")
    assert [victim.name for victim in evict.victims] == ["v1"]


def test_lower_pods_nominated_to_the_node_lose_their_place() -> None:
    world = rejecting(PostFilterResult(Nomination("n"), (pod("victim").on("n").build(),)))
    for name, priority, where in (("low", 9, "n"), ("equal", 10, "n"), ("high", 11, "n"), ("elsewhere", 1, "m")):
        world.queue.nominations.nominate(pod(name).priority(priority).build(), where)
    world.add(P)
    evict = evict_of(world.schedule())
    assert [other.name for other in evict.lose_nomination] == ["low"]
    assert [other.name for other in world.queue.nominations.nominated("n")] == ["equal", "high", "p"]
    assert [other.name for other in world.queue.nominations.nominated("m")] == ["elsewhere"]


def test_help_without_victims_evicts_nobody() -> None:
    world = rejecting(PostFilterResult(Nomination("n")))
    world.add(P)
    assert [type(intent) for intent in world.schedule()] == [Emit, PatchStatus]


# -- what the API server said to a bind --


def unbound(error: Exception | None, slow: dict[str, float]) -> list[Intent]:
    """What is to be done after a bind that ended with this error."""
    world = World()
    world.add(node("n"), P)
    bind = world.bind()
    bind.decision.slow_plugins = slow
    return world.scheduler.handle(BindFailed(bind.queued, bind.decision, Status(Code.ERROR, ("no",), error=error)))


@pytest.mark.parametrize("error", [ConflictError(409, "taken"), NotFoundError(404, "gone")])
def test_nothing_is_said_about_a_pod_that_others_bound_or_deleted(error: Exception) -> None:
    assert unbound(error, {}) == []
    assert note_of(unbound(None, {})) == "no"


@pytest.mark.parametrize(
    ("slow", "text"),
    [
        ({}, "not the leader any more: nothing was written"),
        (
            {"Slow/Filter": 12.04, "Other/Score": 0.2},
            "not the leader any more: nothing was written; plugin Slow took 12.0 s in Filter, and meanwhile the lease was "
            "not renewed",
        ),
    ],
)
def test_a_lease_that_ran_out_is_not_blamed_on_the_bind_plugin(slow: dict[str, float], text: str) -> None:
    intents = unbound(LeadershipLostError("not the leader any more: nothing was written"), slow)
    assert note_of(intents) == patch_of(intents).message == text
