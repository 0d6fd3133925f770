"""A real Prometheus, a real node_exporter, and an exporter that plays N nodes. Tests and benchmarks of the annotator use it.

The programs are those on PATH; otherwise Debian's packages are downloaded once and unpacked into a per-user cache,
which needs no root and starts no service.
"""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from collections.abc import Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Self

import pytest
import yaml

from tests.support.processes import ProcessGroup, Server, free_ports

RULES = Path(__file__).resolve().parents[2] / "src" / "bayplan" / "app" / "manifests" / "prometheus" / "rules.yaml"
PACKAGES = ("prometheus", "prometheus-node-exporter")
PROGRAMS = {"prometheus": "prometheus", "promtool": "promtool", "node_exporter": "prometheus-node-exporter"}
MISSING = "no prometheus: apt-get install --no-install-recommends prometheus prometheus-node-exporter"


@dataclass(frozen=True, slots=True)
class PrometheusPrograms:
    prometheus: str
    promtool: str
    node_exporter: str


def find_programs() -> PrometheusPrograms | None:
    """On PATH, in the cache, or downloaded into it."""
    return _on_path(None) or _cached() or _downloaded()


def programs_or_skip() -> PrometheusPrograms:
    """For fixtures: skip the test with one line where the programs are missing, and fail instead under CI=true."""
    found = find_programs()
    if found is not None:
        return found
    if os.environ.get("CI") == "true":
        pytest.fail(MISSING)
    pytest.skip(MISSING)


def _on_path(path: str | None) -> PrometheusPrograms | None:
    places = {
        name: shutil.which(name, path=path) or shutil.which(debian, path=path) for name, debian in PROGRAMS.items()
    }
    return PrometheusPrograms(**places) if all(places.values()) else None  # type: ignore[arg-type]


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayplan" / "prometheus"


def _cached() -> PrometheusPrograms | None:
    return _on_path(str(_cache() / "usr" / "bin"))


def _downloaded() -> PrometheusPrograms | None:
    """Debian's packages, unpacked; None where there is no apt, no network or no such package."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return None
    cache = _cache()
    cache.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=cache.parent))
    try:
        subprocess.run(["apt-get", "download", *PACKAGES], cwd=folder, check=True, capture_output=True, timeout=120)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True, capture_output=True, timeout=60)
            package.unlink()
        # Another test process may have been quicker; then its folder is as good.
        if not cache.exists():
            folder.rename(cache)
    except (subprocess.SubprocessError, OSError):
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _cached()


class SyntheticNodes:
    """One exporter that plays many node exporters: idle CPU time and memory of each, under its own instance."""

    def __init__(self, instances: Sequence[str], *, cpu: float = 0.1, memory: float = 0.1) -> None:
        self._lock = threading.Lock()
        now = time.time()
        self._nodes = {instance: [cpu, memory, 0.0, now] for instance in instances}
        exporter = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                body = exporter.page().encode()
                self.send_response(200)
                self.send_header("Content-Type", "text/plain; version=0.0.4")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: Any) -> None:
                """Scrapes are not news."""

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self._server.server_address[1]}"

    def load(self, instance: str, *, cpu: float | None = None, memory: float | None = None) -> None:
        """From now on the node is loaded like this (fractions)."""
        with self._lock:
            node = self._nodes[instance]
            self._pass_time(node, time.time())
            node[0] = node[0] if cpu is None else cpu
            node[1] = node[1] if memory is None else memory

    def page(self) -> str:
        lines = []
        with self._lock:
            now = time.time()
            for instance, node in self._nodes.items():
                self._pass_time(node, now)
                label = f'instance="{instance}"'
                lines.append(f'node_cpu_seconds_total{{{label},cpu="0",mode="idle"}} {node[2]:.6f}')
                lines.append(f"node_memory_MemTotal_bytes{{{label}}} 1e9")
                lines.append(f"node_memory_MemAvailable_bytes{{{label}}} {1e9 * (1 - node[1]):.0f}")
        return "\n".join([*lines, ""])

    @staticmethod
    def _pass_time(node: list[float], now: float) -> None:
        node[2] += (now - node[3]) * (1 - node[0])
        node[3] = now

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()


def quick_rules(window: str = "5m") -> dict[str, Any]:
    """The shipped rules, worked out every second, with their five minutes replaced by a shorter window."""
    rules: dict[str, Any] = yaml.safe_load(RULES.read_text())
    for group in rules["groups"]:
        group["interval"] = "1s"
        for rule in group["rules"]:
            for span in ("5m", "1h", "1d"):
                rule["expr"] = rule["expr"].replace(f"[{span}]", f"[{window}]")
    return rules


class PrometheusServer:
    """One Prometheus that scrapes every second; it can be killed and started again on the same port."""

    def __init__(
        self,
        programs: PrometheusPrograms,
        folder: Path,
        targets: Sequence[str],
        *,
        rules: dict[str, Any] | None = None,
        web_config: dict[str, Any] | None = None,
        scrape: str = "1s",
    ) -> None:
        self._programs = programs
        self._folder = folder
        self._web_config = web_config
        (self.port,) = free_ports(1)
        self._processes = ProcessGroup()
        self._server: Server | None = None
        (folder / "rules.yml").write_text(yaml.safe_dump(rules or quick_rules()))
        config = {
            "global": {"scrape_interval": scrape, "evaluation_interval": "1s"},
            "rule_files": [str(folder / "rules.yml")],
            "scrape_configs": [
                {"job_name": "nodes", "honor_labels": True, "static_configs": [{"targets": list(targets)}]}
            ],
        }
        (folder / "prometheus.yml").write_text(yaml.safe_dump(config))

    @property
    def address(self) -> str:
        scheme = "https" if self._web_config and "tls_server_config" in self._web_config else "http"
        return f"{scheme}://127.0.0.1:{self.port}"

    def start(self) -> None:
        command = [
            self._programs.prometheus,
            f"--config.file={self._folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={self._folder / 'data'}",
            f"--web.listen-address=127.0.0.1:{self.port}",
            "--log.level=warn",
        ]
        if self._web_config is not None:
            file = self._folder / "web.yml"
            file.write_text(yaml.safe_dump(self._web_config))
            command.append(f"--web.config.file={file}")
        self._server = self._processes.start(command, self._folder / "prometheus.log")

    def kill(self) -> None:
        """As the kernel would."""
        assert self._server is not None
        os.kill(self._server.pid, signal.SIGKILL)
        self._server.ended()

    def query(self, expression: str) -> dict[str, float]:
        """By instance."""
        url = f"{self.address}/api/v1/query?{urllib.parse.urlencode({'query': expression})}"
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        with opener.open(url, timeout=5) as answer:
            result = json.load(answer)["data"]["result"]
        return {each["metric"]["instance"]: float(each["value"][1]) for each in result}

    def wait_for(self, expression: str, count: int, timeout_s: float = 40.0) -> dict[str, float]:
        """Until there are as many series."""
        deadline = time.monotonic() + timeout_s
        found: dict[str, float] = {}
        while time.monotonic() < deadline:
            try:
                found = self.query(expression)
            except OSError:
                found = {}
            if len(found) >= count:
                return found
            time.sleep(0.2)
        raise AssertionError(f"{expression}: {len(found)} series, expected {count}")

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._processes.close()
