"""
Where in a plugin's code an error was raised, in a few words: what its author wants to know first.

``errors.PluginError`` and ``framework.config.mistakes.one_line`` put it behind what the error says; ``cli.stuck_calls``
asks where a call is that does not end.
"""

from __future__ import annotations

import os
import sysconfig
import traceback
from collections.abc import Iterable
from pathlib import Path
from types import FrameType

_BAYPLAN = str(Path(__file__).parent) + os.sep
_PLUGINS = os.path.join(_BAYPLAN, "plugins") + os.sep
_ENGINE = os.path.join(_BAYPLAN, "engine") + os.sep
_LIBRARIES = tuple(sysconfig.get_paths()[name] + os.sep for name in ("stdlib", "purelib", "platlib"))


def place_of(error: BaseException) -> str:
    """
    ``file:line`` of the innermost frame that is neither Bayplan's nor a library's; "" if it was not raised there.

    Of a plugin in an installed package, which looks like a library, it is the outermost frame.
    """
    return place_among(traceback.walk_tb(error.__traceback__))


def place_among(stack: Iterable[tuple[FrameType, int]]) -> str:
    """The same of any frames and their lines, the outermost first."""
    frames = [
        (frame.f_code.co_filename, line)
        for frame, line in stack
        if not frame.f_code.co_filename.startswith("<") and not _is_engine(frame.f_code.co_filename)
    ]
    own = [frame for frame in frames if not frame[0].startswith(_LIBRARIES)]
    if not frames:
        return ""
    file, line = own[-1] if own else frames[0]
    here = os.getcwd() + os.sep
    return f"{file.removeprefix(here)}:{line}"


def is_own_code(frame: FrameType) -> bool:
    """Whether it runs code of a user of Bayplan: a file of their own, or a package that the engine calls."""
    file = frame.f_code.co_filename
    if file.startswith(("<", _BAYPLAN)):
        return False
    caller = frame.f_back.f_code.co_filename if frame.f_back is not None else ""
    return not file.startswith(_LIBRARIES) or caller.startswith(_ENGINE)


def with_place(said: str, error: BaseException) -> str:
    """What an error says, and where it was raised."""
    place = place_of(error)
    return f"{said} ({place})" if place else said


def _is_engine(file: str) -> bool:
    return file.startswith(_BAYPLAN) and not file.startswith(_PLUGINS)
