"""A real control plane for tests: etcd and kube-apiserver, and on request kube-scheduler and kube-controller-manager.

``ControlPlane`` is a context manager; everything listens on free loopback ports, keeps its files in one temporary
folder and is ended however the test ends. Start-up takes two to four seconds, so tests share one per process
(the ``control_plane`` fixture of ``tests/support/fixtures.py``).

Who may do what: ``admin`` may do everything; each name in ``USERS`` has a token too, and the rights that the API
server's own bootstrap roles or the test give it.
"""

from __future__ import annotations

import json
import secrets
import shutil
import tempfile
from base64 import b64encode
from pathlib import Path
from typing import Any, Self

import yaml

from tests.support.api import Api
from tests.support.binaries import Binaries, find_binaries
from tests.support.processes import ProcessDiedError, ProcessGroup, Server, free_ports

# user name, groups
USERS: dict[str, tuple[str, str]] = {
    "admin": ("admin", "system:masters"),
    "scheduler": ("system:kube-scheduler", ""),
    "controller-manager": ("system:kube-controller-manager", "system:masters"),
    "nobody": ("nobody", ""),
}
# Without a controller manager nobody makes service accounts, nor removes the taint of new nodes.
DISABLED_ADMISSION = "ServiceAccount,TaintNodesByCondition"


