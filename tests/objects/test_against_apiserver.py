"""Defaults and refusals, compared with a real API server on random objects (server-side dry run, nothing is stored).

`APISERVER_CASES=2000` compares that many objects of each kind.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast

import pytest

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.admission.defaulting import default_pod
from bayplan.objects.admission.validating import check_object
from bayplan.objects.files.manifests import Document
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PriorityClass
from bayplan.simulator import loading
from tests.objects.openapi_fields import SERVED
from tests.objects.random_objects import MAKERS, ObjectMaker
from tests.objects.random_specs import SpecMaker
from tests.support.api import Api, ApiError, path_of
from tests.support.binaries import binaries_or_skip
from tests.support.control_plane import ControlPlane

pytestmark = pytest.mark.kube

CLASSES: list[dict[str, Any]] = [
    {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000},
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": "quiet"},
        "value": -10,
        "preemptionPolicy": "Never",
    },
]
RUNTIME: dict[str, Any] = {
    "apiVersion": "node.k8s.io/v1",
    "kind": "RuntimeClass",
    "metadata": {"name": "gvisor"},
    "handler": "runsc",
}
CLASS_FIELDS = ("priorityClassName", "priority", "preemptionPolicy", "runtimeClassName")
CASES = int(os.environ.get("APISERVER_CASES", "60"))
"""Objects of each kind; the server answers some fifty a second."""
SEEN_BY_PLUGINS = [
    "requests",
    "nonzero",
    "host_ports",
    "tolerations",
    "priority",
    "preemption_policy",
    "scheduler_name",
    "images",
    "node_selector",
    "required_node_affinity",
    "preferred_node_terms",
    "required_affinity_terms",
    "required_anti_affinity_terms",
    "preferred_affinity_terms",
    "preferred_anti_affinity_terms",
    "spread_constraints",
]
SEEN_IN_SPEC = ("restart_policy", "priority_class_name", "termination_grace_period_seconds", "host_network")


@pytest.fixture(scope="module")
def api() -> Iterator[Api]:
    with ControlPlane(binaries_or_skip(), extra_flags=SERVED) as plane:
        client = plane.api()
        for each in (*CLASSES, RUNTIME):
            client.create(each)
        yield client


def raw_pod(seed: int, mistakes: float) -> dict[str, Any]:
    maker = SpecMaker(seed, mistakes)
    meta = {"name": "web", "namespace": "default", "labels": maker.labels()}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": maker.spec()}


def by_server(api: Api, raw: dict[str, Any]) -> Pod | str:
    """The pod as it would be stored, or why it would not be."""
    try:
        return cast(Pod, kinds.decode(api.call("POST", path_of("Pod", "default"), raw, dryRun="All")))
    except ApiError as error:
        return str(error)


def by_us(raw: dict[str, Any]) -> Pod | str:
    classes = {each["metadata"]["name"]: cast(PriorityClass, kinds.decode(each)) for each in CLASSES}
    try:
        pod = cast(Pod, kinds.decode(raw))
        found = [str(each) for each in check_object(pod)]
        return "; ".join(found) if found else default_pod(pod, classes)
    except InputError as error:
        return str(error)


def seen(pod: Pod) -> dict[str, Any]:
    return {
        **{name: getattr(pod, name) for name in SEEN_BY_PLUGINS},
        **{name: getattr(pod.spec, name) for name in SEEN_IN_SPEC},
    }


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_pods_from_files_are_what_the_server_would_have_stored(api: Api, first: int) -> None:
    for seed in range(first, first + 50):
        raw = raw_pod(seed, mistakes=0.0)
        stored, ours = by_server(api, raw), by_us(raw)
        assert isinstance(stored, Pod), f"seed {seed}: {stored}"
        assert isinstance(ours, Pod), f"seed {seed}: {ours}"
        assert seen(ours) == seen(stored), f"seed {seed}"
        assert default_pod(stored) == stored, f"seed {seed}: what is stored already must not change"


@pytest.mark.parametrize("first", range(0, 400, 50))
def test_pods_are_refused_when_the_server_refuses_them(api: Api, first: int) -> None:
    refused = 0
    for seed in range(first, first + 50):
        raw = raw_pod(seed, mistakes=0.05)
        stored, ours = by_server(api, raw), by_us(raw)
        assert isinstance(ours, str) == isinstance(stored, str), f"seed {seed}: server {stored}, we {ours}"
        refused += isinstance(stored, str)
    assert 5 < refused < 45


def refused_by_server(api: Api, raw: dict[str, Any]) -> str:
    """Why the object, or a pod made from its template, would not be stored; "" if it would be."""
    kind, spec = raw["kind"], raw.get("spec", {})
    try:
        api.call("POST", path_of(kind, "default"), raw, dryRun="All")
        # Nobody starts a CronJob here, so its classes are not asked for.
        template, left_out = spec.get("template"), ()
        if kind == "CronJob":
            template, left_out = spec["jobTemplate"]["spec"]["template"], CLASS_FIELDS
        if template is not None:
            pod = {"apiVersion": "v1", "kind": "Pod", "metadata": {**template["metadata"], "name": "web"}}
            pod["spec"] = {name: value for name, value in template["spec"].items() if name not in left_out}
            api.call("POST", path_of("Pod", "default"), pod, dryRun="All")
    except ApiError as error:
        return str(error)
    return ""


def refused_by_us(raw: dict[str, Any]) -> str:
    try:
        loading.load([Document("in", 1, each) for each in (raw, *CLASSES, RUNTIME)], strict=True)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("kind", MAKERS)
@pytest.mark.parametrize("mistakes", [0.0, 0.03])
def test_objects_of_every_kind_are_refused_when_the_server_refuses_them(api: Api, kind: str, mistakes: float) -> None:
    refused = 0
    for seed in range(CASES):
        raw = ObjectMaker(seed, mistakes).object(kind)
        theirs, ours = refused_by_server(api, raw), refused_by_us(raw)
        assert bool(ours) == bool(theirs), f"{kind}, seed {seed}, mistakes {mistakes}: server {theirs!r}, we {ours!r}"
        refused += bool(theirs)
    assert refused == 0 if mistakes == 0.0 else refused < CASES
