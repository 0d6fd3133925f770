"""What all tests share.  Random tests are the same in every run, and no test is judged by how long it takes."""

from __future__ import annotations

import logging
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import HealthCheck, settings

settings.register_profile("bayplan", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bayplan")


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A command sets logging up for its process; the next test must not write to the last one's stderr."""
    yield
    structlog.reset_defaults()
    logging.getLogger().handlers = [handler for handler in logging.getLogger().handlers if not _is_ours(handler)]


def _is_ours(handler: logging.Handler) -> bool:
    return type(handler).__module__.startswith("bayplan.")
