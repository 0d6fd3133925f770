"""``bayplan`` from its first moment on: an interrupt while it is loaded is no traceback."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import pytest

# The module is found, tells that it is being loaded, and takes its time.
SLOW = """
import os, signal, sys, time, types

class Slow:
    def find_spec(self, name, path=None, target=None):
        if name == "{module}":
            os.write(1, b"loading\\n")
            time.sleep(60)

sys.meta_path.insert(0, Slow())
sys.argv = ["bayplan", *{arguments}]
from bayplan.__main__ import run
run()
"""


@pytest.mark.parametrize(
    ("module", "arguments", "code"),
    [
        ("bayplan.cli.main", ["simulate", "-f", "x"], 130),
        ("structlog", ["simulate", "-f", "x"], 130),
        ("bayplan.simulator", ["simulate", "-f", "x"], 130),
        ("bayplan.app.scheduler.process", ["scheduler"], 0),
    ],
    ids=["the commands", "the logs", "what a command needs", "a service"],
)
def test_an_interrupt_while_modules_are_loaded_prints_nothing(module: str, arguments: list[str], code: int) -> None:
    program = SLOW.format(module=module, arguments=arguments)
    running = subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert running.stdout is not None
    assert running.stdout.readline() == "loading\n"
    time.sleep(0.05)
    running.send_signal(signal.SIGINT)
    _, complaint = running.communicate(timeout=30)
    assert (running.returncode, complaint) == (code, "")
