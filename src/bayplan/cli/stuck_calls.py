"""
A plugin that does not come back: commands say where it is, and how to end it.  ``cli.main`` watches commands that ask.

A thread looks at what the command's own thread is doing, every few seconds, so plugins pay nothing for it.
"""

from __future__ import annotations

import sys
import threading
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from types import FrameType
from typing import Any

from bayplan.cli.output import warn
from bayplan.raising import is_own_code, place_among

LOOK_EVERY_S = 5.0


def watched(command: Callable[..., int], every_s: float = LOOK_EVERY_S) -> Callable[..., int]:
    """The command, watched while it runs."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> int:
        with _watching(sys._getframe(), every_s):
            return command(*args, **options)

    return run


@contextmanager
def _watching(start: FrameType, every_s: float) -> Iterator[None]:
    is_over = threading.Event()
    thread = threading.Thread(
        target=_look, args=(threading.get_ident(), start, is_over, every_s), name="stuck-calls", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        is_over.set()
        thread.join()


def _look(watched_thread: int, start: FrameType, is_over: threading.Event, every_s: float) -> None:
    """Say it once for each call that was under way at two looks: a frame that is held cannot become another call's."""
    seen: FrameType | None = None
    told: FrameType | None = None
    while not is_over.wait(every_s):
        frames = _frames_above(start, sys._current_frames().get(watched_thread))
        at = next((at for at, (frame, _) in enumerate(frames) if is_own_code(frame)), None)
        call = None if at is None else frames[at][0]
        if call is not None and call is seen and call is not told:
            told = call
            name = call.f_code.co_name
            warn(f"{place_among(frames[at:])}: {name} has not come back for {every_s:g} s; Ctrl-C ends this")
        seen = call


def _frames_above(start: FrameType, top: FrameType | None) -> list[tuple[FrameType, int]]:
    """What was called from ``start`` on, the outermost first."""
    frames = []
    for frame, line in traceback.walk_stack(top):
        if frame is start:
            break
        frames.append((frame, line))
    frames.reverse()
    return frames
