"""``bayplan shadow`` and ``bayplan snapshot --watch`` as processes: under the rules that ship, and however they end."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import ssl
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.e2e.audit import Audit, AuditedPlane
from tests.e2e.conftest import RULES
from tests.e2e.replicas import STARTING_S, Replicas, run_cli
from tests.support.live import Cluster, until
from tests.support.processes import ProcessGroup, Server, free_ports

pytestmark = [pytest.mark.kube, pytest.mark.slow]

ACCOUNT = "/api/v1/namespaces/kube-system/serviceaccounts/bayplan-shadow"


@pytest.fixture(scope="module", autouse=True)
def rules(plane: AuditedPlane) -> Iterator[None]:
    api = plane.api()
    made = [each for each in yaml.safe_load_all(manifests("shadow")) if each["kind"] in RULES]
    for document in made:
        api.create(document)
    yield
    for document in made:
        api.delete(document["kind"], document["metadata"]["name"], document["metadata"].get("namespace"))


@pytest.fixture
def kubeconfig(plane: AuditedPlane, replicas: Replicas) -> Path:
    """Of the service account that the manifests make."""
    body = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {"expirationSeconds": 3600}}
    token = str(plane.api().call("POST", f"{ACCOUNT}/token", body)["status"]["token"])
    return replicas.kubeconfig("shadow", token)


@pytest.fixture
def processes() -> Iterator[ProcessGroup]:
    group = ProcessGroup()
    yield group
    group.close()


def started(processes: ProcessGroup, log: Path, *arguments: str) -> Server:
    return processes.start([sys.executable, "-m", "bayplan", *arguments], log)


async def has_said(log: Path, text: str) -> None:
    await until(lambda: log.exists() and text in log.read_text(), f'"{text}"', STARTING_S)


def metrics(port: int) -> str:
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context))
    with opener.open(f"https://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return str(answer.read().decode())


async def test_under_its_own_rules_it_reads_and_does_nothing_else(
    cluster: Cluster, kubeconfig: Path, processes: ProcessGroup, audit: Audit, tmp_path: Path
) -> None:
    (port,), log = free_ports(1), tmp_path / "shadow.log"
    await cluster.node("n1")
    await cluster.node("n2", cpu="1")
    flags = (f"--kubeconfig={kubeconfig}", f"--secure-port={port}", "--open-metrics", "-o", "json", "--settle=200ms")
    shadow = started(processes, log, "shadow", *flags)
    await has_said(log, "event=synced")
    await cluster.pod("p1", cpu="2")
    await cluster.bind("p1", "n2")
    await has_said(log, '"ShadowVerdict"')
    shown = await asyncio.to_thread(metrics, port)
    shadow.stop()

    assert shadow.ended() == 0
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    assert [line["kind"] for line in lines] == ["ShadowVerdict", "ShadowSummary"]
    assert (lines[0]["result"], lines[0]["because"]) == ("infeasible", "NodeResourcesFit")
    assert (lines[0]["theirs"]["node"], lines[0]["ours"]["node"]) == ("n2", "n1")
    assert lines[1]["summary"]["binds"] == lines[1]["summary"]["infeasible"] == 1
    assert 'bayplan_shadow_pods_total{result="infeasible"} 1.0' in shown
    assert "level=error" not in log.read_text()
    own = [each for each in audit.requests() if each.resource[1]]
    assert own
    assert {each.verb for each in own} <= {"list", "watch"}
    assert audit.refused() == []


@pytest.mark.parametrize(("node", "code"), [("n1", 0), ("n2", 1)])
async def test_with_a_time_its_exit_code_says_whether_somebody_differs(
    node: str, code: int, cluster: Cluster, kubeconfig: Path, processes: ProcessGroup, tmp_path: Path
) -> None:
    log = tmp_path / "shadow.log"
    await cluster.node("n1")
    await cluster.node("n2", cpu="1")
    flags = (f"--kubeconfig={kubeconfig}", "--secure-port=0", "--for=4s", "--settle=200ms", "--all")
    shadow = started(processes, log, "shadow", *flags)
    await has_said(log, "event=synced")
    await cluster.pod("p1", cpu="2")
    await cluster.bind("p1", node)
    assert await asyncio.to_thread(shadow.ended, 30) == code
    told = log.read_text()
    assert "POD" in told
    assert f"1 bind: 1 {'infeasible' if code else 'agree'}" in told


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz"])
async def test_a_recorder_that_is_killed_leaves_a_file_that_can_be_replayed(
    name: str, cluster: Cluster, processes: ProcessGroup, tmp_path: Path
) -> None:
    path, log = tmp_path / name, tmp_path / "recorder.log"
    await cluster.node("n1")
    recorder = started(processes, log, "snapshot", f"--watch={path}", f"--kubeconfig={cluster.plane.kubeconfig()}")

    async def replayed() -> dict[str, Any]:
        code, printed, _ = await asyncio.to_thread(run_cli, ["replay", str(path), "-o", "json"])
        return dict(json.loads(printed)) if code == 0 and printed else {}

    await until(lambda: path.exists() and path.stat().st_size > 200, "the recorder to begin", STARTING_S)
    await until(replayed, "the beginning to be readable", STARTING_S)
    await cluster.pod("p1")
    await cluster.bind("p1", "n1")

    async def has_bind() -> bool:
        return bool((await replayed()).get("summary", {}).get("binds"))

    await until(has_bind, "the bind to be in the file", 30)
    kill(recorder)
    code, printed, complaints = await asyncio.to_thread(run_cli, ["replay", str(path)])
    assert code == 0
    assert "1 bind: 1 agree" in printed
    assert "the recording breaks off" in complaints


def kill(server: Server) -> None:
    os.kill(server.pid, signal.SIGKILL)
    server.ended()


async def test_a_recorder_ends_by_itself_and_changes_nothing(cluster: Cluster, tmp_path: Path) -> None:
    await cluster.node("n1")
    await cluster.pod("p1")
    before = await cluster.list()
    path = tmp_path / "a.jsonl.gz"
    arguments = ["snapshot", f"--watch={path}", "--for=1s", f"--kubeconfig={cluster.plane.kubeconfig()}"]
    code, printed, complaints = await asyncio.to_thread(run_cli, arguments)
    assert (code, printed) == (0, "")
    assert complaints.splitlines()[-1].startswith(f"{path}: ")
    assert await cluster.list() == before
    again = await asyncio.to_thread(run_cli, arguments)
    assert again == (2, "", f"error: {path}: is there already; give another file\n")
