"""What-ifs: the engine decides about an imagined cluster, plugins see that one, and nothing real changes."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import StateError
from bayplan.framework.results import Wait
from bayplan.framework.status import unschedulable
from bayplan.testing import node, pod
from tests.engine.support import SaysFilter, SaysFilterTable, SaysPermit, SaysReserve, World, named

P = pod("p").cpu(3)
NO = unschedulable("no")


def room(state: Any, pod: Any, node: Any) -> Any:
    free = node.alloc_cpu_milli - node.req_cpu_milli
    return None if pod.accounted.cpu_milli <= free else unschedulable("no room")


def small() -> World:
    world = World(named(SaysFilter, "Room", answer=room))
    world.add(node("a").cpu(4), pod("there").cpu(2).on("a"))
    return world


def test_pods_and_nodes_come_and_go_without_anything_happening() -> None:
    world = small()
    before = world.cache.generation
    imagined = world.scheduler.what_if()
    assert imagined.decide(P.build()).node is None
    imagined.cache.remove_pod(pod("there").cpu(2).on("a").build())
    assert imagined.decide(P.build()).node == "a"
    imagined.cache.assume(pod("other").cpu(2).on("a").build())
    assert imagined.decide(P.build()).message.endswith("1 no room.")
    imagined.cache.add_node(node("b").cpu(4).build())
    assert imagined.decide(P.build()).node == "b"
    imagined.cache.remove_node("a")
    assert len(imagined.decide(P.build()).feasible) == 1
    assert world.scheduler.decide(P.build()).node is None
    assert (world.cache.generation, world.cache.pod_count, world.cache.nodes.names) == (before, 1, ["a"])


def test_what_was_tried_in_a_fork_is_not_there_in_what_it_was_forked_from() -> None:
    imagined = small().scheduler.what_if()
    imagined.cache.remove_pod(pod("there").cpu(2).on("a").build())
    first = imagined.fork()
    first.cache.add_pod(P.on("a").build())
    second = first.fork()
    second.cache.add_node(node("b").cpu(4).build())
    other = pod("other").cpu(3).build()
    assert [each.decide(other).node for each in (imagined, first, second)] == ["a", None, "b"]


def test_a_what_if_ends_with_the_state_that_it_was_made_of() -> None:
    world = small()
    imagined = world.scheduler.what_if()
    deeper = imagined.fork()
    imagined.cache.add_node(node("b").build())
    with pytest.raises(StateError, match="has changed since"):
        deeper.decide(P.build())
    world.add(node("c"))
    for use in (lambda: imagined.decide(P.build()), imagined.fork):
        with pytest.raises(StateError, match="has changed since"):
            use()


def test_plugins_see_the_imagined_cluster_through_their_handles_while_they_are_asked() -> None:
    seen: list[list[str]] = []

    def look(state: Any, pod: Any, nodes: Any) -> Any:
        seen.append(list(world.plugin("Looks").handle.snapshot().nodes.names))
        if len(seen) == 2:
            raise ValueError("broken")
        return [0] * len(nodes)

    world = World(named(SaysFilterTable, "Looks", answer=look))
    world.add(node("a"))
    imagined = world.scheduler.what_if()
    imagined.cache.add_node(node("b").build())
    imagined.decide(P.build())
    assert imagined.decide(P.build()).status.is_error
    assert seen == [["a", "b"]] * 2
    assert world.plugin("Looks").handle.snapshot().nodes is world.cache.nodes


def test_plugins_are_told_that_nothing_will_be_done_about_it() -> None:
    world = World(named(SaysFilter, "F", answer=lambda state, pod, node: said.append(state.is_dry_run)))
    said: list[bool] = []
    world.add(node("a"), P)
    world.scheduler.decide(P.build())
    world.bind()
    assert said == [True, False]


# -- Reserve and Permit --


def test_reserve_and_permit_are_asked_and_everything_is_taken_back() -> None:
    world = World(named(SaysReserve, "R"), named(SaysPermit, "H", answer=Wait(10)))
    world.add(node("a"))
    before = world.cache.generation
    imagined = world.scheduler.what_if()
    status = imagined.would_commit(imagined.decide(P.build()))
    assert (status.is_wait, status.reasons) == (True, ("H",))
    assert [what for what, *_ in world.plugin("R").asked] == ["reserve", "unreserve"]
    assert list(world.scheduler.waiting.list()) == []
    assert (world.cache.generation, world.cache.pod_count) == (before, 0)
    assert imagined.cache.pod_count == 0


def test_who_says_no_is_named() -> None:
    world = World(named(SaysReserve, "R", answer=NO))
    world.add(node("a"))
    imagined = world.scheduler.what_if()
    assert imagined.would_commit(imagined.decide(P.build())).plugin == "R"


def test_pods_that_wait_are_neither_allowed_nor_rejected_by_what_is_only_imagined() -> None:
    """A gang's last member lets the others go; one that is only looked at must not."""

    def last_lets_all_go(pod: Any, node_name: str) -> Any:
        held = list(world.plugin("Gang").handle.waiting.list())
        for each in held:
            each.allow("Gang")
        return None if held else Wait(10)

    world = World(named(SaysPermit, "Gang", answer=last_lets_all_go))
    world.add(node("a"), P)
    world.bind()
    (held,) = world.scheduler.waiting.list()
    imagined = world.scheduler.what_if()
    last = pod("last").build()
    assert imagined.would_commit(imagined.decide(last)).is_success
    assert (held.outcome, held.pending_plugins) == (None, {"Gang"})


def test_a_pod_that_waits_already_is_not_asked_about_again() -> None:
    world = World(named(SaysPermit, "H", answer=Wait(10)))
    world.add(node("a"), P)
    decision = world.bind().decision
    assert world.scheduler.what_if().would_commit(decision).reasons == ("H",)
    assert len(world.plugin("H").asked) == 1
