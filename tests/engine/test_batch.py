"""Pods of one template placed in one go: when that is done, when not, and that nothing is forgotten over it."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bayplan.engine import committing
from bayplan.engine.events import NodeAdded, PodChanged, Tick
from bayplan.engine.intents import Bind
from bayplan.framework.decision import Decision
from bayplan.framework.plugin import PermitPlugin, ReservePlugin
from bayplan.framework.promise import Promise
from bayplan.framework.status import Code, Reason
from bayplan.objects.pod import Condition, ContainerStatus, Pod, PodStatus, ResourceRequirements
from bayplan.objects.pod_template import PodTemplate
from bayplan.plugins.node_resources_balanced_allocation import NodeResourcesBalancedAllocation
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.testing import PodBuilder, node, pod
from tests.engine.support import World

BUSY = Reason(Code.UNSCHEDULABLE, "the lock is taken")
PLUGINS = (NodeResourcesFit, NodeResourcesBalancedAllocation)


def small(name: str) -> PodBuilder:
    return pod(name).cpu("100m").memory("100Mi")


def large(name: str) -> PodBuilder:
    return pod(name).cpu("500m").memory("1Gi")


def world_of(*more: Any, nodes: int = 6, remember: bool = True, cpu: str = "4") -> World:
    world = World(*PLUGINS, *more, remember=remember)
    world.add(*(node(f"n{number}").cpu(cpu).memory("16Gi").pods(110) for number in range(nodes)))
    return world


def batches(world: World, most: int = 100) -> list[list[str]]:
    """The nodes of the pods that were placed together, until nobody is left; nothing of it is confirmed."""
    placed = []
    while (outcomes := world.scheduler.schedule(most)) is not None:
        placed.append(
            [outcome.decision.node or "" for outcome in outcomes if outcome.decision and outcome.is_committed]
        )
    return placed


@pytest.fixture
def together(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many pods were committed together, each time."""
    sizes: list[int] = []
    real = committing.commit_alike

    def counting(decisions: Any, *more: Any) -> None:
        sizes.append(len(decisions))
        real(decisions, *more)

    monkeypatch.setattr(committing, "commit_alike", counting)
    return sizes


def flat(placed: list[list[str]]) -> list[str]:
    return [name for batch in placed for name in batch]


def test_other_classes_see_the_rows_that_a_batch_filled(together: list[int]) -> None:
    """Classes take turns, and nobody confirms anything in between."""
    made = [
        each(f"{each.__name__}-{turn}-{number}")
        for turn in range(6)
        for each in (small, large)
        for number in range(20 if each is small else 3)
    ]
    worlds = world_of(), world_of(remember=False)
    for world in worlds:
        world.add(*made)
    in_batches, one_by_one = batches(worlds[0]), batches(worlds[1], 1)

    assert flat(in_batches) == flat(one_by_one)
    assert len(together) > 5
    for name in ("req_cpu_milli", "req_mem_bytes", "nz_cpu_milli", "nz_mem_bytes", "pods_count"):
        assert getattr(worlds[0].cache.nodes, name).tolist() == getattr(worlds[1].cache.nodes, name).tolist()
    assert worlds[0].cache.assumed_count == len(made)


def test_no_more_are_placed_at_once_than_asked_for() -> None:
    world = world_of(nodes=30)
    world.add(*(small(f"p{number}") for number in range(100)))
    sizes = [len(batch) for batch in batches(world, 7)]
    assert sum(sizes) == 100
    assert max(sizes) == 7


def test_a_run_ends_where_there_is_no_more_room() -> None:
    world = world_of(nodes=2, cpu="500m")
    world.add(*(small(f"p{number}") for number in range(13)))
    placed = flat(batches(world))
    assert sorted(placed) == ["n0"] * 5 + ["n1"] * 5
    assert world.queue.pending()["unschedulable"] == 3


def test_everyone_who_listens_hears_of_every_decision() -> None:
    world, heard = world_of(), list[Decision]()
    world.add(*(small(f"p{number}") for number in range(50)))
    while (outcomes := world.scheduler.schedule()) is not None:
        heard += [outcome.decision for outcome in outcomes if outcome.decision is not None]
    placed = [decision.node for decision in heard]
    assert [decision.node for decision in heard] == placed
    assert [decision.pod.name for decision in heard] == [f"p{number}" for number in range(50)]
    states = {id(decision.state) for decision in heard}
    assert len(states) == 50, "what one pod's plugins write is not another's"


