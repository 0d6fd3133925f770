"""``bayplan dev-cluster`` without a checkout; ``tests/e2e`` runs it with one."""

from __future__ import annotations

import os
import signal
import sys
import threading
from pathlib import Path

import pytest

from bayplan.cli import dev_cluster
from bayplan.cli.main import main


def test_outside_a_checkout_it_says_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(dev_cluster, "CHECKOUT", tmp_path)

    assert main(["dev-cluster", "up"]) == 2
    assert capsys.readouterr().err == (
        "error: dev-cluster needs a checkout of the repository; clone it and run make dev-cluster there\n"
    )


@pytest.mark.parametrize("arguments", [["sideways"], [], ["up", "--nodes", "-1"], ["up", "--nodes", "many"]])
def test_wrong_arguments_give_one_line(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["dev-cluster", *arguments]) == 2
    complaint = capsys.readouterr().err
    assert complaint.startswith("error: ")
    assert complaint.count("\n") == 1


WAITING = """
import pathlib, signal, sys, time
signal.signal(signal.SIGINT, lambda *_: sys.exit(7))
signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})
pathlib.Path("waits").touch()
time.sleep(60)
"""


def test_an_interrupt_is_passed_on_and_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev_cluster, "CHECKOUT", tmp_path)
    before = signal.getsignal(signal.SIGINT)
    threading.Thread(target=interrupt_when, args=(tmp_path / "waits",)).start()

    assert dev_cluster._run([sys.executable, "-c", WAITING]) == 7
    assert signal.getsignal(signal.SIGINT) is before


def interrupt_when(file: Path) -> None:
    while not file.exists():
        threading.Event().wait(0.02)
    os.kill(os.getpid(), signal.SIGINT)


def test_a_signal_that_ended_it_is_told_as_a_shell_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dev_cluster, "CHECKOUT", tmp_path)
    assert dev_cluster._run([sys.executable, "-c", "import os; os.kill(os.getpid(), 9)"]) == 137
