"""One story twice: in virtual time, and on a cluster with the real controllers.  After each step both stand the same."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from tests.simulator.support import Manifest, job, node, pod, simulated, workload
from tests.simulator.test_timed_changes import at, until
from tests.support.api import Api, path_of
from tests.support.control_plane import ControlPlane

pytestmark = [pytest.mark.kube, pytest.mark.slow]

CONTROLLERS = (
    "deployment-controller,replicaset-controller,daemonset-controller,statefulset-controller,job-controller,"
    "taint-eviction-controller,pod-garbage-collector-controller,garbage-collector-controller"
)
LIFECYCLE = ",node-lifecycle-controller"
NOBODY_IS_SILENT = "--node-monitor-grace-period=24h"
"""There are no kubelets that renew their leases; the nodes' conditions are what the test says."""
PATIENCE_S = 120.0
"""Pods of a node that is gone are collected after about a minute."""
STEP_S = 100
AT_ONCE = {"terminationGracePeriodSeconds": 0}
FOR_A_WHILE_S = 5
GO = [{"key": "maintenance", "effect": "NoExecute"}]
DISK = {"disk": "ssd"}

State = Counter[tuple[str, str]]
"""How many pods there are, by owner (or name) and node."""


def stays(seconds: int | None = None, key: str = "maintenance") -> Manifest:
    toleration: Manifest = {"key": key, "operator": "Exists", "effect": "NoExecute"}
    return AT_ONCE | {"tolerations": [toleration if seconds is None else {**toleration, "tolerationSeconds": seconds}]}


WEB = workload("Deployment", "web", replicas=2, pods=AT_ONCE)
LATE = workload("Deployment", "late", replicas=2, pods=AT_ONCE)
AGENT = workload("DaemonSet", "agent", pods=AT_ONCE)
CHECKER = workload("DaemonSet", "checker", pods=AT_ONCE | {"nodeSelector": DISK})
DB = workload("StatefulSet", "db", replicas=2, serviceName="db", podManagementPolicy="Parallel", pods=AT_ONCE)
BATCH = job("batch", parallelism=2, completions=2)
BATCH["spec"]["template"]["spec"] |= AT_ONCE
PODS = [
    pod("bare", nodeName="n1", **AT_ONCE),
    pod("patient", nodeName="n1", **stays()),
    pod("for-a-while", nodeName="n1", **stays(FOR_A_WHILE_S)),
]

Step = tuple[str, list[Manifest], Callable[[Api], Any]]
"""What it is called, the objects as they are from then on, and how the same is done on a real cluster."""


def in_default(made: Manifest) -> Manifest:
    return {**made, "metadata": {**made["metadata"], "namespace": "default"}}


def resized(made: Manifest, replicas: int) -> Manifest:
    return {**made, "spec": {**made["spec"], "replicas": replicas}}


def well(name: str, ready: str = "True", pressure: str = "False") -> Manifest:
    """A node that says how it is."""
    made = node(name)
    said = [{"type": "Ready", "status": ready}, {"type": "MemoryPressure", "status": pressure}]
    return {**made, "status": {**made["status"], "conditions": said}}


def delete_with_pods(kind: str, name: str) -> Callable[[Api], Any]:
    """As kubectl does it: an API server that is not told leaves the pods of a Job alone."""
    return lambda api: api.call("DELETE", path_of(kind, "default", name), {"propagationPolicy": "Background"})


def says(*nodes: Manifest) -> Callable[[Api], Any]:
    """Their status, as kubelets would write it."""

    def write(api: Api) -> None:
        for each in nodes:
            api.patch("Node", each["metadata"]["name"], {"status": each["status"]}, subresource="status")

    return write


@dataclass(frozen=True)
class Story:
    """Things to begin with, and what happens then, a step every so many seconds."""

    start: list[Manifest]
    steps: list[Step]
    goes: dict[str, str] = field(default_factory=dict)
    """What a step deletes, by the step's name."""
    controllers: str = CONTROLLERS
    flags: tuple[str, ...] = ()

    def manifests(self) -> list[Manifest]:
        """All of it as one simulation."""
        moments = {name: f"{STEP_S * number}s" for number, (name, _, _) in enumerate(self.steps, 1)}
        later = [at(moments[name], each) for name, made, _ in self.steps for each in made]
        ends = {what: moments[name] for name, what in self.goes.items()}
        return [
            until(ends[each["metadata"]["name"]], each) if each["metadata"]["name"] in ends else each
            for each in (*self.start, *later)
        ]

    def played(self, step: int) -> State:
        """How it stands after a step, the start being 0."""
        document = simulated(*self.manifests(), run_for_s=STEP_S * (step + 1) - 1)
        there = (each for each in document["pods"] if each["state"] in ("Bound", "Pending"))
        return Counter((each["owner"] or each["name"], each["node"] or "") for each in there)


