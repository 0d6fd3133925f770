"""No child process outlives a test, not even when the test process is killed."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.processes import ProcessDiedError, ProcessGroup, free_ports

ORPHAN_MAKER = """
import os, signal, sys
from pathlib import Path
from tests.support.processes import ProcessGroup
server = ProcessGroup().start(["sleep", "1000"], Path(sys.argv[1]))
print(server.pid, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""


def is_alive(pid: int) -> bool:
    """A zombie is dead, only its parent has not asked yet."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except FileNotFoundError:
        return False


def wait_for(condition: Callable[[], bool]) -> bool:
    deadline = time.monotonic() + 5
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.02)
    return condition()


def test_closing_ends_every_child(tmp_path: Path) -> None:
    group = ProcessGroup()
    pids = [group.start(["sleep", "1000"], tmp_path / f"{index}.log").pid for index in range(2)]
    assert all(is_alive(pid) for pid in pids)
    group.close()
    assert not any(is_alive(pid) for pid in pids)


def test_a_child_that_ignores_the_polite_signal_is_killed(tmp_path: Path) -> None:
    group = ProcessGroup()
    log = tmp_path / "stubborn.log"
    server = group.start(["sh", "-c", "trap '' TERM; echo ready; while true; do sleep 0.1; done"], log)
    server.wait_until(lambda: "ready" in log.read_text(), timeout_s=5)
    server.stop(grace_s=0.2)
    assert not is_alive(server.pid)
    group.close()


def test_children_end_when_the_test_process_is_killed(tmp_path: Path) -> None:
    root = Path(__file__).resolve().parents[2]
    killed = subprocess.run(
        [sys.executable, "-c", ORPHAN_MAKER, str(tmp_path / "sleep.log")],
        capture_output=True,
        text=True,
        check=False,
        cwd=root,
        env=os.environ | {"PYTHONPATH": str(root)},
    )
    pid = int(killed.stdout)
    assert wait_for(lambda: not is_alive(pid))


def test_a_server_that_ends_early_is_reported_with_its_last_words(tmp_path: Path) -> None:
    group = ProcessGroup()
    server = group.start(["sh", "-c", "echo no such flag; exit 3"], tmp_path / "broken.log")
    with pytest.raises(ProcessDiedError, match="broken ended with code 3: no such flag"):
        server.wait_until(lambda: False, timeout_s=5)
    group.close()


def test_free_ports_differ() -> None:
    ports = free_ports(20)
    assert len(set(ports)) == 20
