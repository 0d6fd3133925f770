"""What fake kubelets write into the status of nodes and pods.  Used by ``kubelets``."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from hack.dev_cluster.played import PlayedPod

SIZE = {"cpu": "8", "memory": "32Gi", "ephemeral-storage": "100Gi", "pods": "110"}


def now(form: str = "%Y-%m-%dT%H:%M:%SZ") -> str:
    return datetime.now(UTC).strftime(form)


def addresses(name: str, internal_ip: str) -> list[dict[str, str]]:
    return [{"type": "InternalIP", "address": internal_ip}, {"type": "Hostname", "address": name}]


def node_status(name: str, internal_ip: str, known: dict[str, str]) -> dict[str, Any]:
    """A healthy node; ``known`` is what its allocatable says already."""
    size = {**SIZE, **known}
    moment = now()
    healthy = {"lastHeartbeatTime": moment, "lastTransitionTime": moment}
    conditions = [
        {"type": kind, "status": "False", "reason": f"KubeletHasNo{kind}", "message": "all is well", **healthy}
        for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")
    ]
    conditions.append(
        {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "this node is not real", **healthy}
    )
    info = {"kubeletVersion": "fake", "operatingSystem": "linux", "architecture": "amd64", "osImage": "none"}
    return {
        "status": {
            "addresses": addresses(name, internal_ip),
            "capacity": size,
            "allocatable": size,
            "conditions": conditions,
            "nodeInfo": info,
        }
    }


def running(pod: PlayedPod, host_ip: str) -> dict[str, Any]:
    moment = now()
    address = host_ip if pod.spec.host_network else _address(pod)
    status = {
        "phase": "Running",
        "startTime": moment,
        "hostIP": host_ip,
        "hostIPs": [{"ip": host_ip}],
        "podIP": address,
        "podIPs": [{"ip": address}],
        "conditions": [
            {"type": kind, "status": "True", "lastTransitionTime": moment}
            for kind in ("PodReadyToStartContainers", "Initialized", "ContainersReady", "Ready")
        ],
        "containerStatuses": _containers(pod, {"running": {"startedAt": moment}}, ready=True),
    }
    return {"metadata": {"uid": pod.uid}, "status": status}


def succeeded(pod: PlayedPod) -> dict[str, Any]:
    moment = now()
    ended = {
        "exitCode": 0,
        "reason": "Completed",
        "startedAt": pod.status.start_time or moment,
        "finishedAt": moment,
    }
    status = {
        "phase": "Succeeded",
        "conditions": [
            {"type": kind, "status": "False", "reason": "PodCompleted", "lastTransitionTime": moment}
            for kind in ("ContainersReady", "Ready")
        ],
        "containerStatuses": _containers(pod, {"terminated": ended}, ready=False),
    }
    return {"metadata": {"uid": pod.uid}, "status": status}


def _containers(pod: PlayedPod, state: dict[str, Any], *, ready: bool) -> list[dict[str, Any]]:
    return [
        {
            "name": container.name,
            "image": container.image,
            "imageID": "",
            "ready": ready,
            "started": ready,
            "restartCount": 0,
            "state": state,
        }
        for container in pod.spec.containers
    ]


def _address(pod: PlayedPod) -> str:
    """Looks like an address, and is the same for the same pod."""
    number = int(pod.uid.replace("-", "")[:6] or "0", 16)
    return f"10.{128 + (number >> 16) % 64}.{(number >> 8) % 256}.{1 + number % 254}"
