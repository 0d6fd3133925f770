"""The scheduler as a whole: events in, intents out."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bayplan.engine.events import BindFailed, PodChanged, PodDeleted, PreemptionDone, Tick
from bayplan.engine.intents import Bind, Emit
from bayplan.framework.events import Change, On
from bayplan.framework.results import Nomination, PostFilterResult
from bayplan.framework.status import SKIP, SUCCESS, Code, Status, failed, unresolvable, unschedulable
from bayplan.plugins.default_preemption import DefaultPreemption
from bayplan.testing import node, pod
from tests.engine.support import (
    SaysFilter,
    SaysPostFilter,
    SaysPreEnqueue,
    SaysScoreNode,
    World,
    named,
    note_of,
)

P = pod("p")
NO = unschedulable("no")


# -- the way of a pod that fits --


def test_a_pod_is_decided_committed_bound_and_confirmed() -> None:
    world = World()
    world.add(node("n"), P.cpu(1))
    bind = world.bind()
    assert (bind.decision.node, bind.queued.attempts) == ("n", 1)
    assert world.cache.is_assumed(P.build().uid)
    assert world.where(P) == "in_flight"
    (event,) = world.finish(bind)
    note = "Successfully assigned default/p to n"
    assert event == Emit(P.cpu(1).build(), "Normal", "Scheduled", "Binding", note, reporter="default-scheduler")
    assert world.where(P) is None
    assert world.cache.is_assumed(P.build().uid), "only the informer confirms"
    world.scheduler.handle(PodChanged(P.cpu(1).build(), P.cpu(1).on("n").build()))
    assert not world.cache.is_assumed(P.build().uid)
    assert world.cache.nodes.req_cpu_milli.tolist() == [1000]


def test_there_may_be_nothing_to_do() -> None:
    assert World().scheduler.schedule(1) is None


def test_scheduling_goes_on_with_assumed_pods_counted() -> None:
    full = named(SaysFilter, "Two", answer=lambda state, pod, node: NO if node.pods_count >= 2 else None)
    world = World(full)
    world.add(node("n"), *(pod(f"p{number}") for number in range(3)))
    assert [type(world.schedule()[0]) for _ in range(3)] == [Bind, Bind, Emit]


def test_a_pod_that_is_being_deleted_is_skipped_with_a_word() -> None:
    world = World()
    world.add(node("n"), P.terminating())
    assert note_of(world.schedule()) == "skip schedule deleting pod: default/p"
    assert list(world.queue.entries()) == []


def test_a_pod_that_is_on_its_way_already_is_skipped_without_a_word() -> None:
    world = World()
    world.add(node("n"), P)
    bind = world.bind()
    world.queue.done(bind.queued.pod.uid)
    world.queue.add(P.build())
    assert world.schedule() == []
    assert list(world.queue.entries()) == []


def test_a_committed_pod_is_nominated_no_longer() -> None:
    world = World()
    world.add(node("n"), P.nominated("n"))
    assert len(world.queue.nominations.nominated("n")) == 1
    world.bind()
    assert len(world.queue.nominations.nominated("n")) == 0


def test_a_plugin_sees_its_profile_through_its_handle() -> None:
    world = World(named(SaysFilter, "F"))
    handle = world.plugin("F").handle
    world.add(node("n"), P.nominated("n"))
    assert handle.profile_name == "default-scheduler"
    assert handle.clock is world.clock
    assert handle.snapshot().nodes.names == ["n"]
    assert [each.name for each in handle.nominated.nominated("n")] == ["p"]
    assert handle.filters.fits(world.scheduler.decide(P.build()).state, P.build(), world.cache.nodes.node(0)).is_success
    assert handle.waiting.get("nobody") is None
    assert not handle.is_preempting("nobody")


def test_a_plugin_that_filters_while_it_is_being_made_is_told_why_not() -> None:
    class Eager(SaysFilter):
        name = "Eager"

        def __init__(self, args: Any, handle: Any) -> None:
            super().__init__(args, handle)
            handle.filters.fits(None, None, None)

    with pytest.raises(Exception, match="must not call the filters: the profile is not complete yet"):
        World(Eager)


# -- deciding --


def test_the_same_seed_gives_the_same_choices_and_another_seed_others() -> None:
    def choices(seed: int) -> list[str | None]:
        world = World(seed=seed)
        world.add(*(node(f"n{number}") for number in range(10)), *(pod(f"p{number}") for number in range(20)))
        return [world.bind().decision.node for _ in range(20)]

    assert choices(1) == choices(1)
    assert choices(1) != choices(2)


def test_asking_what_would_happen_moves_nothing() -> None:
    world = World(named(SaysScoreNode, "S", answer=1), percentage=50)
    world.add(*(node(f"n{number}") for number in range(300)), P)
    seen = [world.scheduler.decide(P.build()).feasible.tolist() for _ in range(3)]
    assert seen == [list(range(150))] * 3
    assert world.cache.pod_count == 0
    assert world.where(P) == "active"


def test_a_partial_search_starts_where_the_last_one_ended() -> None:
    world = World(named(SaysScoreNode, "S", answer=1), percentage=50)
    world.add(*(node(f"n{number}") for number in range(300)), pod("a"), pod("b"), pod("c"))
    firsts = [int(world.bind().decision.feasible[0]) for _ in range(3)]
    assert firsts == [0, 150, 0]


# -- PreEnqueue --


@pytest.mark.parametrize(
    ("answer", "place"),
    [
        (None, "active"),
        (SUCCESS, "active"),
        (SKIP, "gated"),
        (NO, "gated"),
        (unresolvable("no"), "gated"),
        (Status(Code.PENDING), "gated"),
        (Status(Code.WAIT), "gated"),
        (failed("broken"), "gated"),
        (RuntimeError("broken"), "gated"),
        (True, "gated"),
    ],
    ids=["None", "Success", "Skip", "UNS", "UUR", "Pending", "Wait", "Error", "raises", "junk"],
)
def test_what_pre_enqueue_may_say(answer: Any, place: str) -> None:
    world = World(named(SaysPreEnqueue, "Gate", answer=answer))
    world.add(node("n"), P)
    assert world.where(P) == place
    assert (world.scheduler.schedule(1) is None) is (place == "gated"), "nothing is told of a gated pod"


# -- failed binds --


class Rejected(SaysFilter):
    """Rejects pods called waiting, and wants to hear of pods that leave their nodes."""

    name = "Rejected"

    def __init__(self, args: Any, handle: Any) -> None:
        super().__init__(args, handle)
        self.heard: list[Any] = []

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return NO if pod.name == "waiting" else None

    def requeue_on(self) -> Any:
        return (On("Pod", Change.DELETED, self._hears),)

    def _hears(self, waiting: Any, old: Any, new: Any) -> bool:
        self.heard.append((waiting, old))
        return True


@pytest.mark.parametrize(
    ("status", "waited", "place"),
    [
        (failed("conflict"), False, "backoff"),
        (NO, False, "backoff"),
        (NO.by("Rejected"), True, "unschedulable"),
    ],
    ids=["an error", "PreBind's no", "Permit's no"],
)
def test_a_failed_bind_frees_the_room_and_tells_those_who_wait_for_it(status: Status, waited: bool, place: str) -> None:
    world = World(Rejected)
    world.add(node("n"), pod("waiting"))
    world.schedule()
    world.add(P)
    bind = world.bind()
    world.scheduler.handle(BindFailed(bind.queued, bind.decision, status, waited))
    assert world.cache.pod_count == 0
    assert world.where(pod("waiting")) == "backoff"
    (about, gone), *_ = world.plugin("Rejected").heard
    assert (about.name, gone.name, gone.node_name) == ("waiting", "p", "n")
    assert [each for each, _ in world.plugin("Rejected").heard if each.name == "p"] == [], "never for the pod itself"
    assert world.where(P) == place


def test_a_failed_bind_of_a_pod_that_was_bound_after_all_takes_nothing_away() -> None:
    world = World()
    world.add(node("n"), P)
    bind = world.bind()
    world.scheduler.handle(PodChanged(P.build(), P.on("n").build()))
    world.scheduler.handle(BindFailed(bind.queued, bind.decision, failed("timeout")))
    assert world.cache.pod_count == 1
    assert list(world.queue.entries()) == []


def test_a_bound_pod_that_is_deleted_before_the_news_of_its_bind_leaves_nothing_behind() -> None:
    world = World()
    world.add(node("n"), P)
    event = world.run(world.scheduler.binding_cycle(world.bind()).run())
    world.scheduler.handle(PodDeleted(P.build()))
    world.scheduler.handle(event)
    assert world.cache.pod_count == 0
    assert list(world.queue.entries()) == []


# -- preemption under way --


def preempting() -> World:
    victim = pod("victim").on("n").build()
    world = World(
        named(SaysFilter, "F", answer=NO),
        named(SaysPostFilter, "Post", answer=PostFilterResult(Nomination("n"), (victim,))),
        DefaultPreemption,
    )
    world.add(node("n"), victim, P)
    world.schedule()
    return world


def test_a_preemptor_is_held_back_until_its_victims_were_told() -> None:
    world = preempting()
    world.scheduler.handle(PodDeleted(pod("victim").on("n").build()))
    assert world.where(P) == "gated"
    world.scheduler.handle(PreemptionDone(P.build()))
    assert world.where(P) == "active"


def test_a_preemptor_nobody_woke_stays_where_it_is_when_its_victims_were_told() -> None:
    world = preempting()
    world.scheduler.handle(PreemptionDone(P.build()))
    assert world.where(P) == "unschedulable"


def test_a_failed_eviction_wakes_the_preemptor() -> None:
    world = preempting()
    world.scheduler.handle(PreemptionDone(P.build(), failed=True))
    assert world.where(P) == "active"


def test_time_alone_brings_pods_back() -> None:
    world = World(named(SaysFilter, "F", answer=RuntimeError("boom")))
    world.add(node("n"), P)
    world.schedule()
    assert world.scheduler.schedule(1) is None
    world.clock.advance(2)
    assert world.scheduler.handle(Tick()) == []
    assert world.where(P) == "active"


class Working(SaysFilter):
    """Does something beside scheduling."""

    name = "Working"
    began = 0

    async def background(self) -> None:
        self.began += 1


def test_only_what_plugins_do_beside_scheduling_is_handed_out() -> None:
    world = World(Working, named(SaysFilter, "Idle"))
    ((_, work),) = world.scheduler.background()
    asyncio.run(work)
    assert world.plugin("Working").began == 1
