"""Logs of live tests as one line each: the default for developers draws every traceback with all its locals, slowly."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pytest
import structlog


@pytest.fixture(autouse=True)
def plain_logs() -> Iterator[None]:
    """Log to what pytest captures; ``structlog.testing.capture_logs`` works inside."""
    structlog.configure(
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.format_exc_info,
            structlog.processors.LogfmtRenderer(key_order=["level", "event"], bool_as_flag=False),
        ],
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
    )
    yield
    structlog.reset_defaults()
