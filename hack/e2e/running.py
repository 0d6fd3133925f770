"""One run of ``e2e.test``: a cluster of its own, a scheduler, the tests.  Used by ``python -m hack.e2e``."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from hack.kube import build as kube

ROOT = Path(__file__).resolve().parents[2]
SCHEDULERS = ("kube-scheduler", "bayplan")
CONFIGURATION = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"schedulerName": "default-scheduler"}],
}
END_S = 30.0


class RunError(Exception):
    """The tests could not be run; the text is one line for the person who started them."""


def run(scheduler: str, nodes: int, focus: str, skip: str, folder: Path) -> Path:
    """The JUnit report of the tests; it is in the folder, with the logs."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    with _cluster(nodes, folder, ["--kube-scheduler"] if scheduler == "kube-scheduler" else []) as kubeconfig:
        if scheduler == "kube-scheduler":
            return _test(kubeconfig, focus, skip, folder)
        with _bayplan(kubeconfig, folder):
            return _test(kubeconfig, focus, skip, folder)


@contextmanager
def _cluster(nodes: int, folder: Path, options: Sequence[str]) -> Iterator[Path]:
    """A cluster apart from the one that the person may have running."""
    cache = folder / "cache"
    environment = os.environ | {"KUBEBUILDER_ASSETS": str(kube.programs_dir()), "XDG_CACHE_HOME": str(cache.resolve())}
    cluster = cache / "bayplan" / "dev-cluster"

    def dev_cluster(*arguments: str) -> int:
        command = [sys.executable, "-m", "hack.dev_cluster", *arguments]
        return subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.DEVNULL, check=False).returncode

    try:
        if dev_cluster("up", "--nodes", str(nodes), *options):
            raise RunError("the development cluster did not start")
        yield cluster / "kubeconfig"
    finally:
        for log in cluster.glob("*.log"):
            shutil.copy(log, folder)
        dev_cluster("down")
        shutil.rmtree(cache, ignore_errors=True)


@contextmanager
def _bayplan(kubeconfig: Path, folder: Path) -> Iterator[None]:
    configuration = folder / "scheduler.json"
    configuration.write_text(json.dumps(CONFIGURATION))
    options = [f"--kubeconfig={kubeconfig}", f"--config={configuration}", "--no-leader-elect", "--secure-port=0"]
    with (folder / "bayplan.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "bayplan", "scheduler", *options], stdout=log, stderr=subprocess.STDOUT
        )
    try:
        yield
        if process.poll() is not None:
            raise RunError(f"bayplan scheduler ended with code {process.returncode}; see {folder / 'bayplan.log'}")
    finally:
        process.terminate()
        try:
            process.wait(END_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def _test(kubeconfig: Path, focus: str, skip: str, folder: Path) -> Path:
    report = folder / "junit.xml"
    command = [
        str(kube.programs_dir() / kube.E2E),
        f"--kubeconfig={kubeconfig.resolve()}",
        "--provider=skeleton",
        # Nodes are played, so there is nothing to fetch from them when a test fails.
        "--dump-logs-on-failure=false",
        "--disable-log-dump",
        f"--ginkgo.focus={focus}",
        f"--ginkgo.skip={skip}",
        "--ginkgo.no-color",
        f"--ginkgo.junit-report={report.resolve()}",
    ]
    with (folder / "e2e.log").open("wb") as log:
        subprocess.run(command, stdout=log, stderr=subprocess.STDOUT, check=False)
    if not report.exists():
        raise RunError(f"e2e.test wrote no report; see {folder / 'e2e.log'}")
    return report
