"""Child processes that never outlive the tests. ``control_plane.py`` starts every server through a ``ProcessGroup``.

Each child leads its own process group. ``ProcessGroup.close`` ends them all, and an exit handler calls it too. If the
test process itself is killed, a small reaper, which holds the other end of a pipe, sees the pipe close and ends them.
"""

from __future__ import annotations

import atexit
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Self

REAPER = """
import os, signal, sys
alive = set()
for line in sys.stdin:
    (alive.add if line[0] == "+" else alive.discard)(int(line[1:]))
for pid in alive:
    try:
        os.killpg(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
"""


class ProcessDiedError(Exception):
    """A server ended before it was ready; the text carries the last lines it wrote."""


class ProcessGroup:
    """The servers of one control plane."""

    def __init__(self) -> None:
        self._children: list[Server] = []
        self._reaper = subprocess.Popen(
            [sys.executable, "-S", "-c", REAPER], stdin=subprocess.PIPE, text=True, start_new_session=True
        )
        atexit.register(self.close)

    def start(self, command: Sequence[str | Path], log: Path) -> Server:
        """Start one server; what it writes goes to the log file."""
        with log.open("ab") as output:
            process = subprocess.Popen(
                [str(part) for part in command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        server = Server(process, log, self._tell_reaper)
        self._children.append(server)
        return server

    def close(self) -> None:
        """End every server, the last one started first."""
        for server in reversed(self._children):
            server.stop()
        self._children.clear()
        if self._reaper.stdin is not None and not self._reaper.stdin.closed:
            self._reaper.stdin.close()
            self._reaper.wait(timeout=10)
        atexit.unregister(self.close)

    def _tell_reaper(self, sign: str, pid: int) -> None:
        if self._reaper.stdin is not None and not self._reaper.stdin.closed:
            self._reaper.stdin.write(f"{sign}{pid}\n")
            self._reaper.stdin.flush()


class Server:
    """One running child."""

    def __init__(self, process: subprocess.Popen[bytes], log: Path, tell: Callable[[str, int], None]) -> None:
        self.log = log
        self._process = process
        self._tell = tell
        tell("+", process.pid)

    @property
    def pid(self) -> int:
        return self._process.pid

    def is_running(self) -> bool:
        return self._process.poll() is None

    def check(self) -> None:
        """Raise ProcessDiedError if it has ended."""
        if not self.is_running():
            tail = self.log.read_text(errors="replace").splitlines()[-5:]
            raise ProcessDiedError(f"{self.log.stem} ended with code {self._process.returncode}: {' | '.join(tail)}")

    def wait_until(self, is_ready: Callable[[], bool], timeout_s: float) -> None:
        """Poll until ready; raise if it ends first or takes too long."""
        deadline = time.monotonic() + timeout_s
        while not is_ready():
            self.check()
            if time.monotonic() > deadline:
                raise TimeoutError(f"{self.log.stem} was not ready after {timeout_s:.0f} s, see {self.log}")
            time.sleep(0.02)

    def ended(self, timeout_s: float = 10.0) -> int:
        """Wait for its end; the exit code, or minus the number of the signal that ended it."""
        code = self._process.wait(timeout=timeout_s)
        self._tell("-", self._process.pid)
        return code

    def stop(self, grace_s: float = 5.0) -> None:
        """Ask it to end, and insist after the grace period. Safe to call twice."""
        if self._process.returncode is not None:
            return
        for signal_number, patience_s in ((signal.SIGTERM, grace_s), (signal.SIGKILL, 5.0)):
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal_number)
            try:
                self._process.wait(timeout=patience_s)
                break
            except subprocess.TimeoutExpired:
                continue
        self._tell("-", self._process.pid)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def free_ports(count: int) -> list[int]:
    """Loopback ports nobody listens on now. All are held until the last is known, so that they differ."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]
    finally:
        for one in sockets:
            one.close()
