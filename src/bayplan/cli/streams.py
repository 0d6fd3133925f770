"""
The standard streams as commands may rely on them, whatever the process was started with.

``cli.main`` runs every command inside ``guarded``.  Output that cannot be written ends the command with a reason that
no library on the way catches; complaints that cannot be written are dropped and change nothing.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, TextIO, cast

from bayplan.errors import BayplanError, InputError

_STDOUT, _STDERR = 1, 2


class ReaderGone(BayplanError):
    """The reader of our output has seen enough."""


class _Stream:
    """A stream with other manners when it cannot be written; otherwise the stream itself."""

    def __init__(self, real: TextIO | None, number: int) -> None:
        self._real = real
        self._number = number

    def write(self, text: str) -> int:
        return self._try(lambda stream: stream.write(text)) or 0

    def flush(self) -> None:
        self._try(lambda stream: stream.flush())

    def isatty(self) -> bool:
        return self._real is not None and self._real.isatty()

    def fileno(self) -> int:
        return self._number if self._real is None else self._real.fileno()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def _try(self, act: Any) -> Any:
        if self._real is None:
            return self._closed()
        try:
            return act(self._real)
        except OSError as error:
            # What is still buffered goes nowhere: Python must not try again at exit.
            with open(os.devnull, "wb") as nowhere:
                os.dup2(nowhere.fileno(), self._number)
            return self._failed(error)

    def _closed(self) -> None:
        """Python has no such stream in a process that was started without one."""

    def _failed(self, error: OSError) -> None:
        """Complaints have no reader; the exit code still says how it went."""


class _Output(_Stream):
    """Without its output a command has failed."""

    def _closed(self) -> None:
        raise InputError("standard output is closed", fix="send it to a file or through a pipe")

    def _failed(self, error: OSError) -> None:
        if isinstance(error, BrokenPipeError):
            raise ReaderGone("nobody reads standard output any more") from None
        raise InputError(f"standard output cannot be written: {error.strerror}", fix="send it somewhere else") from None


@contextmanager
def guarded() -> Iterator[None]:
    """Inside, ``sys.stdout`` and ``sys.stderr`` are there and behave; afterwards they are what they were."""
    _keep_numbers()
    before = sys.stdout, sys.stderr
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # A character that the terminal does not know is no reason to show nothing.
        sys.stdout.reconfigure(errors="backslashreplace")
    sys.stdout, sys.stderr = cast(TextIO, _Output(sys.stdout, _STDOUT)), cast(TextIO, _Stream(sys.stderr, _STDERR))
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before


def _keep_numbers() -> None:
    """A file opened later must not get the number of a standard stream, which libraries write to."""
    while (number := os.open(os.devnull, os.O_RDWR)) <= _STDERR:
        pass
    os.close(number)