COMING_AND_GOING = Story(
    [node("n1"), *PODS, WEB, AGENT, CHECKER, DB],
    [
        ("a node comes", [node("n2")], lambda api: api.create(node("n2"))),
        (
            "a taint that evicts",
            [node("n1", taints=GO)],
            lambda api: api.patch("Node", "n1", {"spec": {"taints": GO}}),
        ),
        # Not before: with every pod that is lost the controller waits longer until it makes the next.
        ("a Job comes", [BATCH], lambda api: api.create(in_default(BATCH))),
        ("a node with a label", [node("n3", labels=DISK)], lambda api: api.create(node("n3", labels=DISK))),
        (
            "a StatefulSet grows",
            [resized(DB, 3)],
            lambda api: api.patch("StatefulSet", "db", {"spec": {"replicas": 3}}, "default"),
        ),
        ("a node goes", [], lambda api: api.delete("Node", "n2")),
        (
            "a label goes",
            [node("n3")],
            lambda api: api.patch("Node", "n3", {"metadata": {"labels": {"disk": None}}}),
        ),
        ("a workload comes", [LATE], lambda api: api.create(in_default(LATE))),
        (
            "a StatefulSet shrinks",
            [resized(DB, 1)],
            lambda api: api.patch("StatefulSet", "db", {"spec": {"replicas": 1}}, "default"),
        ),
        ("the taint goes", [node("n1")], lambda api: api.patch("Node", "n1", {"spec": {"taints": None}})),
        ("a workload goes", [], lambda api: api.delete("Deployment", "web", "default")),
        ("a Job goes", [], delete_with_pods("Job", "batch")),
    ],
    {"a node goes": "n2", "a workload goes": "web", "a Job goes": "batch"},
)

IMPATIENT = stays(FOR_A_WHILE_S, "node.kubernetes.io/not-ready")
UNWELL = Story(
    [
        well("n1"),
        workload("DaemonSet", "agent", pods=AT_ONCE),
        workload("Deployment", "web", replicas=2, pods=IMPATIENT),
        workload("StatefulSet", "db", replicas=1, serviceName="db", pods=IMPATIENT),
        pod("patient", **stays(None, "node.kubernetes.io/not-ready")),
    ],
    [
        ("a second node", [well("n2")], lambda api: api.create(well("n2"))),
        ("the first is not ready", [well("n1", "False")], says(well("n1", "False"))),
        ("a pod comes", [pod("late", **AT_ONCE)], lambda api: api.create(in_default(pod("late", **AT_ONCE)))),
        ("it is well again", [well("n1")], says(well("n1"))),
        ("the second is short of memory", [well("n2", pressure="True")], says(well("n2", pressure="True"))),
        ("another pod comes", [pod("last", **AT_ONCE)], lambda api: api.create(in_default(pod("last", **AT_ONCE)))),
        (
            "none is ready",
            [well("n2", "False"), well("n1", "False")],
            says(well("n2", "False"), well("n1", "False")),
        ),
    ],
    controllers=CONTROLLERS + LIFECYCLE,
    flags=(NOBODY_IS_SILENT,),
)


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


@pytest.mark.parametrize("story", [COMING_AND_GOING, UNWELL], ids=["coming and going", "unwell nodes"])
def test_virtual_time_ends_where_the_real_controllers_end(story: Story) -> None:
    with ControlPlane() as plane:
        plane.start_kube_scheduler(verbosity=1)
        plane.start_controller_manager(story.controllers, *story.flags)
        api = plane.api()
        for each in story.start:
            api.create(each if each["kind"] == "Node" else in_default(each))
        stands_as(api, "the start", story.played(0))
        for number, (name, _, act) in enumerate(story.steps, 1):
            act(api)
            stands_as(api, name, story.played(number))


def stands_as(api: Api, step: str, expected: Any, read: Callable[[Api], Any] = real) -> None:
    """What holds for a moment could be on the way to something else, so it must hold twice."""
    ends_at = time.monotonic() + PATIENCE_S
    same = 0
    while same < 2:
        found = read(api)
        same = same + 1 if found == expected else 0
        assert same or time.monotonic() < ends_at, f"{step}: the cluster has {found}, the simulation {expected}"
        time.sleep(1)
