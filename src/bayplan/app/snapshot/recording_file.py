"""
The file that a recorder writes: lines are added and never changed, and what was flushed survives whatever comes.

Used by ``app.snapshot.recorder``; ``simulator.replay.recording`` says what is in it, and reads it.
"""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any, Self

import msgspec

from bayplan.errors import InputError

COMPRESSED = ".gz"


def refuse_to_overwrite(path: Path) -> None:
    """``InputError`` if there is such a file: what somebody recorded is not lost by a slip."""
    if path.exists():
        raise InputError("is there already", source=str(path), fix="give another file")


class RecordingFile:
    """A file of JSON lines, compressed if its name ends in ``.gz``.  There must be none of that name yet."""

    def __init__(self, path: Path) -> None:
        refuse_to_overwrite(path)
        self._path = path
        self._encode = msgspec.json.Encoder().encode
        try:
            # For its owner only: names and labels of a cluster are not for everybody.
            number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o600)
        except OSError as error:
            raise self._wrong(error) from None
        self._plain = os.fdopen(number, "wb")
        self._packed = gzip.GzipFile(fileobj=self._plain, mode="wb", mtime=0) if path.suffix == COMPRESSED else None
        self._is_dirty = False

    def add(self, line: Any) -> None:
        self._is_dirty = True
        try:
            (self._packed or self._plain).write(self._encode(line) + b"\n")
        except OSError as error:
            raise self._wrong(error) from None

    def flush(self) -> None:
        """Out of our hands: what is written so far can be read even if this process is killed."""
        if not self._is_dirty:
            return
        self._is_dirty = False
        try:
            if self._packed is not None:
                self._packed.flush()
            self._plain.flush()
        except OSError as error:
            raise self._wrong(error) from None

    def _wrong(self, error: OSError) -> InputError:
        return InputError(f"cannot be written: {error.strerror}", source=str(self._path), fix="give another file")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self._packed is not None:
            self._packed.close()
        self._plain.close()
