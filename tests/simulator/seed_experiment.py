"""The experiment of the published article on Crane's scheduler: three nodes, replicas of 5C/40Gi or of 12C/12Gi."""

from __future__ import annotations

from typing import Any

from bayplan.objects.admission.own_keys import INTERVAL, USAGE
from tests.simulator.support import config

Manifest = dict[str, Any]

BASE_REQUESTS = {"node-01": ("1", "4Gi"), "node-02": ("1", "4Gi"), "node-03": ("6", "8Gi")}


def nodes(gap_gib: float) -> list[Manifest]:
    """Three nodes of 40 cores and 188Gi; ``gap_gib``: how far node-03's memory is below 65% at first."""
    real = {
        "node-01": "cpu=2, memory=20Gi",
        "node-02": "cpu=2, memory=20Gi",
        "node-03": f"cpu=4, memory={int((122.2 - gap_gib) * 1024)}Mi",
    }
    made: list[Manifest] = []
    for name, (cpu, memory) in BASE_REQUESTS.items():
        made.append(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
                "status": {"allocatable": {"cpu": "40", "memory": "188Gi", "pods": "110"}},
            }
        )
        made.append(_pod(f"base-{name}", {"cpu": cpu, "memory": memory}, real[name], nodeName=name))
    return made


def memory_type(replicas: int, every: str = "0s") -> Manifest:
    return _deployment("memory", replicas, {"cpu": "5", "memory": "40Gi"}, "cpu=2, memory=20Gi", every)


def cpu_type(replicas: int, every: str = "0s") -> Manifest:
    return _deployment("cpu", replicas, {"cpu": "12", "memory": "12Gi"}, "cpu=8, memory=8Gi", every)


def spare(name: str, replicas: int, cpu_milli: int, memory_mib: int, arrives: str) -> Manifest:
    """The same work, as spare pods."""
    asked = {"spare.bayplan.io/cpu-milli": str(cpu_milli), "spare.bayplan.io/memory-mib": str(memory_mib)}
    usage = f"cpu={cpu_milli}m, memory={memory_mib}Mi"
    made = _deployment(name, replicas, asked, usage, "0s")
    template = made["spec"]["template"]
    template["metadata"]["labels"]["bayplan.io/capacity"] = "spare"
    template["metadata"]["annotations"]["simulation.bayplan.io/arrives"] = arrives
    template["spec"]["containers"][0]["resources"]["limits"] = asked
    return made


def load_aware(spare_too: bool = False, **args: Any) -> Manifest:
    """A configuration with Dynamic as the article enables it."""
    made = config("default-scheduler")
    plugins: Manifest = {
        "filter": {"enabled": [{"name": "Dynamic"}]},
        "score": {"enabled": [{"name": "Dynamic", "weight": 3}]},
    }
    if spare_too:
        plugins["multiPoint"] = {"enabled": [{"name": "SpareCapacity"}]}
    made["profiles"][0] |= {"plugins": plugins, "pluginConfig": [{"name": "Dynamic", "args": args}]}
    return made


def _deployment(name: str, replicas: int, requests: Manifest, usage: str, every: str) -> Manifest:
    labels = {"app": name}
    template = _pod(name, requests, usage)
    template["metadata"] |= {"labels": dict(labels)}
    template["metadata"]["annotations"][INTERVAL] = every
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": template["metadata"], "spec": template["spec"]},
        },
    }


def _pod(name: str, requests: Manifest, usage: str, **spec: Any) -> Manifest:
    container = {"name": "stress", "image": "stress-ng", "resources": {"requests": requests}}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": name, "annotations": {USAGE: usage}},
        "spec": {"containers": [container], **spec},
    }


def placed(document: Manifest, prefix: str) -> dict[str, int]:
    """How many pods of a workload each node has."""
    found = dict.fromkeys(BASE_REQUESTS, 0)
    for pod in document["pods"]:
        if pod["name"].startswith(prefix) and pod["state"] == "Bound":
            found[pod["node"]] += 1
    return found


def messages(document: Manifest) -> set[str]:
    return {pod["message"] for pod in document["pods"] if pod["state"] == "Pending"}
