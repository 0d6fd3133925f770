"""What the plugin does beside scheduling: repair after a start, follow migrations, release what waits too long."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from msgspec.structs import replace

from bayplan.clock import VirtualClock
from bayplan.errors import ForbiddenError
from bayplan.objects.third_party.kubevirt import STICKY_NODE
from bayplan.plugins.sticky_vm import plugin as plugin_module
from bayplan.testing import cluster, node
from tests.plugins.sticky_vm.support import Desk, instance, launcher, machine, member, stateful_set
from tests.plugins.sticky_vm.test_node_notes import Refusing

pytestmark = pytest.mark.virtual_time

NODES = [node("n1"), node("n2")]
MOVED = {"sourceNode": "n1", "targetNode": "n2", "completed": True}


def desk(*objects: Any, pods: Any = (), writer: Any = None, **args: Any) -> Desk:
    return Desk(cluster(NODES, pods, objects), writer, **args)


@asynccontextmanager
async def working(made: Desk) -> AsyncIterator[None]:
    """The plugin at work beside scheduling."""
    task = asyncio.ensure_future(made.plugin.background())
    await settled()
    yield
    await settled()
    assert not task.done()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def settled() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("objects", "pods", "written"),
    [
        ((machine(), instance()), (launcher("a", on="n1"),), {STICKY_NODE: "n1"}),
        ((machine(), instance(on="n2", phase="Failed")), (), {STICKY_NODE: "n2"}),
        ((machine(node="n1"), instance(on="n2", migration=MOVED)), (), {STICKY_NODE: "n2"}),
    ],
    ids=["a bound pod", "an instance that ended", "a machine that moved"],
)
async def test_a_start_repairs_what_was_not_noted(objects: Any, pods: Any, written: dict[str, str]) -> None:
    made = desk(*objects, pods=pods)
    async with working(made):
        assert made.written == [("default/vm", written)]


@pytest.mark.parametrize(
    ("objects", "pods"),
    [
        ((machine(node="n1"), instance(on="n1")), (launcher("a", on="n1"),)),
        ((machine(node=""), instance(on="n1")), (launcher("a", on="n1"),)),
        ((machine(), instance()), ()),
        ((machine(), instance(on="n1", scheduler="another")), ()),
        ((machine(), instance()), (launcher("a", on="n2", is_target=True),)),
        ((machine(node="n3"), instance(on="n2", migration=MOVED)), ()),
        ((machine(node="n1"), instance(on="n1", migration={**MOVED, "failed": True})), ()),
        ((machine(node="n1"), instance(on="n1", migration={**MOVED, "completed": False})), ()),
        ((machine(),), ()),
        ((stateful_set(),), (member("web-0", on="n1"),)),
    ],
    ids=[
        "noted",
        "released",
        "never placed",
        "of another scheduler",
        "a migration target",
        "set by a person",
        "a failed migration",
        "a migration under way",
        "not running",
        "a StatefulSet without StickyOwner",
    ],
)
async def test_a_start_leaves_the_rest_alone(objects: Any, pods: Any) -> None:
    made = desk(*objects, pods=pods)
    async with working(made):
        assert made.written == []


async def test_a_start_repairs_stateful_sets_pod_by_pod() -> None:
    pods = (member("web-0", on="n1"), member("web-1", on="n2"))
    made = desk(stateful_set(_1="n2"), pods=pods, mode="StickyOwner")
    async with working(made):
        assert made.written == [("default/web", {f"{STICKY_NODE}-0": "n1"})]


async def test_the_note_follows_a_machine_that_moved_and_holds_at_once() -> None:
    made = desk(machine(node="n1"), instance(on="n1"))
    async with working(made):
        made.put(instance(on="n2", migration=MOVED))
        assert made.nodes(launcher()) == {"n2"}
        await settled()
        assert made.written == [("default/vm", {STICKY_NODE: "n2"})]


async def test_a_move_is_followed_once_and_then_a_person_may_send_the_machine_back() -> None:
    moved = instance(on="n2", migration={**MOVED, "migrationUid": "job"})
    made = desk(machine(node="n1"), instance(on="n1"))
    async with working(made):
        made.put(moved)
        await settled()
        ((_, written),) = made.written
    assert written == {STICKY_NODE: "n2", f"{STICKY_NODE}-moved": "job"}

    notes = {STICKY_NODE: "n1", f"{STICKY_NODE}-moved": "job"}
    sent_back = machine()
    after_a_start = desk(sent_back.evolve(metadata=replace(sent_back.metadata, annotations=notes)), moved)
    async with working(after_a_start):
        assert after_a_start.written == []
    assert after_a_start.nodes(launcher()) == {"n1"}


async def test_a_node_that_a_person_set_is_not_changed_by_a_move() -> None:
    made = desk(machine(node="elsewhere"), instance(on="n1"))
    async with working(made):
        made.put(instance(on="n2", migration=MOVED))
    assert made.written == []


async def test_an_annotation_taken_from_a_running_machine_is_written_again() -> None:
    made = desk(machine(node="n1"), instance(on="n1"))
    async with working(made):
        made.put(machine(version="2"))
        await settled()
        assert made.written == [("default/vm", {STICKY_NODE: "n1"})]


async def test_an_annotation_taken_from_a_machine_that_does_not_run_sets_it_free() -> None:
    made = desk(machine(node="n1"))
    async with working(made):
        made.put(machine(version="2"))
    assert made.written == []


async def test_a_pod_that_is_only_on_its_way_is_no_reason_to_write() -> None:
    made = desk(machine(), instance())
    async with working(made):
        made.cache.assume(launcher("first", on="n1"))
        made.put(machine(version="2"))
        made.put(instance(scheduler="default-scheduler"))
    assert made.written == []


async def test_what_could_not_be_written_is_tried_again_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(plugin_module, "RETRY_S", 0.001)
    made = desk(machine(), instance(on="n1"), writer=Refusing(*(ForbiddenError(403, "no") for _ in range(3))))
    async with working(made):
        async with asyncio.timeout(5):
            while len(made.written) < 4:
                await asyncio.sleep(0.001)


async def test_news_of_one_machine_is_no_reason_to_ask_again_for_what_was_refused_to_another() -> None:
    refusing = Refusing(*(ForbiddenError(403, "no") for _ in range(9)))
    made = desk(machine(), instance(), machine("b"), instance("b", of="b"), writer=refusing)
    async with working(made):
        await made.bound(launcher(), "n1")
        await settled()
        await made.bound(launcher("next", of="b"), "n2")
        await settled()
    assert [name for name, _ in made.written] == ["default/vm", "default/b"]


async def test_pods_of_a_stateful_set_that_had_the_name_before_are_not_noted() -> None:
    before = member("web-0", on="n1")
    (owner,) = before.metadata.owner_references or ()
    meta = replace(before.metadata, owner_references=(replace(owner, uid="earlier"),))
    made = desk(stateful_set(), pods=(before.evolve(metadata=meta),), mode="StickyOwner")
    async with working(made):
        assert made.written == []


class TestRelease:
    """A node that is gone for good."""

    def made(self) -> tuple[Desk, VirtualClock]:
        made = desk(machine(node="gone"), instance(), whenNodeIsGone="Release", releaseAfter="10m")
        clock = made.handle.clock
        assert isinstance(clock, VirtualClock)
        return made, clock

    async def test_it_sets_free_who_has_waited_long_enough(self) -> None:
        made, clock = self.made()
        async with working(made):
            made.why(launcher())
            clock.advance(599)
            made.plugin._notes.woken.set()
            await settled()
            assert made.written == []
            clock.advance(1)
            made.plugin._notes.woken.set()
            await settled()
        assert made.written == [("default/vm", {STICKY_NODE: ""})]
        assert made.nodes(launcher()) is None
        assert made.events == [
            ("StickyReleased", "VirtualMachine default/vm is released from node gone, which has been gone for 10m0s")
        ]

    async def test_a_node_that_was_back_in_between_is_missed_anew(self) -> None:
        made, clock = self.made()
        async with working(made):
            made.why(launcher())
            clock.advance(599)
            made.plugin.observe("Node", None, node("gone").build())
            made.why(launcher())
            clock.advance(599)
            made.plugin._notes.woken.set()
        assert made.written == []

    async def test_a_machine_that_was_sent_elsewhere_meanwhile_is_left_alone(self) -> None:
        made, clock = self.made()
        async with working(made):
            made.why(launcher())
            made.put(machine(node="n1", version="2"))
            clock.advance(600)
            made.plugin._notes.woken.set()
        assert made.written == []

    async def test_what_cannot_be_a_node_is_no_node_that_is_gone(self) -> None:
        made = desk(machine(node="n1 "), instance(), whenNodeIsGone="Release", releaseAfter="10m")
        clock = made.handle.clock
        assert isinstance(clock, VirtualClock)
        async with working(made):
            made.why(launcher())
            clock.advance(600)
            made.plugin._notes.woken.set()
        assert made.written == []

    async def test_by_default_it_waits_for_ever(self) -> None:
        made = desk(machine(node="gone"), instance())
        clock = made.handle.clock
        assert isinstance(clock, VirtualClock)
        async with working(made):
            made.why(launcher())
            clock.advance(10**6)
            made.plugin._notes.woken.set()
        assert made.written == []
