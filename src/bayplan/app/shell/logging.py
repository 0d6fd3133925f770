"""How services log: one line a message, for people or as JSON.  Set up once by each service's command."""

from __future__ import annotations

import logging
import sys
from typing import TextIO

import structlog


def set_up(*, verbose: bool = False, as_json: bool = False, quiet: bool = False, to: TextIO | None = None) -> None:
    """Log to stderr, or elsewhere; debug messages only with ``verbose``, and nothing but warnings if ``quiet``."""
    least = logging.DEBUG if verbose else logging.WARNING if quiet else logging.INFO
    renderer: structlog.typing.Processor
    if as_json:
        renderer = structlog.processors.JSONRenderer()
    else:
        renderer = structlog.processors.LogfmtRenderer(key_order=["timestamp", "level", "event"])
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.format_exc_info,
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(file=to or sys.stderr),
    )
    logging.basicConfig(handlers=[_Forward(verbose)], level=logging.WARNING, force=True)


class _Forward(logging.Handler):
    """
    What libraries have to say, in the same form.

    It never counts as an error: whether a broken connection is one is for its user to say.
    """

    def __init__(self, verbose: bool) -> None:
        super().__init__()
        self._verbose = verbose

    def emit(self, record: logging.LogRecord) -> None:
        more: dict[str, object] = {"source": record.name}
        if record.exc_info and record.exc_info[1] is not None:
            more |= {"exc_info": record.exc_info} if self._verbose else {"error": repr(record.exc_info[1])}
        structlog.get_logger().warning(" ".join(record.getMessage().split()), **more)
