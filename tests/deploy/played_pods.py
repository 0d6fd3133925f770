"""
Pods of an installed chart, run as processes: a kubelet's part as far as the services can tell.

The Deployment is read back from the API server.  Its ConfigMaps become files, its arguments point at them, its service
account gets a token, and its probes are asked.  Nothing else is given, so rights that the chart lacks are missed here.
"""

from __future__ import annotations

import ssl
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import yaml

from tests.support.control_plane import ControlPlane
from tests.support.processes import ProcessGroup, Server, free_ports

PORT_FLAGS = {"annotator": "--health-port", "ui": "--port"}


class PlayedPod:
    """One pod of a Deployment, as a process."""

    def __init__(self, plane: ControlPlane, namespace: str, name: str, folder: Path, processes: ProcessGroup) -> None:
        self._plane, self._namespace, self._folder = plane, namespace, folder / name
        self._folder.mkdir()
        pod = plane.api().get("Deployment", name, namespace)["spec"]["template"]["spec"]
        (self._container,) = pod["containers"]
        (self.port,) = free_ports(1)
        flag = PORT_FLAGS.get(self._container["name"], "--secure-port")
        command = [sys.executable, "-m", "bayplan", *self._arguments(pod)]
        command += [f"--kubeconfig={self._kubeconfig(pod['serviceAccountName'])}", f"{flag}={self.port}"]
        self.server: Server = processes.start(command, self._folder / "log")

    def _arguments(self, pod: dict[str, Any]) -> list[str]:
        """The container's, with the paths of its mounts in the folder."""
        volumes = {each["name"]: each for each in pod["volumes"]}
        args = list(self._container["args"])
        for mount in self._container["volumeMounts"]:
            source = volumes[mount["name"]].get("configMap")
            if source is None:
                continue
            place = self._folder / mount["name"]
            place.mkdir()
            for name, text in self._plane.api().get("ConfigMap", source["name"], self._namespace)["data"].items():
                (place / name).write_text(text)
            args = [each.replace(f"{mount['mountPath']}/", f"{place}/") for each in args]
        return args

    def _kubeconfig(self, account: str) -> Path:
        body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
        path = f"/api/v1/namespaces/{self._namespace}/serviceaccounts/{account}/token"
        token = self._plane.api().call("POST", path, body)["status"]["token"]
        document = yaml.safe_load(self._plane.kubeconfig().read_text())
        document["users"][0]["user"] = {"token": token}
        written = self._folder / "kubeconfig"
        written.write_text(yaml.safe_dump(document))
        return written

    @property
    def log(self) -> str:
        return self.server.log.read_text(errors="replace")

    def wait_until_ready(self, timeout_s: float) -> None:
        """All probes of the container answer."""
        self.server.wait_until(lambda: all(self._answers(probe) for probe in self._probes()), timeout_s)

    def _probes(self) -> list[str]:
        kinds = ("startupProbe", "livenessProbe", "readinessProbe")
        return [self._container[kind]["httpGet"]["path"] for kind in kinds]

    def _answers(self, path: str) -> bool:
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        try:
            with urllib.request.urlopen(f"https://127.0.0.1:{self.port}{path}", context=context, timeout=5) as answer:
                return bool(answer.status == 200)
        except (urllib.error.URLError, OSError):
            return False
