"""``bayplan top`` in a real terminal, on the real API server: it follows binds, and leaves the terminal as it was."""

from __future__ import annotations

import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time

import pytest

from tests.e2e.replicas import STARTING_S
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster

pytestmark = [pytest.mark.kube]

OTHER_SCREEN, BACK, CURSOR = b"\x1b[?1049h", b"\x1b[?1049l", b"\x1b[?25h"


@pytest.fixture
async def cluster(control_plane: ControlPlane) -> Cluster:
    made = Cluster(control_plane)
    await made.start()
    await made.node("n1", cpu="4")
    await made.pod("waits", cpu="100")
    return made


def command(cluster: Cluster, *arguments: str) -> list[str]:
    return [sys.executable, "-m", "bayplan", "top", f"--kubeconfig={cluster.plane.kubeconfig()}", *arguments]


class Terminal:
    """A process on a terminal of 24 lines."""

    def __init__(self, arguments: list[str]) -> None:
        self._mine, theirs = pty.openpty()
        environment = os.environ | {"TERM": "xterm-256color", "LINES": "24", "COLUMNS": "100"}
        self.process = subprocess.Popen(arguments, stdin=theirs, stdout=theirs, stderr=theirs, env=environment)
        os.close(theirs)
        self.seen = b""

    def read_until(self, wanted: str) -> None:
        deadline = time.monotonic() + STARTING_S
        while not re.search(wanted.encode(), self.seen):
            assert time.monotonic() < deadline, f"no {wanted} in {self.seen[-2000:]!r}"
            self._read(0.5)

    def end(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        deadline = time.monotonic() + STARTING_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self._read(0.1)
        while self._read(0.1):
            pass
        os.close(self._mine)
        return self.process.wait(timeout=1)

    def _read(self, patience_s: float) -> bool:
        if not select.select([self._mine], [], [], patience_s)[0]:
            return False
        try:
            more = os.read(self._mine, 65536)
        except OSError:  # the other end is gone
            return False
        self.seen += more
        return bool(more)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
async def test_it_follows_the_cluster_and_leaves_no_mess(cluster: Cluster, number: signal.Signals) -> None:
    terminal = Terminal(command(cluster, "--every=200ms"))
    try:
        terminal.read_until("1 nodes")
        terminal.read_until("not tried yet|Insufficient cpu")
        await cluster.node("n2", cpu="4")
        terminal.read_until("2 nodes")
    finally:
        code = terminal.end(number)

    assert code == 0
    assert terminal.seen.count(OTHER_SCREEN) == terminal.seen.count(BACK) == 1
    after = terminal.seen.split(BACK)[1]
    assert CURSOR in terminal.seen
    assert b"Traceback" not in after


async def test_without_a_terminal_it_is_shown_once(cluster: Cluster) -> None:
    ended = subprocess.run(command(cluster), capture_output=True, text=True, timeout=STARTING_S, check=False)

    assert (ended.returncode, ended.stderr) == (0, "")
    assert "\x1b" not in ended.stdout
    assert re.search(r"^n1 .* 0/110 +Ready$", ended.stdout, re.MULTILINE)


async def test_as_json_it_is_a_document(cluster: Cluster) -> None:
    ended = subprocess.run(
        command(cluster, "-o", "json"), capture_output=True, text=True, timeout=STARTING_S, check=False
    )

    document = json.loads(ended.stdout)
    assert document["kind"] == "Top"
    assert document["queue"] == {"new": 1, "unschedulable": 0, "gated": 0}
    assert document["nodes"][0]["name"] == "n1"
