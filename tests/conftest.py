"""What all tests share.  Random tests are the same in every run, and no test is judged by how long it takes."""

from __future__ import annotations

import asyncio
import logging
import signal
from collections.abc import Callable, Iterator, Mapping

import pytest
import structlog
from hypothesis import HealthCheck, settings

from bayplan.clock import VirtualClock
from bayplan.simulator.clock_loop import VirtualTimeLoop

settings.register_profile("bayplan", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("bayplan")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # Shells have what runs in the background ignore Ctrl-C, and so would every program that a test starts.
    signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_asyncio_loop_factories(
    config: pytest.Config, item: pytest.Item
) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
    """Tests marked ``virtual_time`` wait without taking time; not those among them that talk to a real API server."""
    if item.get_closest_marker("virtual_time") and not item.get_closest_marker("kube"):
        return {"virtual": lambda: VirtualTimeLoop(VirtualClock(1_000_000.0))}
    return {"real": asyncio.new_event_loop}


@pytest.fixture(autouse=True)
def _logs_as_they_were() -> Iterator[None]:
    """A command sets logging up for its process; the next test must not write to the last one's stderr."""
    _plain_logs()
    yield
    logging.getLogger().handlers = [handler for handler in logging.getLogger().handlers if not _is_ours(handler)]


def _plain_logs() -> None:
    """As structlog has it, but for tracebacks: drawing one with all its variables takes seconds."""
    structlog.reset_defaults()
    plain = structlog.dev.ConsoleRenderer(colors=False, exception_formatter=structlog.dev.plain_traceback)
    structlog.configure(processors=[structlog.processors.add_log_level, plain])


def _is_ours(handler: logging.Handler) -> bool:
    return type(handler).__module__.startswith("bayplan.")
