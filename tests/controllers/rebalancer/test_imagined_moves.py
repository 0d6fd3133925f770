"""What a move does to an imagined cluster."""

from __future__ import annotations

import pytest

from bayplan.controllers.rebalancer.imagined_moves import leave, place, replacement_of, waiting_pod
from bayplan.testing import PodBuilder, node, pod
from tests.engine.support import World

WEB = pod("web").cpu(1).on("a").owned_by("ReplicaSet", "web")
DB = pod("db").cpu(1).on("a").owned_by("StatefulSet", "db")


@pytest.mark.parametrize(("made", "holds_its_room"), [(WEB, True), (DB, False)])
def test_only_pods_of_a_stateful_set_are_gone_before_their_replacement_comes(
    made: PodBuilder, holds_its_room: bool
) -> None:
    world = World()
    world.add(node("a"), node("b"), made)
    imagined = world.scheduler.what_if()
    (there,) = world.cache.pods()
    leave(imagined, there)
    assert imagined.cache.nodes.req_cpu_milli.tolist() == [1000 if holds_its_room else 0, 0]
    assert all(each.is_terminating for each in imagined.cache.pods())
    place(imagined, replacement_of(there), "b")
    assert imagined.cache.nodes.req_cpu_milli.tolist()[1] == 1000
    assert list(world.cache.pods()) == [there]
    assert not there.is_terminating


def test_a_replacement_is_a_new_pod_that_pushes_nobody_away() -> None:
    there = WEB.build()
    made = replacement_of(there)
    assert (made.node_name, made.spec.preemption_policy) == ("", "Never")
    assert made.uid != there.uid
    assert waiting_pod(there).spec.preemption_policy == "Never"
