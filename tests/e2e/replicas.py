"""``bayplan scheduler`` as processes, each with a token of its own for the service account that the manifests make."""

from __future__ import annotations

import base64
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import yaml

from tests.support.control_plane import ControlPlane
from tests.support.processes import ProcessGroup, Server

ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/bayplan-scheduler"
LEASE_S = 3.0
STARTING_S = 60.0
"""How long a process may take until it is at work: it has seconds of modules to load, and others may want the machine."""
CONFIG: dict[str, Any] = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {
        "leaderElect": True,
        "resourceName": "bayplan-scheduler",
        "resourceNamespace": "kube-system",
        "leaseDuration": f"{LEASE_S:g}s",
        "renewDeadline": "2s",
        "retryPeriod": "500ms",
    },
    "profiles": [{"schedulerName": "bayplan"}],
}


class Replica:
    """One process."""

    def __init__(self, server: Server, token: str) -> None:
        self.server = server
        self.token_id = _token_id(token)

    @property
    def log(self) -> str:
        return self.server.log.read_text(errors="replace")

    @property
    def identity(self) -> str:
        """Its name in the lease; "" as long as it has not led."""
        found = re.search(r"event=leading identity=(\S+)", self.log)
        return found[1] if found else ""

    def is_running(self) -> bool:
        return self.server.is_running()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.server.pid, number)

    def ended(self, timeout_s: float = 15.0) -> int:
        return self.server.ended(timeout_s)

    def kill(self) -> None:
        self.signal(signal.SIGKILL)
        self.server.ended()


class Replicas:
    """Starts replicas, and ends those that are left."""

    def __init__(self, plane: ControlPlane, folder: Path) -> None:
        self._plane = plane
        self._folder = folder
        self._processes = ProcessGroup()
        self._numbers = itertools.count(1)
        self._config = folder / "scheduler-config.yaml"
        self._config.write_text(yaml.safe_dump(CONFIG))
        self.all: list[Replica] = []

    def start(self, *flags: str) -> Replica:
        """One more, with short lease times; it leads when nobody else does."""
        number = next(self._numbers)
        token = self.new_token()
        kubeconfig = self.kubeconfig(f"replica-{number}", token)
        command = [sys.executable, "-m", "bayplan", "scheduler", f"--config={self._config}"]
        command += [f"--kubeconfig={kubeconfig}", "--secure-port=0", *flags]
        replica = Replica(self._processes.start(command, self._folder / f"replica-{number}.log"), token)
        self.all.append(replica)
        return replica

    def new_token(self) -> str:
        """From the TokenRequest API, as a kubelet gets one for a pod."""
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        return str(self._plane.api().call("POST", f"{ACCOUNT}/token", body)["status"]["token"])

    def kubeconfig(self, name: str, token: str) -> Path:
        document = yaml.safe_load(self._plane.kubeconfig().read_text())
        document["users"][0]["user"] = {"token": token}
        path = self._folder / f"{name}.kubeconfig"
        path.write_text(yaml.safe_dump(document))
        return path

    def lease(self) -> dict[str, Any]:
        """What the lease says; nothing if there is none."""
        found = self._plane.api().find("Lease", "bayplan-scheduler", "kube-system")
        return found["spec"] if found else {}

    def leader(self) -> Replica | None:
        """The replica that the lease names and that is running."""
        holder = self.lease().get("holderIdentity")
        return next((each for each in self.all if holder and each.identity == holder and each.is_running()), None)

    def logs(self) -> str:
        return "\n".join(f"--- {each.server.log.name}\n{each.log}" for each in self.all)

    def close(self) -> None:
        for replica in self.all:
            if replica.is_running():
                replica.signal(signal.SIGCONT)
        self._processes.close()


def run_cli(arguments: Sequence[str], **environment: str) -> tuple[int, str, str]:
    """Run the command line to its end: exit code, stdout, stderr."""
    ended = subprocess.run(
        [sys.executable, "-m", "bayplan", *arguments],
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ended.returncode, ended.stdout, ended.stderr


def _token_id(token: str) -> str:
    payload = token.split(".")[1]
    return str(json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))["jti"])
