"""The rules that ship are the rules that are needed: everything it does is allowed, and everything allowed is used."""

from __future__ import annotations

import asyncio
import ssl
import urllib.error
import urllib.request
from contextlib import suppress
from itertools import product
from typing import Any

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.app.test_devices import claim as device_claim
from tests.e2e.audit import Audit
from tests.e2e.kubectl import Kubectl
from tests.e2e.replicas import STARTING_S, Replicas, run_cli
from tests.support.api import Api
from tests.support.control_plane import ControlPlane
from tests.support.devices import pod_with, publish
from tests.support.live import Cluster, until
from tests.support.processes import free_ports

pytestmark = [pytest.mark.kube, pytest.mark.slow]

# Read only after a bind whose answer was lost or surprising; tests/kube makes that happen.
AFTER_TROUBLE = {
    ("get", "", "pods"),
    ("get", "", "persistentvolumeclaims"),
    ("get", "", "persistentvolumes"),
    ("get", "resource.k8s.io", "resourceclaims"),
    ("delete", "resource.k8s.io", "resourceclaims"),
}
# Rules that taint devices are not served here, so they are asked for and not watched; nobody asks for "binding" by itself,
# it is what the API server wants of those who write allocations.
NEVER_SEEN = {
    ("watch", "resource.k8s.io", "devicetaintrules"),
    ("patch", "resource.k8s.io", "resourceclaims/binding"),
}


def allowed() -> set[tuple[str, str, str]]:
    """(verb, API group, resource) of every rule for the scheduler's own account."""
    found: set[tuple[str, str, str]] = set()
    for document in yaml.safe_load_all(manifests("scheduler")):
        if document["metadata"]["name"].startswith("bayplan-scheduler") and "rules" in document:
            for rule in document["rules"]:
                found.update(product(rule["verbs"], rule["apiGroups"], rule["resources"]))
    return found


async def test_everything_it_does_is_allowed_and_everything_allowed_is_used(
    plane: ControlPlane, cluster: Cluster, replicas: Replicas, audit: Audit
) -> None:
    (port,) = free_ports(1)
    replica = replicas.start(f"--secure-port={port}")
    await cluster.node("n1", cpu="1")

    await bind_and_preempt(cluster)
    await fail_often(cluster)
    await mount(cluster)
    await claim_devices(cluster)
    assert await asyncio.to_thread(metrics, port, plane.tokens["admin"]) == 200
    assert await asyncio.to_thread(metrics, port, plane.tokens["nobody"]) == 403
    assert await asyncio.to_thread(metrics, port, None) == 401

    with suppress(TimeoutError):
        await until(lambda: not unused(audit), "every rule to be used", 10)
    assert unused(audit) == set()
    assert audit.refused() == []
    assert "may not" not in replica.log


def unused(audit: Audit) -> set[tuple[str, str, str]]:
    return allowed() - audit.used() - AFTER_TROUBLE - NEVER_SEEN


async def bind_and_preempt(cluster: Cluster) -> None:
    await cluster.pod("low", cpu="900m")
    await cluster.bound("low", STARTING_S)
    await cluster.create(
        {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 1000}
    )
    await cluster.pod("high", cpu="900m", priorityClassName="high")
    await until(lambda: is_terminating(cluster.api, cluster.namespace, "low"), "the victim's end", 10)
    await cluster.delete("low")
    await cluster.bound("high")


async def claim_devices(cluster: Cluster) -> None:
    """A device by a claim, and one for an extended resource that a class stands behind."""
    await publish(cluster, "gpu-0", "gpu-1")
    await device_claim(cluster, "mine")
    await pod_with(cluster, "by-claim", "mine", cpu="10m")
    await cluster.bound("by-claim")
    amounts = {"example.com/gpu": "1"}
    container = {"name": "c", "image": "web:1", "resources": {"requests": amounts, "limits": amounts}}
    await cluster.pod("by-resource", containers=[container])
    await cluster.bound("by-resource")


def is_terminating(api: Api, namespace: str, name: str) -> bool:
    return "deletionTimestamp" in api.get("Pod", name, namespace)["metadata"]


async def fail_often(cluster: Cluster) -> None:
    """The same failure of a pod that did not change in between is counted in the event that tells of the first."""
    labels = {"labels": {"app": "spread"}}
    constraint = {
        "topologyKey": "rack",
        "maxSkew": 1,
        "whenUnsatisfiable": "DoNotSchedule",
        "labelSelector": {"matchLabels": labels["labels"]},
    }
    await cluster.pod("spread", metadata=labels, cpu="10m", topologySpreadConstraints=[constraint])
    for times in (1, 2):

        async def has_failed(times: int = times) -> bool:
            return len(await cluster.events("spread", "FailedScheduling")) == times

        await until(has_failed, f"failure number {times}")
        # A pod that counts for the constraint: its arrival could have helped.
        await cluster.pod(f"counts-{times}", metadata=labels, cpu="10m")


