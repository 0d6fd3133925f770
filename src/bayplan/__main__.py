"""Where ``bayplan`` begins: the console scripts call ``run``, and so does ``python -m bayplan``."""

from __future__ import annotations

import os
import signal
import sys
from typing import NoReturn

INTERRUPTED = 130


def run() -> None:
    """Importing everything takes a moment; an interrupt meanwhile should show no traceback."""
    # Where the signal is ignored, as in the background of a script, it stays so.
    is_heeded = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    if is_heeded:
        signal.signal(signal.SIGINT, _leave)
    from bayplan.cli.main import run as run_command

    if is_heeded:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        run_command()
    except KeyboardInterrupt:
        sys.exit(INTERRUPTED)


def _leave(*_: object) -> NoReturn:
    os._exit(INTERRUPTED)


if __name__ == "__main__":
    run()