class ControlPlane:
    """etcd and kube-apiserver, from ``with ControlPlane() as plane:`` to the end of the block."""

    def __init__(
        self, binaries: Binaries | None = None, *, enable_admission: str = "", extra_flags: tuple[str, ...] = ()
    ) -> None:
        self._binaries = binaries or find_binaries()
        self._extra_flags = extra_flags
        enabled = set(enable_admission.split(","))
        self._disabled_admission = ",".join(n for n in DISABLED_ADMISSION.split(",") if n not in enabled)
        self.folder = Path(tempfile.mkdtemp(prefix="bayplan-plane-"))
        self.tokens = {name: secrets.token_hex(16) for name in USERS}
        self._processes = ProcessGroup()
        self._started = 0

    def __enter__(self) -> Self:
        try:
            self._start()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End everything and remove the folder."""
        self._processes.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    @property
    def ca_file(self) -> Path:
        """The self-signed certificate, which carries its own CA."""
        return self.folder / "certificates" / "apiserver.crt"

    def api(self, user: str = "admin") -> Api:
        """A client that acts as the user."""
        return Api(self.server, self.tokens[user], str(self.ca_file))

    def kubeconfig(self, user: str = "admin") -> Path:
        """The path of a kubeconfig for the user."""
        path = self.folder / f"{user}.kubeconfig"
        named = {"cluster": "test", "user": user, "context": "test"}
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [
                {"name": "test", "cluster": {"server": self.server, "certificate-authority": str(self.ca_file)}}
            ],
            "users": [{"name": user, "user": {"token": self.tokens[user]}}],
            "contexts": [{"name": "test", "context": {"cluster": named["cluster"], "user": named["user"]}}],
            "current-context": named["context"],
        }
        path.write_text(yaml.safe_dump(document))
        return path

    def start_kube_scheduler(
        self,
        config: dict[str, Any] | None = None,
        *,
        verbosity: int = 10,
        vmodule: str = "",
        log: Path | None = None,
        flags: tuple[str, ...] = (),
    ) -> Server:
        """The real kube-scheduler. ``config`` is merged over what makes it quick here; ``vmodule`` raises the
        verbosity of single source files (``schedule_one=10``), which keeps the log small."""
        number = self._next_number()
        document = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "clientConnection": {"kubeconfig": str(self.kubeconfig("scheduler")), "qps": 5000, "burst": 5000},
            "leaderElection": {"leaderElect": False},
        } | (config or {})
        path = self.folder / f"kube-scheduler-{number}.yaml"
        path.write_text(yaml.safe_dump(document))
        command: list[str | Path] = [
            self._binaries.path("kube-scheduler"),
            f"--config={path}",
            "--secure-port=0",
            f"--v={verbosity}",
            f"--vmodule={vmodule}",
            *flags,
        ]
        return self._processes.start(command, log or self.folder / f"kube-scheduler-{number}.log")

    def start_controller_manager(self, controllers: str = "*", *flags: str) -> Server:
        """kube-controller-manager with all controllers that run by default, or the ones named."""
        number = self._next_number()
        command: list[str | Path] = [
            self._binaries.path("kube-controller-manager"),
            f"--kubeconfig={self.kubeconfig('controller-manager')}",
            f"--controllers={controllers}",
            f"--service-account-private-key-file={self.folder / 'service-account.key'}",
            "--leader-elect=false",
            "--secure-port=0",
            "--kube-api-qps=1000",
            "--kube-api-burst=1000",
            *flags,
        ]
        return self._processes.start(command, self.folder / f"kube-controller-manager-{number}.log")

    def _start(self) -> None:
        # A port that was free a moment ago may be taken now, so it is worth a second try with other ports.
        for attempts_left in (2, 1, 0):
            try:
                etcd_port, peer_port, api_port = free_ports(3)
                self._start_etcd(etcd_port, peer_port)
                self._start_apiserver(etcd_port, api_port)
                return
            except ProcessDiedError as error:
                if not attempts_left or "address already in use" not in str(error):
                    raise

    def _start_etcd(self, port: int, peer_port: int) -> None:
        url, peer_url = f"http://127.0.0.1:{port}", f"http://127.0.0.1:{peer_port}"
        self._etcd = self._processes.start(
            [
                self._binaries.etcd,
                f"--data-dir={self.folder / f'etcd-{port}'}",
                f"--listen-client-urls={url}",
                f"--advertise-client-urls={url}",
                f"--listen-peer-urls={peer_url}",
                f"--initial-advertise-peer-urls={peer_url}",
                f"--initial-cluster=default={peer_url}",
                "--unsafe-no-fsync",
                "--log-level=error",
            ],
            self.folder / "etcd.log",
        )

    def _start_apiserver(self, etcd_port: int, port: int) -> None:
        tokens, key = self.folder / "tokens.csv", self.folder / "service-account.key"
        tokens.write_text("".join(_token_line(self.tokens[name], *USERS[name]) for name in USERS))
        key.write_text(new_ec_key())
        self.server = f"https://127.0.0.1:{port}"
        server = self._processes.start(
            [
                self._binaries.path("kube-apiserver"),
                f"--etcd-servers=http://127.0.0.1:{etcd_port}",
                "--bind-address=127.0.0.1",
                f"--secure-port={port}",
                f"--cert-dir={self.ca_file.parent}",
                f"--token-auth-file={tokens}",
                "--authorization-mode=RBAC",
                "--service-account-issuer=https://kubernetes.default.svc",
                f"--service-account-key-file={key}",
                f"--service-account-signing-key-file={key}",
                "--service-cluster-ip-range=10.0.0.0/16",
                "--allow-privileged",
                f"--disable-admission-plugins={self._disabled_admission}",
                *self._extra_flags,
            ],
            self.folder / "kube-apiserver.log",
        )
        server.wait_until(lambda: self.ca_file.exists() and self.api().is_ready(), timeout_s=60)

    def _next_number(self) -> int:
        self._started += 1
        return self._started


def _token_line(token: str, user: str, groups: str) -> str:
    return f"{token},{user},{user},{json.dumps(groups)}\n"


def new_ec_key() -> str:
    """A private key on the curve P-256, in the form that signs service-account tokens.

    The file needs the secret number and the name of the curve only, so no cryptography library is needed to write it.
    """
    number = (1 + secrets.randbelow(2**255)).to_bytes(32, "big")
    version, curve = b"\x02\x01\x01", bytes.fromhex("a00a06082a8648ce3d030107")
    body = version + b"\x04\x20" + number + curve
    der = b64encode(b"\x30" + bytes([len(body)]) + body).decode()
    return f"-----BEGIN EC PRIVATE KEY-----\n{der}\n-----END EC PRIVATE KEY-----\n"
