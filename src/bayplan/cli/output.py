"""
What commands print: documents, text, colours, and complaints.

Data goes to stdout and nothing else does; warnings, progress and errors go to stderr.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from enum import StrEnum
from functools import wraps
from typing import Any, TextIO


class Shape(StrEnum):
    """What ``-o`` takes in most commands."""

    TABLE = "table"
    JSON = "json"
    YAML = "yaml"


WRONG = 2
"""The exit code for wrong input, and for what a plugin does wrong."""

_COLOURS = {
    "Bound": "32",
    "Schedulable": "32",
    "Pending": "31",
    "Unschedulable": "31",
    "Error": "31",
    "Stopped": "31",
    "Waiting": "33",
    "Preempted": "33",
    "Gated": "33",
    "Ignored": "33",
}


def show(document: dict[str, Any], shape: str, text: Callable[[], str]) -> None:
    """Print a document as JSON or YAML, or the text that stands for it."""
    write(rendered(document, shape) if shape in (Shape.JSON, Shape.YAML) else f"{text()}\n")


_data: list[TextIO] = []
"""Where data goes while a command runs."""


def apart(command: Callable[..., int]) -> Callable[..., int]:
    """The command with stdout for its data alone: what plugins and libraries print goes to stderr."""

    @wraps(command)
    def run(*args: Any, **options: Any) -> int:
        _data.append(sys.stdout)
        try:
            with redirect_stdout(sys.stderr):
                return command(*args, **options)
        finally:
            _data.pop()

    return run


def data_stream() -> TextIO:
    """Standard output, whatever others may take for it."""
    return _data[-1] if _data else sys.stdout


def write(text: str) -> None:
    """Data to stdout, and out of our hands."""
    stream = data_stream()
    stream.write(text)
    stream.flush()


def rendered(document: dict[str, Any], shape: str) -> str:
    """A document as JSON or YAML."""
    if shape == Shape.JSON:
        import json

        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"
    import yaml

    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    return str(yaml.dump(document, Dumper=dumper, sort_keys=False, allow_unicode=True, width=10**6))


def style() -> Callable[[str], str]:
    """Gives words of state their colour, where colours are wanted."""
    if not has_colours(data_stream()):
        return str
    return lambda word: f"\x1b[{_COLOURS[word]}m{word}\x1b[0m" if word in _COLOURS else word


def has_colours(stream: TextIO) -> bool:
    """On a terminal that shows colours, unless the user does not want any."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def complain(text: str) -> None:
    """Errors, one a line."""
    for line in text.splitlines():
        print(f"error: {line}", file=sys.stderr)


def warn(text: str) -> None:
    print(f"warning: {text}", file=sys.stderr)


def set_up_logs(*, verbose: bool) -> None:
    """What the engine logs belongs on stderr; without -v only what went wrong."""
    import structlog

    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            _rendered_log,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.DEBUG if verbose else logging.ERROR),
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
    )


def _rendered_log(logger: Any, method: str, event: Any) -> str:
    """One line; a traceback stands below it as Python would show it."""
    import structlog

    trace = event.pop("exception", "")
    line = str(structlog.processors.LogfmtRenderer(key_order=["level", "event"])(logger, method, event))
    return f"{line}\n{trace}" if trace else line
