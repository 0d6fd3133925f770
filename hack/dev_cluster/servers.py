"""The command lines of etcd and of the control plane, and the kubeconfig.  ``supervising`` starts them."""

from __future__ import annotations

import json
import secrets
import socket
from base64 import b64encode
from pathlib import Path

from hack.dev_cluster.programs import Programs
from hack.dev_cluster.state import FOLDER

CERTIFICATES = FOLDER / "certificates"
KEY = FOLDER / "service-account.key"
TOKENS = FOLDER / "tokens.csv"


class Servers:
    """Everything on free loopback ports."""

    def __init__(self, programs: Programs) -> None:
        self._programs = programs
        self._etcd_port, self._peer_port, self._port = _free_ports(3)
        self._token = secrets.token_hex(16)
        self.server = f"https://127.0.0.1:{self._port}"

    @property
    def ca_file(self) -> Path:
        """The self-signed certificate carries its own CA."""
        return CERTIFICATES / "apiserver.crt"

    def prepare(self) -> None:
        for path, text in ((TOKENS, f"{self._token},admin,admin,system:masters\n"), (KEY, _signing_key())):
            path.touch(mode=0o600)
            path.write_text(text)

    def etcd(self) -> list[str]:
        url, peer_url = f"http://127.0.0.1:{self._etcd_port}", f"http://127.0.0.1:{self._peer_port}"
        return [
            self._programs.etcd,
            f"--data-dir={FOLDER / 'etcd'}",
            f"--listen-client-urls={url}",
            f"--advertise-client-urls={url}",
            f"--listen-peer-urls={peer_url}",
            f"--initial-advertise-peer-urls={peer_url}",
            f"--initial-cluster=default={peer_url}",
            "--unsafe-no-fsync",
            "--log-level=error",
        ]

    def apiserver(self) -> list[str]:
        return [
            self._programs.path("kube-apiserver"),
            f"--etcd-servers=http://127.0.0.1:{self._etcd_port}",
            "--bind-address=127.0.0.1",
            f"--secure-port={self._port}",
            f"--cert-dir={CERTIFICATES}",
            f"--token-auth-file={TOKENS}",
            "--authorization-mode=RBAC",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={KEY}",
            f"--service-account-signing-key-file={KEY}",
            "--service-cluster-ip-range=10.96.0.0/16",
            "--allow-privileged",
        ]

    def controller_manager(self) -> list[str]:
        return [
            self._programs.path("kube-controller-manager"),
            f"--kubeconfig={FOLDER / 'kubeconfig'}",
            f"--service-account-private-key-file={KEY}",
            f"--root-ca-file={self.ca_file}",
            "--use-service-account-credentials=false",
            "--leader-elect=false",
            "--secure-port=0",
        ]

    def scheduler(self) -> list[str]:
        return [
            self._programs.path("kube-scheduler"),
            f"--kubeconfig={FOLDER / 'kubeconfig'}",
            "--leader-elect=false",
            "--secure-port=0",
        ]

    def write_kubeconfig(self, path: str) -> None:
        """For kubectl and everything else; JSON is YAML, too."""
        ca = b64encode(self.ca_file.read_bytes()).decode()
        document = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "dev", "cluster": {"server": self.server, "certificate-authority-data": ca}}],
            "users": [{"name": "admin", "user": {"token": self._token}}],
            "contexts": [{"name": "dev", "context": {"cluster": "dev", "user": "admin"}}],
            "current-context": "dev",
        }
        Path(path).touch(mode=0o600)
        Path(path).write_text(json.dumps(document, indent=2))


def _free_ports(count: int) -> list[int]:
    """All are held until the last is known, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()


def _signing_key() -> str:
    """A private key that signs service-account tokens."""
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    form = serialization.PrivateFormat.TraditionalOpenSSL
    return key.private_bytes(serialization.Encoding.PEM, form, serialization.NoEncryption()).decode()
