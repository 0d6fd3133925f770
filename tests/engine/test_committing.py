"""Assume, Reserve, Permit: what each code means, and that everything is undone in reverse on a no."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.clock import VirtualClock
from bayplan.engine.cache import ClusterCache
from bayplan.engine.committing import commit, undo
from bayplan.engine.waiting_pods import WaitingPods
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import Plugin
from bayplan.framework.profile import Profile
from bayplan.framework.results import Wait
from bayplan.framework.status import SKIP, SUCCESS, Code, Status, failed, unresolvable, unschedulable
from bayplan.testing import cluster, node, pod
from tests.engine.support import SaysPermit, SaysReserve, World, make_profile, named, note_of, patch_of

P = pod("p").cpu(1)
UNS, UUR = unschedulable("no room"), unresolvable("wrong")
PENDING, WAIT, ERROR = Status(Code.PENDING, ("not yet",)), Status(Code.WAIT), failed("the disk is gone")
RAISES = RuntimeError("boom")


class Committing:
    """One pod that was decided to go to node ``n``."""

    def __init__(self, *plugins: type[Plugin]) -> None:
        self.cache: ClusterCache = cluster([node("n")])
        self.profile: Profile = make_profile(plugins)
        self.waiting = WaitingPods()
        self.clock = VirtualClock()
        self.decision = Decision(P.build(), "default-scheduler", node="n")

    def commit(self) -> Status:
        return commit(self.decision, self.profile, self.cache, self.waiting, self.clock)

    def undo(self) -> None:
        undo(self.decision, self.profile, self.cache, self.waiting)

    def plugin(self, name: str) -> Any:
        return self.profile.instances[name]

    @property
    def is_assumed(self) -> bool:
        taken = int(self.cache.nodes.req_cpu_milli[0])
        assert taken == (1000 if self.cache.is_assumed(P.build().uid) else 0)
        return taken > 0


def raised(point: str) -> str:
    return f"plugin A failed in {point} for pod default/p: RuntimeError: boom"


def answers(point: str) -> list[Any]:
    """The rows of the table of codes that Reserve and Permit share."""
    running = f'running {point} plugin "A": '
    return [
        pytest.param(None, Code.SUCCESS, "", id="None"),
        pytest.param(SUCCESS, Code.SUCCESS, "", id="Success"),
        pytest.param(UNS, Code.UNSCHEDULABLE, "no room", id="UNS"),
        pytest.param(UUR, Code.UNRESOLVABLE, "wrong", id="UUR"),
        pytest.param(PENDING, Code.PENDING, "not yet", id="Pending"),
        pytest.param(SKIP, Code.ERROR, f"{running}answered Skip", id="Skip"),
        pytest.param(WAIT, Code.ERROR, f"{running}answered Wait", id="Wait"),
        pytest.param(ERROR, Code.ERROR, f"{running}the disk is gone", id="Error"),
        pytest.param(RAISES, Code.ERROR, f"{running}{raised(point)}", id="raises"),
        pytest.param(
            True,
            Code.ERROR,
            f"{running}plugin A failed in {point} for pod default/p: "
            "TypeError: expected None, a Reason or a Status, got bool: True",
            id="junk",
        ),
    ]


@pytest.mark.parametrize(("answer", "code", "message"), answers("Reserve"))
def test_what_reserve_may_say(answer: Any, code: Code, message: str) -> None:
    committing = Committing(named(SaysReserve, "A", answer=answer), named(SaysReserve, "B"), named(SaysPermit, "C"))
    status = committing.commit()
    assert (status.code, status.message) == (code, message)
    assert status.is_success or status.plugin == "A"
    assert committing.is_assumed is status.is_success
    assert bool(committing.plugin("C").asked) is status.is_success


@pytest.mark.parametrize(("answer", "code", "message"), answers("Permit"))
def test_what_permit_may_say(answer: Any, code: Code, message: str) -> None:
    committing = Committing(named(SaysReserve, "R"), named(SaysPermit, "A", answer=answer), named(SaysPermit, "B"))
    status = committing.commit()
    assert (status.code, status.message) == (code, message)
    assert committing.is_assumed is status.is_success
    assert bool(committing.plugin("B").asked) is status.is_success
    assert [what for what, *_ in committing.plugin("R").asked] == (
        ["reserve"] if status.is_success else ["reserve", "unreserve"]
    )


def test_permits_not_yet_registers_a_waiting_pod_and_asks_the_others_too() -> None:
    plugins = [named(SaysPermit, "A", answer=Wait(10)), named(SaysPermit, "B"), named(SaysPermit, "C", answer=Wait(20))]
    committing = Committing(*plugins)
    assert committing.commit().is_wait
    assert committing.is_assumed
    held = committing.waiting.get(P.build().uid)
    assert held is not None
    assert (held.pod.name, held.node_name, sorted(held.pending_plugins)) == ("p", "n", ["A", "C"])


def test_a_no_after_a_not_yet_is_a_no() -> None:
    committing = Committing(named(SaysPermit, "A", answer=Wait(10)), named(SaysPermit, "B", answer=UNS))
    assert committing.commit().code is Code.UNSCHEDULABLE
    assert list(committing.waiting.list()) == []
    assert not committing.is_assumed


def test_a_wait_that_is_no_time_is_named() -> None:
    broken = named(SaysPermit, "A", answer=lambda *about: Wait("5m"))  # type: ignore[arg-type]
    status = Committing(broken).commit()
    assert status.message.startswith('running Permit plugin "A": plugin A failed in Permit')
    assert "timeout_s is a number of seconds, got '5m'" in status.message


def test_everything_is_undone_in_reverse_also_what_was_never_done_and_the_pod_is_forgotten_last() -> None:
    story: list[str] = []

    def tell(plugin: Any) -> None:
        assert committing.is_assumed, "the pod must still be on its node while plugins give back what it took"
        story.append(plugin.name)

    committing = Committing(
        named(SaysReserve, "A", undone=staticmethod(tell)),
        named(SaysReserve, "B", answer=UNS, undone=staticmethod(tell)),
        named(SaysReserve, "C", undone=staticmethod(tell)),
    )
    committing.commit()
    assert story == ["C", "B", "A"]
    assert [what for what, *_ in committing.plugin("C").asked] == ["unreserve"]
    assert not committing.is_assumed


def test_one_that_cannot_give_back_does_not_keep_the_others_from_it() -> None:
    def breaks(plugin: Any) -> None:
        raise RuntimeError("stuck")

    stuck = named(SaysReserve, "B", undone=staticmethod(breaks))
    committing = Committing(named(SaysReserve, "A"), stuck, named(SaysPermit, "P", answer=UNS))
    assert committing.commit().code is Code.UNSCHEDULABLE
    assert [what for what, *_ in committing.plugin("A").asked] == ["reserve", "unreserve"]
    assert not committing.is_assumed


def test_undoing_twice_or_after_the_pod_was_confirmed_takes_nothing_away() -> None:
    committing = Committing(named(SaysReserve, "A"))
    committing.commit()
    committing.cache.add_pod(P.on("n").build())
    committing.undo()
    assert committing.cache.pod_count == 1
    committing.cache.remove_pod(P.on("n").build())
    committing.undo()
    assert committing.cache.pod_count == 0


def test_a_pod_that_is_on_a_node_already_fails_by_itself() -> None:
    committing = Committing(named(SaysReserve, "A"))
    committing.cache.add_pod(P.on("n").build())
    status = committing.commit()
    assert status.is_error
    assert "is in the cache already and cannot be assumed" in status.message
    assert committing.plugin("A").asked == []
    assert committing.cache.pod_count == 1


# -- as the scheduler tells it --


@pytest.mark.parametrize("says", [SaysReserve, SaysPermit])
@pytest.mark.parametrize(
    ("answer", "reason", "note", "place"),
    [
        (UNS, "Unschedulable", "0/1 nodes are available: 1 no room.", "unschedulable"),
        (UUR, "Unschedulable", "0/1 nodes are available: 1 wrong.", "unschedulable"),
        (PENDING, "Unschedulable", "0/1 nodes are available: 1 not yet.", "unschedulable"),
        (unschedulable("a", "b"), "Unschedulable", "0/1 nodes are available: 1 a, 1 b.", "unschedulable"),
        (ERROR, "SchedulerError", 'plugin "A": the disk is gone', "backoff"),
    ],
)
def test_a_no_is_told_as_if_that_node_were_the_only_one(
    says: Any, answer: Any, reason: str, note: str, place: str
) -> None:
    world = World(named(says, "A", answer=answer))
    world.add(node("a"), node("b"), node("c"), P)
    intents = world.schedule()
    assert note_of(intents).endswith(note)
    patch = patch_of(intents)
    assert (patch.reason, patch.message, patch.nominated_node) == (reason, note_of(intents), "")
    assert world.where(P) == place
    assert world.cache.pod_count == 0


def test_the_plugin_that_said_no_is_the_one_to_ask_again() -> None:
    world = World(named(SaysReserve, "A", answer=PENDING))
    world.add(node("a"), P)
    world.schedule()
    ((_, queued),) = world.queue.entries()
    assert queued.unschedulable_plugins == queued.pending_plugins == {"A"}


def test_plugins_that_promise_to_reserve_nothing_are_not_asked() -> None:
    asked: list[str] = []

    class Listens(SaysReserve):
        name = "Listens"

        def reserve(self, state: Any, pod: Any, node_name: str) -> Any:
            asked.append(node_name)

    committing = Committing(Listens)
    committing.decision.reserves = False
    assert committing.commit().is_success
    assert committing.cache.is_assumed(committing.decision.pod.uid)
    assert not asked
    committing.undo()
    committing.decision.reserves = True
    assert committing.commit().is_success
    assert asked == ["n"]