async def mount(cluster: Cluster) -> None:
    """One claim for a volume that is there, one for a volume that is to be made."""
    for name, provisioner in (("local", "kubernetes.io/no-provisioner"), ("made", "example.com/disks")):
        await cluster.create(
            {
                "apiVersion": "storage.k8s.io/v1",
                "kind": "StorageClass",
                "metadata": {"name": name},
                "provisioner": provisioner,
                "volumeBindingMode": "WaitForFirstConsumer",
            }
        )
    await cluster.create(volume())
    # Nobody here tells that a volume is ready to be used.
    available = {"status": {"phase": "Available"}}
    await asyncio.to_thread(cluster.api.patch, "PersistentVolume", "local", available, None, "status")
    for name in ("local", "made"):
        await cluster.create(claim(cluster.namespace, name))
        await cluster.pod(name, cpu="10m", volumes=[{"name": "data", "persistentVolumeClaim": {"claimName": name}}])


def volume() -> dict[str, Any]:
    terms = [{"matchExpressions": [{"key": "kubernetes.io/hostname", "operator": "In", "values": ["n1"]}]}]
    spec = {
        "capacity": {"storage": "1Gi"},
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": "local",
        "local": {"path": "/data"},
        "nodeAffinity": {"required": {"nodeSelectorTerms": terms}},
    }
    return {"apiVersion": "v1", "kind": "PersistentVolume", "metadata": {"name": "local"}, "spec": spec}


def claim(namespace: str, name: str) -> dict[str, Any]:
    spec = {
        "accessModes": ["ReadWriteOnce"],
        "storageClassName": name,
        "resources": {"requests": {"storage": "1Gi"}},
    }
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": metadata, "spec": spec}


def metrics(port: int, token: str | None) -> int:
    """The status of the answer to somebody who asks for the metrics."""
    request = urllib.request.Request(f"https://127.0.0.1:{port}/metrics")
    if token is not None:
        request.add_header("Authorization", f"Bearer {token}")
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    try:
        with opener.open(request, timeout=10) as answer:
            return int(answer.status)
    except urllib.error.HTTPError as error:
        return error.code


async def test_its_requests_have_the_priority_of_a_system_component(plane: ControlPlane, replicas: Replicas) -> None:
    """Which is why no FlowSchema ships."""
    api = Api(plane.server, replicas.new_token(), str(plane.ca_file))
    levels = plane.api().call("GET", "/apis/flowcontrol.apiserver.k8s.io/v1/prioritylevelconfigurations")["items"]
    names = {each["metadata"]["uid"]: each["metadata"]["name"] for each in levels}
    lease = "/apis/coordination.k8s.io/v1/namespaces/kube-system/leases/bayplan-scheduler"
    found = {}
    for path in ("/api/v1/pods", lease):
        answer = api._session.get(plane.server + path, timeout=10)
        found[path] = names[answer.headers["X-Kubernetes-PF-PriorityLevel-UID"]]

    assert found == {"/api/v1/pods": "workload-high", lease: "leader-election"}


def test_the_api_server_takes_every_manifest_as_it_is(kubectl: Kubectl) -> None:
    code, printed, complaints = run_cli(["manifests", "all"])

    assert (code, complaints) == (0, "")
    answers = kubectl("apply", "--dry-run=server", "--validate=strict", "-f", "-", given=printed).splitlines()
    assert len(answers) == len(list(yaml.safe_load_all(printed)))


@pytest.mark.parametrize(
    ("folder", "part"),
    [("base", "scheduler"), ("rebalancer", "rebalancer"), ("annotator", "annotator"), ("placement", "placement")],
)
def test_kustomize_gives_what_the_command_prints(folder: str, part: str, kubectl: Kubectl) -> None:
    built = list(yaml.safe_load_all(kubectl("kustomize", f"deploy/{folder}")))
    printed = list(yaml.safe_load_all(manifests(part)))

    def by_name(documents: list[dict[str, Any]]) -> dict[tuple[str, str], dict[str, Any]]:
        return {(each["kind"], each["metadata"]["name"]): each for each in documents}

    assert by_name(built) == by_name(printed)
