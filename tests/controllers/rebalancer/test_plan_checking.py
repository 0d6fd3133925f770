"""Whether a plan still holds, before anything is done."""

from __future__ import annotations

import pytest

from bayplan.controllers.rebalancer.move_plan import plan_of
from bayplan.errors import InputError
from bayplan.simulator.rebalance_plan import looked_through
from tests.controllers.rebalancer.plan_desk import CLUSTER, NODES, shrinking_plan
from tests.simulator.support import Manifest, node, workload, world
from tests.simulator.what_if.asking import on


def why(cluster: list[Manifest]) -> list[str]:
    progress = looked_through(world(*cluster, prospects=()), plan_of(shrinking_plan()))
    return [step.why for step in progress.steps]


def test_a_plan_holds_for_the_cluster_that_it_was_made_of() -> None:
    progress = looked_through(world(*CLUSTER, prospects=()), plan_of(shrinking_plan()))
    assert progress.is_fine
    assert [step.expected for step in progress.steps] == [step.move.target for step in progress.steps]


def test_a_pod_made_anew_under_its_name_is_another() -> None:
    cluster = [*NODES, workload("ReplicaSet", "web", "1", replicas=3)]
    cluster += [on(f"web-{number}", f"n{number + 1}", "web") for number in range(3)]
    for each in cluster[-3:]:
        each["metadata"] = {**each["metadata"], "uid": f"other-{each['metadata']['name']}"}
    assert [each.startswith("it is another pod by now, with the uid other-web-") for each in why(cluster)] == [True] * 2


def test_what_protects_a_pod_now_keeps_its_node() -> None:
    opted_out = {"bayplan.io/rebalance": "false"}
    kept = [{**each, "metadata": {**each["metadata"], "annotations": opted_out}} for each in CLUSTER[-3:]]
    assert why([*CLUSTER[:-3], *kept]) == ["annotation bayplan.io/rebalance says false"] * 2


def test_a_controller_that_is_gone_keeps_the_node() -> None:
    assert "its controller ReplicaSet/web is not there" in why([*NODES, *CLUSTER[-3:]])[0]


def test_a_plan_of_another_cluster_is_refused_in_one_line() -> None:
    with pytest.raises(InputError, match="none of its nodes is in this cluster"):
        why([node("other")])
