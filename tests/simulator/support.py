"""Manifests in one line each, and the world they make; for the tests of the simulator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayplan.objects.meta import ApiObject
from bayplan.plugins.plugin_set import registry
from bayplan.simulator.loading import Given, documents_of, load
from bayplan.simulator.simulation import simulate
from bayplan.simulator.world import World, assemble

Manifest = dict[str, Any]

ZONE = "topology.kubernetes.io/zone"
HOSTNAME = "kubernetes.io/hostname"
START = 1_750_000_000.0


def node(name: str, cpu: str = "4", *, labels: dict[str, str] | None = None, taints: Any = (), **spec: Any) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": {HOSTNAME: name, **(labels or {})}},
        "spec": {"taints": list(taints), **spec},
        "status": {"allocatable": {"cpu": cpu, "memory": "8Gi", "pods": "110"}},
    }


def pod_spec(cpu: str = "100m", **spec: Any) -> Manifest:
    return {"containers": [{"name": "main", "image": "app", "resources": {"requests": {"cpu": cpu}}}], **spec}


def pod(
    name: str, cpu: str = "100m", *, meta: Manifest | None = None, status: Manifest | None = None, **spec: Any
) -> Manifest:
    made = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, **(meta or {})},
        "spec": pod_spec(cpu, **spec),
    }
    return made | ({"status": status} if status else {})


def workload(kind: str, name: str, cpu: str = "100m", *, pods: Manifest | None = None, **spec: Any) -> Manifest:
    """A Deployment, ReplicaSet, StatefulSet or DaemonSet of pods labelled ``app: name``."""
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": pod_spec(cpu, **(pods or {}))},
            **spec,
        },
    }


def job(name: str, **spec: Any) -> Manifest:
    template = {"spec": pod_spec(restartPolicy="Never")}
    return {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": {"template": template, **spec}}


def budget(name: str, labels: dict[str, str], **spec: Any) -> Manifest:
    selector = {"matchLabels": labels}
    meta = {"name": name}
    return {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "metadata": meta,
        "spec": {"selector": selector, **spec},
    }


def config(*names: str, **more: Any) -> Manifest:
    profiles = [{"schedulerName": name} for name in names]
    kind = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    return {**kind, "profiles": profiles, **more}


def owned_by(kind: str, name: str, api_version: str = "apps/v1") -> list[Manifest]:
    return [{"apiVersion": api_version, "kind": kind, "name": name, "uid": "u", "controller": True}]


def given(*manifests: Manifest, plugins: Sequence[str] = ()) -> Given:
    return load(documents_of(manifests, "test.yaml"), plugins=registry(plugins, discover=False))


def objects(*manifests: Manifest) -> list[ApiObject]:
    return given(*manifests).objects


def world(*manifests: Manifest, plugins: Sequence[str] = (), **options: Any) -> World:
    return assemble(given(*manifests, plugins=plugins), **{"now": START, **options})


def simulated(*manifests: Manifest, plugins: Sequence[str] = (), **options: Any) -> Manifest:
    """The document of a simulation."""
    return simulate(given(*manifests, plugins=plugins), **{"now": START, **options})


def by_name(document: Manifest) -> dict[str, Manifest]:
    return {each["name"]: each for each in document["pods"]}


def states(document: Manifest) -> dict[str, str]:
    return {each["name"]: each["state"] for each in document["pods"]}
