"""A control plane whose API server can be stopped and started again, and whose etcd can be compacted."""

from __future__ import annotations

import base64

import requests

from tests.support.control_plane import ControlPlane


class RestartablePlane(ControlPlane):
    """Use it alone, never the one that tests share."""

    def _start_etcd(self, port: int, peer_port: int) -> None:
        self._etcd_port = port
        super()._start_etcd(port, peer_port)

    def _start_apiserver(self, etcd_port: int, port: int) -> None:
        self._api_port = port
        super()._start_apiserver(etcd_port, port)
        self._apiserver = self._processes._children[-1]

    def stop_apiserver(self, *, grace_s: float = 5.0) -> None:
        self._apiserver.stop(grace_s)

    def start_apiserver(self) -> None:
        self._start_apiserver(self._etcd_port, self._api_port)

    def compact(self) -> None:
        """Let etcd forget everything but the present."""
        revision = self._etcd_call("kv/range", {"key": base64.b64encode(b"x").decode()})["header"]["revision"]
        self._etcd_call("kv/compaction", {"revision": revision, "physical": True})

    def _etcd_call(self, path: str, body: dict[str, object]) -> dict[str, dict[str, str]]:
        session = requests.Session()
        session.trust_env = False
        with session.post(f"http://127.0.0.1:{self._etcd_port}/v3/{path}", json=body, timeout=10) as answer:
            answer.raise_for_status()
            decoded: dict[str, dict[str, str]] = answer.json()
            return decoded
