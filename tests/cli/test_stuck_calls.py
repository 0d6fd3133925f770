"""Calls that do not come back: named with the place in the user's code, once, and ended by one Ctrl-C."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from bayplan.cli import stuck_calls

CLUSTER = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {capacity: {cpu: "4", memory: 8Gi, pods: "110"}}
---
apiVersion: v1
kind: Pod
metadata: {name: a}
spec: {containers: [{name: c, image: i}]}
"""
STUCK = """
from bayplan.framework.plugin import FilterPlugin

class Stuck(FilterPlugin):
    name = "Stuck"

    def filter(self, state, pod, node):
        return spin()

def spin():
    while True:
        pass
"""


class Looks:
    """Stands in for the time between two looks: the watched code says when the next one is."""

    def __init__(self) -> None:
        self._wanted, self._done = threading.Semaphore(0), threading.Semaphore(0)
        self._has_looked = self._is_over = False

    def wait(self, seconds: float) -> bool:
        if self._has_looked:
            self._done.release()
        self._wanted.acquire()
        self._has_looked = True
        return self._is_over

    def look(self) -> None:
        self._wanted.release()
        self._done.acquire()

    def end(self) -> None:
        self._is_over = True
        self._wanted.release()


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    warnings: list[str] = []
    monkeypatch.setattr(stuck_calls, "warn", warnings.append)
    return warnings


@contextmanager
def looked_at() -> Iterator[Looks]:
    looks = Looks()
    test = sys._getframe(2)
    arguments = (threading.get_ident(), test, looks, 5.0)
    thread = threading.Thread(target=stuck_calls._look, args=arguments, daemon=True)
    thread.start()
    yield looks
    looks.end()
    thread.join()


def a_plugin(act: Callable[[], None], times: int = 1) -> None:
    for _ in range(times):
        act()


def test_a_call_that_is_there_at_two_looks_is_told_once(told: list[str]) -> None:
    with looked_at() as looks:
        a_plugin(looks.look, times=4)
    (warning,) = told
    assert re.fullmatch(r"\S*test_stuck_calls.py:\d+: a_plugin has not come back for 5 s; Ctrl-C ends this", warning)


def test_many_short_calls_are_not_one_long_call(told: list[str]) -> None:
    with looked_at() as looks:
        for _ in range(4):
            a_plugin(looks.look)
    assert told == []


def test_nothing_is_told_of_a_command_that_ends(told: list[str]) -> None:
    assert stuck_calls.watched(lambda: 3)() == 3
    assert told == []
    assert not [each for each in threading.enumerate() if each.name == "stuck-calls"]


@pytest.mark.slow
@pytest.mark.parametrize("command", [["simulate"], ["explain", "a"]])
def test_one_interrupt_ends_a_plugin_that_never_comes_back(tmp_path: Path, command: list[str]) -> None:
    (tmp_path / "cluster.yaml").write_text(CLUSTER)
    (tmp_path / "stuck.py").write_text(STUCK)
    arguments = [*command, "-f", "cluster.yaml", "--plugin", "stuck.py:Stuck"]
    process = subprocess.Popen(
        [sys.executable, "-m", "bayplan", *arguments], cwd=tmp_path, stderr=subprocess.PIPE, text=True
    )
    assert process.stderr is not None
    assert re.fullmatch(
        r"warning: stuck.py:1[12]: filter has not come back for 5 s; Ctrl-C ends this\n", process.stderr.readline()
    )
    process.send_signal(signal.SIGINT)
    _, complaints = process.communicate(timeout=60)
    assert (process.returncode, complaints) == (130, "")
