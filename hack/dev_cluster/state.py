"""
What is known of the cluster between two commands: files in one folder of the user's cache, and a lock.

The background process and all its children hold the lock, so it is free exactly when nothing of the cluster runs any
more, however it ended.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from typing import IO

from hack.dev_cluster.programs import Programs
from hack.kube.build import cache_home

FOLDER = cache_home() / "dev-cluster"
LOCK = FOLDER / "lock"
SETTINGS = FOLDER / "settings.json"
STATE = FOLDER / "state.json"
PATIENCE_S = 15.0


@dataclass(frozen=True, slots=True)
class Settings:
    """What the person asked for."""

    nodes: int = 3
    kube_scheduler: bool = False

    def save(self, programs: Programs) -> None:
        SETTINGS.write_text(json.dumps({"settings": asdict(self), "programs": asdict(programs)}))

    @staticmethod
    def load() -> tuple[Settings, Programs]:
        saved = json.loads(SETTINGS.read_text())
        return Settings(**saved["settings"]), Programs(**saved["programs"])


@dataclass(frozen=True, slots=True)
class State:
    """What the background process tells."""

    pid: int
    version: str
    server: str = ""
    kubeconfig: str = str(FOLDER / "kubeconfig")
    ready: bool = False

    def save(self) -> None:
        draft = STATE.with_suffix(".tmp")
        draft.write_text(json.dumps(asdict(self)))
        os.replace(draft, STATE)

    @staticmethod
    def load() -> State | None:
        try:
            return State(**json.loads(STATE.read_text()))
        except FileNotFoundError:
            return None


@contextmanager
def locked() -> Iterator[IO[str]]:
    """The lock, held by whoever inherits the file."""
    with LOCK.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.set_inheritable(file.fileno(), True)
        yield file


def is_running() -> bool:
    """Whether anything of the cluster runs."""
    try:
        with LOCK.open("r") as file:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return False
    except FileNotFoundError:
        return False
    except BlockingIOError:
        return True


def stop() -> bool:
    """End the cluster and remove its folder; whether there was anything to end."""
    was_running = is_running()
    state = State.load()
    if was_running and state is not None:
        # The lock says that the group is still there, so its number cannot have become somebody else's.
        _ask(lambda: os.kill(state.pid, signal.SIGTERM))
        _ask(lambda: os.killpg(state.pid, signal.SIGKILL))
    shutil.rmtree(FOLDER, ignore_errors=True)
    return was_running


def _ask(end: Callable[[], None]) -> None:
    if not is_running():
        return
    with suppress(ProcessLookupError):
        end()
    deadline = time.monotonic() + PATIENCE_S
    while is_running() and time.monotonic() < deadline:
        time.sleep(0.05)
