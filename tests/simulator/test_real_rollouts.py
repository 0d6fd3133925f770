"""Rollouts twice: in virtual time, and by the real controllers.  As many pods of each template are there in the end."""

from __future__ import annotations

from typing import Any

import pytest

from tests.simulator.support import Manifest, node, simulated, workload
from tests.simulator.test_real_controllers import AT_ONCE, CONTROLLERS, in_default, stands_as
from tests.simulator.test_timed_changes import at
from tests.support.api import Api
from tests.support.control_plane import ControlPlane

pytestmark = [pytest.mark.kube, pytest.mark.slow]

NODES = [node(f"n{number}", "32") for number in range(4)]
OLD, NEW, HUGE = "100m", "200m", "99"
Counts = dict[str, tuple[int, int, int]]
"""By workload: new pods on a node, new ones that wait, old ones."""


def rolling(surge: int | str, unavailable: int | str) -> Manifest:
    return {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": surge, "maxUnavailable": unavailable}}


def deployed(strategy: Manifest, replicas: int = 4) -> tuple[str, dict[str, Any]]:
    return "Deployment", {"replicas": replicas, "strategy": strategy}


def stateful(policy: str = "OrderedReady", **strategy: Any) -> tuple[str, dict[str, Any]]:
    more = {"podManagementPolicy": policy, "serviceName": "db", "updateStrategy": strategy}
    return "StatefulSet", {"replicas": 3, **more}


CASES = {
    "quarters": deployed(rolling("25%", "25%")),
    "more": deployed(rolling(1, 0)),
    "fewer": deployed(rolling(0, 1)),
    "rounded": deployed(rolling("30%", "30%"), 7),
    "nothing": deployed(rolling(0, "1%"), 3),
    "recreate": deployed({"type": "Recreate"}),
    "ordered": stateful(),
    "parallel": stateful("Parallel"),
    "parted": stateful(type="RollingUpdate", rollingUpdate={"partition": 2}),
    "kept": stateful(type="OnDelete"),
    "daemons": ("DaemonSet", {}),
    "two-daemons": ("DaemonSet", {"updateStrategy": rolling(0, "30%")}),
    "surging": ("DaemonSet", {"updateStrategy": rolling(2, 0)}),
    "kept-daemons": ("DaemonSet", {"updateStrategy": {"type": "OnDelete"}}),
}


def made(name: str, cpu: str) -> Manifest:
    kind, spec = CASES[name]
    return workload(kind, name, cpu, pods=AT_ONCE, **spec)


def played(cpu: str) -> Counts:
    found = {}
    for name in CASES:
        (told,) = simulated(*NODES, made(name, OLD), at("1m", made(name, cpu)))["rollouts"]
        found[name] = told["newBound"], told["new"] - told["newBound"], told["old"]
    return found


def living(api: Api) -> list[Manifest]:
    """As kubelets would: what is on a node becomes ready."""
    pods = api.list("Pod", "default")
    for each in pods:
        if each["spec"].get("nodeName") and not each["status"].get("startTime"):
            ready = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-31T10:00:00Z"}
            status = {"phase": "Running", "startTime": "2026-01-31T10:00:00Z", "conditions": [ready]}
            api.patch("Pod", each["metadata"]["name"], {"status": status}, "default", subresource="status")
    return pods


def counted(api: Api) -> Counts:
    found = dict.fromkeys(CASES, (0, 0, 0))
    for each in living(api):
        name = each["metadata"]["labels"]["app"]
        is_old = each["spec"]["containers"][0]["resources"]["requests"]["cpu"] == OLD
        place = 2 if is_old else 0 if each["spec"].get("nodeName") else 1
        counts = [*found[name]]
        counts[place] += 1
        found[name] = counts[0], counts[1], counts[2]
    return found


def ready(api: Api) -> set[str]:
    """Workloads that have a pod which is not ready."""
    pods = living(api)
    return {each["metadata"]["labels"]["app"] for each in pods if not each["status"].get("startTime")}


@pytest.mark.parametrize("cpu", [NEW, HUGE], ids=["with room", "without room"])
def test_as_many_pods_of_each_template_as_with_the_real_controllers(cpu: str) -> None:
    expected = played(cpu)
    with ControlPlane() as plane:
        plane.start_kube_scheduler(verbosity=1)
        plane.start_controller_manager(CONTROLLERS)
        api = plane.api()
        for each in (*NODES, *(in_default(made(name, OLD)) for name in CASES)):
            api.create(each)
        sizes = {name: (0, 0, size(name)) for name in CASES}
        stands_as(api, "the start", sizes, counted)
        stands_as(api, "all are ready", set(), ready)
        for name, (kind, _) in CASES.items():
            api.patch(kind, name, {"spec": {"template": made(name, cpu)["spec"]["template"]}}, "default")
        stands_as(api, "rolled out", expected, counted)


def size(name: str) -> int:
    found: int = CASES[name][1].get("replicas", len(NODES))
    return found
