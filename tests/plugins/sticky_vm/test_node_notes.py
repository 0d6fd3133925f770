"""What is written after the bind, and what becomes of it when that is not possible."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from bayplan.errors import ApiError, BayplanError, ConflictError, ForbiddenError, NotFoundError, TransportError
from bayplan.objects.third_party.kubevirt import STICKY_NODE
from bayplan.plugins.sticky_vm import node_notes
from bayplan.testing import Recorder, cluster, node
from tests.plugins.sticky_vm.support import Desk, instance, launcher, machine, member, stateful_set

pytestmark = pytest.mark.virtual_time

NODES = [node("n1"), node("n2")]


class Refusing(Recorder):
    """Refuses the first writes, each with its error; something may happen meanwhile."""

    def __init__(self, *errors: BayplanError) -> None:
        super().__init__()
        self.errors = list(errors)
        self.meanwhile: Any = lambda: None

    async def patch(
        self, kind: str, namespace: str, name: str, patch: dict[str, Any], resource_version: str = ""
    ) -> str:
        version = await super().patch(kind, namespace, name, patch, resource_version)
        if self.errors:
            error = self.errors.pop(0)
            self.meanwhile()
            raise error
        return version


def desk(*objects: Any, writer: Any = None, **args: Any) -> Desk:
    return Desk(cluster(NODES, (), objects), writer, **args)


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(node_notes, "CONFLICT_WAIT_S", 0.0)
    monkeypatch.setattr(node_notes, "CONFLICT_TRIES", 3)


async def test_the_node_of_the_first_pod_is_noted_for_the_version_that_was_seen() -> None:
    made = desk(machine(version="7"), instance())
    await made.bound(launcher(), "n1")
    patch = {"metadata": {"annotations": {STICKY_NODE: "n1"}}}
    assert made.writer.calls == [("patch", "VirtualMachine", "default/vm", patch, "7")]


async def test_what_is_noted_already_is_not_written_again() -> None:
    made = desk(machine(node="n1"), instance())
    await made.bound(launcher(), "n1")
    assert made.written == []


async def test_what_was_decided_holds_before_the_news_of_the_write_has_come() -> None:
    made = desk(machine(), instance())
    await made.bound(launcher(), "n1")
    assert made.nodes(launcher("next")) == {"n1"}
    made.put(machine(node="n1", version="2"))
    assert made.nodes(launcher("next")) == {"n1"}
    made.put(machine(node="", version="3"))
    assert made.nodes(launcher("next")) is None


async def test_after_a_conflict_the_newer_version_is_written_to() -> None:
    writer = Refusing(ConflictError(409, "modified"))
    made = desk(machine(version="1"), instance(), writer=writer)
    writer.meanwhile = lambda: made.put(machine(version="2"))
    await made.bound(launcher(), "n1")
    assert [call[4] for call in writer.calls] == ["1", "2"]
    assert made.events == []


async def test_somebody_who_decided_otherwise_meanwhile_is_not_overruled() -> None:
    writer = Refusing(ConflictError(409, "modified"))
    made = desk(machine(), instance(), writer=writer)
    writer.meanwhile = lambda: made.put(machine(node="n2", version="2"))
    await made.bound(launcher(), "n1")
    assert len(made.written) == 1
    assert made.nodes(launcher("next")) == {"n2"}


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (ForbiddenError(403, "no"), 'resources: ["virtualmachines"], verbs: ["get", "patch"]; it is kept in mind'),
        (TransportError("no network"), "no network; it is kept in mind and tried again"),
        (ApiError(500, "broken"), "broken; it is kept in mind and tried again"),
    ],
)
async def test_a_write_that_fails_is_told_once_kept_in_mind_and_tried_again(error: BayplanError, text: str) -> None:
    made = desk(machine(), instance(), writer=Refusing(error, error))
    await made.bound(launcher(), "n1")
    assert made.nodes(launcher("next")) == {"n1"}
    for _ in range(3):
        for place in made.plugin._notes.unwritten():
            await made.plugin._notes.write(place)
    ((reason, note),) = made.events
    assert reason == "StickyNodeNotWritten"
    assert note.startswith("node n1 could not be noted in VirtualMachine default/vm: ")
    assert text in note
    assert len(made.written) == 3
    assert made.plugin._notes.unwritten() == []


async def test_conflicts_without_end_are_left_for_later() -> None:
    made = desk(machine(), instance(), writer=Refusing(*(ConflictError(409, "modified") for _ in range(3))))
    await made.bound(launcher(), "n1")
    assert len(made.written) == 3
    assert made.events[0][0] == "StickyNodeNotWritten"
    assert len(made.plugin._notes.unwritten()) == 1


@pytest.mark.parametrize(
    ("error", "news"),
    [
        (NotFoundError(404, "gone"), False),
        (NotFoundError(404, "gone"), True),
        (ConflictError(409, "modified"), True),
    ],
    ids=["only the answer says so", "the news comes first", "after a conflict"],
)
async def test_a_machine_that_was_deleted_meanwhile_is_told_of(error: BayplanError, news: bool) -> None:
    writer = Refusing(error)
    made = desk(machine(), instance(), writer=writer)
    if news:
        writer.meanwhile = lambda: made.drop(machine())
    await made.bound(launcher(), "n1")
    assert made.events == [("StickyOwnerGone", "VirtualMachine default/vm is gone, so node n1 is noted nowhere")]
    assert made.plugin._notes.unwritten() == []


async def test_a_machine_made_anew_under_the_name_is_not_touched() -> None:
    made = desk(machine(), instance(), writer=Refusing(TransportError("no network")))
    await made.bound(launcher(), "n1")
    made.drop(machine())
    made.put(machine(uid="another"))
    assert made.plugin._notes.unwritten() == []


async def test_an_instance_without_a_machine_is_placed_and_told_of() -> None:
    made = desk(instance("alone", of=None))
    assert made.nodes(launcher(of="alone")) is None
    await made.bound(launcher(of="alone"), "n1")
    note = "VirtualMachineInstance default/alone belongs to no VirtualMachine, so it sticks to no node"
    assert made.events == [("NotSticky", note)]
    assert made.written == []


async def test_the_target_of_a_migration_changes_nothing_yet() -> None:
    made = desk(machine(node="n1"), instance(on="n1"))
    await made.bound(launcher(is_target=True), "n2")
    assert made.written == []
    assert made.events == []


async def test_a_pod_of_a_stateful_set_is_noted_by_its_number() -> None:
    made = desk(stateful_set(), mode="StickyOwner", annotationKey="team/node")
    await made.bound(member("web-12"), "n2")
    assert made.written == [("default/web", {"team/node-12": "n2"})]


async def test_all_notes_of_one_stateful_set_go_into_one_write() -> None:
    pods = [member(f"web-{number}") for number in range(3)]
    writer = Refusing(ConflictError(409, "modified"))
    made = desk(stateful_set(), mode="StickyOwner", writer=writer)
    await asyncio.gather(*(made.bound(pod, "n1") for pod in pods))
    everything = {f"{STICKY_NODE}-{number}": "n1" for number in range(3)}
    assert len(made.written) == 2
    assert made.written[-1] == ("default/web", everything)
    assert made.events == []
    made.put(stateful_set(_0="n1", _1="n1", _2="n1"))
    assert not made.plugin._notes.is_behind


async def test_what_a_person_decided_about_one_pod_does_not_keep_the_notes_of_the_others_away() -> None:
    writer = Refusing(ConflictError(409, "modified"))
    made = desk(stateful_set(), mode="StickyOwner", writer=writer)
    writer.meanwhile = lambda: made.put(stateful_set(_0="n2"))
    await asyncio.gather(*(made.bound(member(f"web-{number}"), "n1") for number in range(2)))
    assert made.written[-1] == ("default/web", {f"{STICKY_NODE}-1": "n1"})
    assert made.nodes(member("web-0")) == {"n2"}
