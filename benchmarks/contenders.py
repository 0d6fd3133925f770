"""
Who is measured: Bayplan, the real kube-scheduler, and a client that does nothing but bind; each is its own process.

``running`` starts them one after the other on one control plane, all with the same rights.
"""

from __future__ import annotations

import sys

import yaml

from tests.support.control_plane import ControlPlane
from tests.support.processes import ProcessGroup, Server

BAYPLAN, KUBE_SCHEDULER, BIND_ONLY = "bayplan", "kube-scheduler", "bind-only"
SCHEDULER_NAME = "default-scheduler"
QPS = 10_000


class Contenders:
    """Starts them; ``close`` ends what still runs."""

    def __init__(self, plane: ControlPlane) -> None:
        self._plane = plane
        self._processes = ProcessGroup()

    def close(self) -> None:
        self._processes.close()

    def start(self, name: str) -> Server:
        if name == KUBE_SCHEDULER:
            kubeconfig = str(self._plane.kubeconfig("admin"))
            connection = {"kubeconfig": kubeconfig, "qps": QPS, "burst": QPS}
            return self._plane.start_kube_scheduler({"clientConnection": connection}, verbosity=0)
        return self._processes.start(self._command(name), self._plane.folder / f"{name}.log")

    def _command(self, name: str) -> list[str]:
        kubeconfig = self._plane.kubeconfig("admin")
        if name == BIND_ONLY:
            return [sys.executable, "-m", "benchmarks.binding", str(kubeconfig)]
        config = self._plane.folder / "bayplan.yaml"
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "profiles": [{"schedulerName": SCHEDULER_NAME}],
        }
        config.write_text(yaml.safe_dump(document))
        flags = [f"--config={config}", f"--kubeconfig={kubeconfig}", "--secure-port=0"]
        return [sys.executable, "-m", "bayplan", "scheduler", *flags]