class Locks(ReservePlugin):
    """One pod a node at a time, whatever else there is."""

    name = "Locks"

    def __init__(self, *_: Any) -> None:
        self.taken: set[str] = set()

    def reserve(self, state: Any, pod: Pod, node_name: str) -> Any:
        if node_name in self.taken:
            return BUSY
        self.taken.add(node_name)
        return None

    def unreserve(self, state: Any, pod: Pod, node_name: str) -> None:
        """A pod that was turned down has taken nothing."""


class Idle(Locks):
    name = "Idle"

    def promise(self, template: PodTemplate) -> Promise:
        return Promise(key=(), reserves=False)


class Watches(PermitPlugin):
    name = "Watches"

    def permit(self, state: Any, pod: Pod, node_name: str) -> Any:
        return None


class IdleWatch(Watches):
    name = "IdleWatch"

    def promise(self, template: PodTemplate) -> Promise:
        return Promise(key=(), reserves=False)


def test_a_plugin_that_reserves_something_is_asked_for_every_pod() -> None:
    world = world_of(Locks)
    world.add(*(small(f"p{number}") for number in range(20)))
    placed = flat(batches(world))
    assert len(placed) == len(set(placed)) == len(world.plugin("Locks").taken)


@pytest.mark.parametrize(
    ("plugin", "are_together"), [(Locks, False), (Watches, False), (Idle, True), (IdleWatch, True)]
)
def test_only_pods_that_nobody_else_looks_at_are_committed_together(
    plugin: Any, are_together: bool, together: list[int]
) -> None:
    world = world_of(plugin, nodes=50)
    world.add(*(small(f"p{number}") for number in range(40)))
    batches(world)
    assert bool(together) is are_together


def test_pods_that_differ_in_themselves_are_not_taken_along() -> None:
    """Of one template, but on their way out, nominated, or on a node already as a late watch may have it."""
    plain = [small(f"p{number}") for number in range(12)]
    world = world_of()
    known = small("known").build()
    odd = [small("leaving").terminating(), small("expected").nominated("n3"), known]
    world.add(*plain[:6], *odd, *plain[6:])
    world.cache.assume(known.assigned_to("n5"))
    binds = {
        bind.decision.pod.name: bind.decision.node
        for _ in range(30)
        for outcome in world.scheduler.schedule() or ()
        for bind in outcome.intents
        if isinstance(bind, Bind)
    }
    assert binds.keys() == {*(f"p{number}" for number in range(12)), "expected"}
    assert binds["expected"] == "n3"
    assert world.cache.assumed_count == 14


def test_pods_that_failed_and_were_told_so_go_as_one_batch_again(together: list[int]) -> None:
    """The condition and an annotation are written on each of them in between: they are still of one template."""
    world = world_of(nodes=0)
    world.add(node("full").cpu("100m").memory("16Gi").pods(110))
    world.add(*(large(f"p{number}") for number in range(20)))
    assert flat(batches(world)) == []
    failed = [queued.pod for _, queued in world.queue.entries()]
    assert len(failed) == 20

    for number, old in enumerate(failed):
        condition = Condition(type="PodScheduled", status="False", reason="Unschedulable", message=f"note {number}")
        meta = replace(old.metadata, annotations={"note": str(number)}, resource_version=str(number + 1))
        new = Pod(metadata=meta, spec=old.spec, status=PodStatus(phase="Pending", conditions=(condition,)))
        world.scheduler.handle(PodChanged(old, new))
    for number in range(30):
        world.scheduler.handle(NodeAdded(node(f"n{number}").cpu("4").memory("16Gi").pods(110).build()))
    world.clock.advance(600)
    world.scheduler.handle(Tick())

    sizes = [len(batch) for batch in batches(world)]
    assert sum(sizes) == 20
    # The first two make known what is kept for their class; how the others go is known from then on.
    assert len(sizes) <= 4
    assert sum(together) >= 15


def test_a_pod_whose_status_says_what_it_takes_is_not_taken_along(together: list[int]) -> None:
    """Of the same template as the others, but it counts with what it reports."""
    world = world_of(nodes=4, cpu="64")
    odd = small("p6").build()
    reported = ContainerStatus(
        name=odd.containers[0].name, resources=ResourceRequirements(requests={"cpu": "3", "memory": "3Gi"})
    )
    odd = odd.evolve(status=PodStatus(container_statuses=(reported,)))
    world.add(*(small(f"p{number}") for number in range(6)), odd, *(small(f"p{number}") for number in range(7, 12)))
    assert len(flat(batches(world))) == 12
    assert together
    assert sum(world.cache.nodes.req_cpu_milli.tolist()) == 11 * 100 + 3000
