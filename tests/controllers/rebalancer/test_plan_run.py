"""A plan is carried out step by step, against a cluster that changes, refuses, or is slow."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from bayplan.controllers.rebalancer.move_plan import plan_of
from bayplan.controllers.rebalancer.terms import MoveLimits
from bayplan.engine.events import NodeDeleted, ObjectChanged, PodAdded, PodChanged, PodDeleted
from bayplan.errors import EvictionRefusedError, ForbiddenError
from bayplan.objects.pod import Pod
from tests.controllers.rebalancer.plan_desk import CLUSTER, NODES, PlanDesk, shrinking_plan
from tests.simulator.support import node, objects, pod, workload
from tests.simulator.what_if.asking import on

TWO = [
    *NODES,
    workload("ReplicaSet", "web", "1", replicas=2),
    workload("ReplicaSet", "db", "1", replicas=2),
    on("web-0", "n1", "web"), on("web-1", "n1", "web"), on("db-0", "n1", "db"), on("db-1", "n3", "db"),
]  # fmt: skip
REFUSED = EvictionRefusedError(429, "Cannot evict pod as it would violate the pod's disruption budget.")


def empty(name: str, cluster: list[Any]) -> dict[str, Any]:
    """A plan that empties one node, by the engine's own choice of targets."""
    document = shrinking_plan(cluster)
    document["moves"] = [each for each in document["moves"] if each["from"] == name]
    return document | {"empty": [name]}


def moved_off_n1() -> dict[str, Any]:
    def entry(step: int, name: str, owner: str, uid: str) -> dict[str, Any]:
        about = {"step": step, "namespace": "default", "name": name, "uid": uid}
        return {**about, "controller": f"ReplicaSet/{owner}", "from": "n1", "to": "n2"}

    uids = {each.name: each.uid for each in PlanDesk(shrinking_plan(TWO), TWO).observed.pods("default")}
    names = (("web-0", "web"), ("web-1", "web"), ("db-0", "db"))
    moves = [entry(number, name, owner, uids[name]) for number, (name, owner) in enumerate(names, 1)]
    return {"kind": "Fit", "empty": ["n1"], "moves": moves, "schedulers": ["default-scheduler"]}


def test_nodes_are_closed_first_then_emptied_and_the_engine_kept_its_promise() -> None:
    document = shrinking_plan()
    desk = PlanDesk(document)
    desk.step()
    assert desk.nodes == [f"close {name}" for name in document["empty"]]
    assert desk.evicted == []
    progress = desk.finish()
    assert progress.is_fine
    assert len(desk.evicted) == 2
    assert [desk.on(name) for name in document["empty"]] == [[], []]
    assert [(step.landed, step.expected) for step in progress.steps] == [
        (each["to"], each["to"]) for each in document["moves"]
    ]
    assert {state.state for state in progress.nodes.values()} == {"Empty"}


def test_a_wave_has_one_pod_of_a_controller_and_the_next_waits_until_replacements_run() -> None:
    desk = PlanDesk(moved_off_n1(), TWO)
    desk.is_ready = False
    desk.step()
    desk.step()
    assert desk.evicted == ["web-0", "db-0"]
    desk.step(10)
    assert desk.evicted == ["web-0", "db-0"]
    for name in ("web-0x", "db-0x"):
        old = desk.pod(name)
        desk.tell(PodChanged(old, old.evolve(status=replace(old.status, phase="Running"))))
    desk.is_ready = True
    assert desk.finish().is_fine
    assert desk.evicted == ["web-0", "db-0", "web-1"]


@pytest.mark.parametrize("limits", [MoveLimits(moving=1), MoveLimits(per_namespace=1), MoveLimits(per_domain=1)])
def test_the_limits_of_the_rebalancer_hold(limits: MoveLimits) -> None:
    desk = PlanDesk(moved_off_n1(), TWO, limits)
    desk.step()
    desk.step()
    assert desk.evicted == ["web-0"]
    assert desk.finish().is_fine


def test_started_again_it_goes_on_where_it_was_and_waits_for_the_replacement_of_before() -> None:
    desk = PlanDesk(shrinking_plan())
    desk.place = lambda pod: None
    desk.step()
    desk.step()
    (first,) = desk.evicted
    evicted = desk.plan.moves[0]
    desk.started()  # killed: nothing is known but the cluster
    desk.step()
    assert desk.evicted == [first]
    assert desk.run.progress.steps[0].why == "2 of 3 pods of ReplicaSet/web are ready"
    template = desk.pod(next(name for name in ("web-0", "web-1", "web-2") if name != first))
    meta = replace(template.metadata, name="late", uid="late")
    desk.tell(PodAdded(template.evolve(metadata=meta).assigned_to(evicted.target)))
    desk.place = desk.decided
    progress = desk.finish()
    assert progress.is_fine
    assert desk.states() == ["Gone", "Moved"]
    assert len(desk.evicted) == 2


def test_a_refusal_is_tried_again_later_and_given_up_at_the_deadline() -> None:
    desk = PlanDesk(shrinking_plan())
    desk.refusal = REFUSED
    desk.step()
    assert desk.step() == 5.0
    assert desk.step(4) == 1.0
    desk.refusal = None
    desk.step(1)
    assert len(desk.evicted) == 1
    assert desk.finish().is_fine
    never = PlanDesk(shrinking_plan())
    never.refusal = REFUSED
    for _ in range(30):
        never.step(10)
    assert never.finish().document()["summary"]["notMade"] == 2
    assert [step.why for step in never.run.progress.steps] == [REFUSED.message] * 2


