"""``--report`` of the commands that have it: where the report goes, and what it is made of."""

from __future__ import annotations

import shlex
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bayplan.simulator.world import Look
    from bayplan.view.documents import Origin
    from bayplan.view.looks import Looks
    from bayplan.view.report_file import ReportFile

_typed: list[str] = []


def note_arguments(arguments: list[str]) -> None:
    """What this process was asked to do."""
    _typed[:] = arguments


class Reporting:
    """A report that is wanted."""

    def __init__(self, file: ReportFile, looks: Looks) -> None:
        self._file = file
        self.looks = looks
        """Takes down what worlds look like."""

    @property
    def origin(self) -> Origin:
        return self.looks.origin

    def write(self, view: dict[str, Any]) -> None:
        self._file.write(view)


def reporting(path: str | None, source: str, now: float | None) -> Reporting | None:
    """What ``--report`` asks for, checked before any work is done; None without it.  ``now`` is what --now says."""
    if path is None:
        return None
    from bayplan.view.documents import Origin
    from bayplan.view.looks import Looks
    from bayplan.view.report_file import ReportFile

    origin = Origin(source, _command(), time.time() if now is None else now)
    return Reporting(ReportFile(path), Looks(origin))


def look_of(wanted: Reporting | None) -> Look | None:
    """Who looks at worlds, if a report is wanted."""
    return None if wanted is None else wanted.looks.look


def _command() -> str:
    """Without ``--report FILE``: the command is shown so that one can be told the same on the terminal."""
    kept: list[str] = []
    arguments = iter(_typed)
    for argument in arguments:
        if argument == "--report":
            next(arguments, None)
        elif not argument.startswith("--report="):
            kept.append(argument)
    return shlex.join(["bayplan", *kept])
