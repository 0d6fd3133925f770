"""One story twice: in virtual time, and on a cluster with the real controllers.  After each step both stand the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.simulator.support import Manifest, node, pod, simulated, workload
from tests.simulator.test_timed_changes import at, until
from tests.support.api import Api
from tests.support.control_plane import ControlPlane

pytestmark = [pytest.mark.kube, pytest.mark.slow]

CONTROLLERS = (
    "deployment-controller,replicaset-controller,daemonset-controller,taint-eviction-controller,"
    "pod-garbage-collector-controller,garbage-collector-controller"
)
PATIENCE_S = 120.0
"""Pods of a node that is gone are collected after about a minute."""
STEP_S = 100
AT_ONCE = {"terminationGracePeriodSeconds": 0}
GO = [{"key": "maintenance", "effect": "NoExecute"}]
DISK = {"disk": "ssd"}

State = Counter[tuple[str, str]]
"""How many pods there are, by owner (or name) and node."""


def stays(seconds: int | None = None) -> Manifest:
    toleration: Manifest = {"key": "maintenance", "operator": "Exists", "effect": "NoExecute"}
    return AT_ONCE | {"tolerations": [toleration if seconds is None else {**toleration, "tolerationSeconds": seconds}]}


WEB = workload("Deployment", "web", replicas=2, pods=AT_ONCE)
LATE = workload("Deployment", "late", replicas=2, pods=AT_ONCE)
AGENT = workload("DaemonSet", "agent", pods=AT_ONCE)
CHECKER = workload("DaemonSet", "checker", pods=AT_ONCE | {"nodeSelector": DISK})
PODS = [
    pod("bare", nodeName="n1", **AT_ONCE),
    pod("patient", nodeName="n1", **stays()),
    pod("for-a-while", nodeName="n1", **stays(5)),
]

STEPS: list[tuple[str, list[Manifest], Callable[[Api], Any]]] = [
    ("a node comes", [node("n2")], lambda api: api.create(node("n2"))),
    (
        "a taint that evicts",
        [node("n1", taints=GO)],
        lambda api: api.patch("Node", "n1", {"spec": {"taints": GO}}),
    ),
    ("a node with a label", [node("n3", labels=DISK)], lambda api: api.create(node("n3", labels=DISK))),
    ("a node goes", [], lambda api: api.delete("Node", "n2")),
    (
        "a label goes",
        [node("n3")],
        lambda api: api.patch("Node", "n3", {"metadata": {"labels": {"disk": None}}}),
    ),
    ("a workload comes", [LATE], lambda api: api.create(in_default(LATE))),
    ("the taint goes", [node("n1")], lambda api: api.patch("Node", "n1", {"spec": {"taints": None}})),
    ("a workload goes", [], lambda api: api.delete("Deployment", "web", "default")),
]
GOES = {"a node goes": "n2", "a workload goes": "web"}


def in_default(made: Manifest) -> Manifest:
    return {**made, "metadata": {**made["metadata"], "namespace": "default"}}


def story() -> list[Manifest]:
    """The steps as one simulation, a step every so many seconds."""
    later = [at(f"{STEP_S * number}s", each) for number, (_, made, _) in enumerate(STEPS, 1) for each in made]
    ends = {GOES[name]: f"{STEP_S * number}s" for number, (name, _, _) in enumerate(STEPS, 1) if name in GOES}
    return [
        until(ends[each["metadata"]["name"]], each) if each["metadata"]["name"] in ends else each
        for each in (node("n1"), *PODS, WEB, AGENT, CHECKER, *later)
    ]


def played(seconds: float) -> State:
    document = simulated(*story(), run_for_s=seconds)
    there = (each for each in document["pods"] if each["state"] in ("Bound", "Pending"))
    return Counter((each["owner"] or each["name"], each["node"] or "") for each in there)


def real(api: Api) -> State:
    found: State = Counter()
    for each in api.list("Pod", "default"):
        owners = each["metadata"].get("ownerReferences")
        owner = each["metadata"]["name"]
        if owners:
            kind, name = owners[0]["kind"], owners[0]["name"]
            owner = f"Deployment/{name.rpartition('-')[0]}" if kind == "ReplicaSet" else f"{kind}/{name}"
        found[owner, each["spec"].get("nodeName", "")] += 1
    return found


@pytest.fixture
def api() -> Iterator[Api]:
    with ControlPlane() as plane:
        plane.start_kube_scheduler(verbosity=1)
        plane.start_controller_manager(CONTROLLERS)
        yield plane.api()


def test_virtual_time_ends_where_the_real_controllers_end(api: Api) -> None:
    api.create(node("n1"))
    for each in (*PODS, WEB, AGENT, CHECKER):
        api.create(in_default(each))
    stands_as(api, "the start", played(STEP_S - 1))
    for number, (name, _, act) in enumerate(STEPS, 1):
        act(api)
        stands_as(api, name, played(STEP_S * (number + 1) - 1))


def stands_as(api: Api, step: str, expected: State) -> None:
    """What holds for a moment could be on the way to something else, so it must hold twice."""
    ends_at = time.monotonic() + PATIENCE_S
    same = 0
    while same < 2:
        found = real(api)
        same = same + 1 if found == expected else 0
        assert same or time.monotonic() < ends_at, f"{step}: the cluster has {found}, the simulation {expected}"
        time.sleep(1)
