"""
How far along a long command is: a bar on a terminal, a line every few seconds elsewhere; always on stderr.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

LINE_EVERY_S = 5.0
BAR_AFTER_S = 0.5
"""A command that is done sooner needs no bar."""

LOOK_EVERY = 32
"""Calls between two looks at the clock."""

Report = Callable[[int, int], None]


@contextmanager
def progress(what: str, look_every: int | None = None, *, lines: bool = True) -> Iterator[Report]:
    """Gives a function to call with (done, total) as often as one likes; without ``lines`` a terminal alone is told."""
    look_every = look_every or LOOK_EVERY
    if sys.stderr.isatty():
        with _bar(what, look_every) as report:
            yield report
    else:
        yield _lines(what, look_every) if lines else lambda done, total: None


def _lines(what: str, look_every: int) -> Report:
    due = time.monotonic() + LINE_EVERY_S
    calls = 0

    def report(done: int, total: int) -> None:
        nonlocal calls, due
        calls += 1
        if calls % look_every == 0 and time.monotonic() >= due:
            due = time.monotonic() + LINE_EVERY_S
            print(f"{what}: {done} of {total}", file=sys.stderr)

    return report


@contextmanager
def _bar(what: str, look_every: int) -> Iterator[Report]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn(what), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    bar = Progress(*columns, console=Console(stderr=True), transient=True)
    task = bar.add_task(what, total=None)
    due = time.monotonic() + BAR_AFTER_S
    calls = 0

    def report(done: int, total: int) -> None:
        nonlocal calls
        calls += 1
        if calls % look_every == 0 and time.monotonic() >= due:
            bar.start()  # does nothing the second time
            bar.update(task, completed=min(done, total), total=total)

    try:
        yield report
    finally:
        bar.stop()
