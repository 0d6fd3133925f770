"""``bayplan dev-cluster``: up, a Deployment that runs, status, down, and nothing is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from bayplan.kube.auth import Credentials
from tests.e2e.replicas import run_cli
from tests.e2e.test_walk import deployment
from tests.support.binaries import binaries_or_skip
from tests.support.processes import ProcessGroup

pytestmark = [pytest.mark.kube, pytest.mark.slow]


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of its own, so that the cluster of whoever runs the tests is left alone."""
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(binaries_or_skip().folder))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    yield tmp_path
    run_cli(["dev-cluster", "down"])


def test_a_deployment_runs_in_a_dev_cluster(cache: Path) -> None:
    assert run_cli(["dev-cluster", "status"]) == (1, "not running\n", "")
    code, printed, complaints = run_cli(["dev-cluster", "up", "--nodes", "2"])
    assert (code, complaints) == (0, "")
    kubeconfig = cache / "bayplan" / "dev-cluster" / "kubeconfig"
    assert f"export KUBECONFIG={kubeconfig}" in printed
    assert run_cli(["dev-cluster", "up"])[0] == 2
    assert str(Credentials(str(kubeconfig)).endpoint().base_url) in run_cli(["dev-cluster", "status"])[1]

    processes = ProcessGroup()
    try:
        command = [sys.executable, "-m", "bayplan", "scheduler", f"--kubeconfig={kubeconfig}", "--secure-port=0"]
        processes.start(command, cache / "scheduler.log")
        kubectl(kubeconfig, "apply", "-f", "-", given=deployment("web", "default", 3, "bayplan"))
        kubectl(kubeconfig, "rollout", "status", "deployment/web", "--timeout=60s")
        kubectl(kubeconfig, "delete", "deployment", "web", "--wait")
        assert until_empty(kubeconfig)
    finally:
        processes.close()

    assert run_cli(["dev-cluster", "down"]) == (0, "ended\n", "")
    assert run_cli(["dev-cluster", "status"])[0] == 1
    assert not kubeconfig.exists()
    assert run_cli(["dev-cluster", "down"]) == (0, "it was not running\n", "")


def test_interrupted_while_it_starts_it_ends_what_it_started(cache: Path) -> None:
    folder = cache / "bayplan" / "dev-cluster"
    command = [sys.executable, "-m", "bayplan", "dev-cluster", "up"]
    starting = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for((folder / "state.json").exists)
    told = run_cli(["dev-cluster", "status"])
    assert (told[0], told[1].splitlines()[0]) == (1, "starting, and not ready yet")

    starting.send_signal(signal.SIGINT)
    _, complaints = starting.communicate(timeout=60)
    assert (starting.returncode, complaints) == (130, "interrupted; what was started is ended\n")
    assert not folder.exists()
    assert run_cli(["dev-cluster", "status"]) == (1, "not running\n", "")


def test_status_tells_that_nobody_looks_after_the_cluster_any_more(cache: Path) -> None:
    assert run_cli(["dev-cluster", "up", "--nodes", "1"])[0] == 0
    state = json.loads((cache / "bayplan" / "dev-cluster" / "state.json").read_text())
    os.kill(state["pid"], signal.SIGKILL)

    wait_for(lambda: run_cli(["dev-cluster", "status"])[0] == 1)
    assert run_cli(["dev-cluster", "status"])[1].startswith("broken: nobody looks after it any more\n")
    assert run_cli(["dev-cluster", "down"]) == (0, "ended\n", "")


def test_status_tells_that_the_api_server_does_not_answer(cache: Path) -> None:
    assert run_cli(["dev-cluster", "up", "--nodes", "1"])[0] == 0
    state = json.loads((cache / "bayplan" / "dev-cluster" / "state.json").read_text())
    server = child_of(state["pid"], "kube-apiserver")
    os.kill(server, signal.SIGSTOP)
    try:
        code, told, _ = run_cli(["dev-cluster", "status"])
    finally:
        os.kill(server, signal.SIGCONT)
    assert (code, told.splitlines()[0]) == (1, f"broken: {state['server']} does not answer")


def child_of(parent: int, name: str) -> int:
    listed = subprocess.run(["ps", "-o", "pid=,comm=", "--ppid", str(parent)], capture_output=True, text=True)
    return next(int(line.split()[0]) for line in listed.stdout.splitlines() if name.startswith(line.split()[1]))


def wait_for(is_so: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not is_so():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def kubectl(kubeconfig: Path, *arguments: str, given: Any = None) -> str:
    ended = subprocess.run(
        [Path(os.environ["KUBEBUILDER_ASSETS"]) / "kubectl", f"--kubeconfig={kubeconfig}", *arguments],
        input=None if given is None else json.dumps(given),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


def until_empty(kubeconfig: Path) -> bool:
    """Deleted pods are gone soon: the fake kubelets let them go."""
    deadline = time.monotonic() + 20
    while kubectl(kubeconfig, "get", "pods", "-o", "name"):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True
