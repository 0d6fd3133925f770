"""Where a report comes from: the command as it was typed, and when."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bayplan.view.documents import Origin

_typed: list[str] = []


def note_arguments(arguments: list[str]) -> None:
    """What this process was asked to do."""
    _typed[:] = arguments


def origin(source: str, now: float | None) -> Origin:
    """Without ``--report FILE``: the command is shown so that one can be told the same on the terminal."""
    from bayplan.view.documents import Origin

    kept: list[str] = []
    arguments = iter(_typed)
    for argument in arguments:
        if argument == "--report":
            next(arguments, None)
        elif not argument.startswith("--report="):
            kept.append(argument)
    return Origin(source, shlex.join(["bayplan", *kept]), time.time() if now is None else now)