def test_a_replacement_that_never_runs_ends_the_node_with_a_line() -> None:
    desk = PlanDesk(shrinking_plan())
    desk.is_ready = False
    desk.step()
    assert desk.step() == 100.0
    desk.step(100)
    assert desk.run.progress.steps[0].why == "no replacement was ready within 100 s"
    desk.step(100)
    assert not desk.finish().is_fine
    assert len(desk.evicted) == 1


def test_room_that_is_gone_stops_the_node_before_anything_is_closed() -> None:
    document = empty("n1", CLUSTER)
    full = [*CLUSTER, pod("large-2", "3", nodeName="n2"), pod("large-3", "3", nodeName="n3")]
    desk = PlanDesk(document, full)
    progress = desk.finish()
    assert (desk.nodes, desk.evicted) == ([], [])
    assert "step" in progress.nodes["n1"].why
    assert "its replacement would find no node: 0/3 nodes are available" in progress.nodes["n1"].why


def test_room_that_is_taken_meanwhile_stops_the_node_at_that_step() -> None:
    desk = PlanDesk(empty("n1", CLUSTER))
    desk.step()
    for name in ("n2", "n3"):
        extra = world_pod(f"large-{name}", name)
        desk.tell(PodAdded(extra))
    progress = desk.finish()
    assert desk.evicted == []
    assert desk.states() == ["NotMade"]
    assert "Insufficient cpu" in progress.steps[0].why


def world_pod(name: str, where: str) -> Pod:
    return next(each for each in objects(pod(name, "3", nodeName=where)) if isinstance(each, Pod))


def test_a_pod_that_is_gone_is_one_line_and_no_mistake() -> None:
    desk = PlanDesk(shrinking_plan())
    desk.tell(PodDeleted(desk.pod(desk.plan.moves[0].name)))
    owner: Any = desk.world.scheduler.cache.objects.get("ReplicaSet", "default", "web")
    desk.tell(ObjectChanged("ReplicaSet", owner, owner.evolve(spec=replace(owner.spec, replicas=2))))
    assert desk.finish().is_fine
    assert desk.states() == ["Gone", "Moved"]


def test_a_node_that_is_gone_is_one_line_and_the_others_are_emptied() -> None:
    desk = PlanDesk(shrinking_plan())
    first, second = desk.plan.nodes
    desk.step()
    gone = desk.observed.node(first)
    assert gone is not None
    for name in desk.on(first):
        desk.tell(PodDeleted(desk.pod(name)))
    desk.tell(NodeDeleted(gone))
    spare = desk.pod(desk.plan.moves[1].name)
    desk.tell(PodAdded(spare.evolve(metadata=replace(spare.metadata, name="new", uid="new")).assigned_to("n3")))
    progress = desk.finish()
    assert {name: state.state for name, state in progress.nodes.items()} == {first: "Gone", second: "Empty"}


def test_a_node_that_somebody_opens_again_is_left_alone() -> None:
    desk = PlanDesk(empty("n1", CLUSTER))
    desk.place = lambda pod: None
    desk.step()
    desk.step()
    closed = desk.observed.node("n1")
    assert closed is not None
    desk.change("n1", closed.evolve(spec=replace(closed.spec, unschedulable=False)))
    desk.step()
    assert desk.run.progress.nodes["n1"].why == "n1 was opened by somebody else"


def test_a_pod_that_came_after_the_plan_keeps_the_node_from_being_called_empty() -> None:
    desk = PlanDesk(empty("n1", CLUSTER))
    desk.tell(PodAdded(world_pod("stranger", "n1")))
    progress = desk.finish()
    assert progress.nodes["n1"].why == "default/stranger is there, which the plan does not know: plan again"
    assert not progress.is_fine


def test_a_node_that_may_not_be_closed_is_not_emptied() -> None:
    desk = PlanDesk(empty("n1", CLUSTER))

    async def refuse(node: Any, *, is_for_room: bool) -> None:
        raise ForbiddenError(403, "nodes is forbidden")

    desk.close = refuse  # type: ignore[method-assign]
    progress = desk.finish()
    assert progress.nodes["n1"].why == "n1 could not be closed: nodes is forbidden"
    assert desk.evicted == []


def test_a_replacement_that_comes_back_is_told() -> None:
    desk = PlanDesk(empty("n1", CLUSTER))
    desk.place = lambda pod: "n1"
    progress = desk.finish()
    assert progress.steps[0].why == "its replacement is on n1, which is to be closed"


# -- making room --


def room_plan() -> dict[str, Any]:
    document = empty("n1", CLUSTER)
    del document["empty"]
    return document | {"close": ["n1"], "room": {"node": "n1"}}


def test_a_node_that_makes_room_is_opened_again_also_by_the_next_process() -> None:
    desk = PlanDesk(room_plan())
    desk.step()
    desk.started()
    assert desk.finish().is_fine
    assert desk.nodes == ["close n1", "open n1"]
    assert desk.run.progress.nodes["n1"].state == "Opened"
    found = desk.observed.node("n1")
    assert found is not None
    assert (found.unschedulable, dict(found.annotations)) == (False, {})


def test_a_node_that_somebody_else_closed_is_not_opened() -> None:
    cluster = [node("n1", unschedulable=True), *CLUSTER[1:]]
    desk = PlanDesk(plan_of(room_plan()), cluster)
    progress = desk.finish()
    assert progress.nodes["n1"].why == "n1 was closed by somebody else"
    assert (desk.nodes, desk.evicted) == ([], [])
