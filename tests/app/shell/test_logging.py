"""Services log one line a message, also for what their libraries say."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator

import pytest
import structlog

from bayplan.app.shell.logging import set_up


@pytest.fixture(autouse=True)
def as_before() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    structlog.reset_defaults()
    root.handlers[:], root.level = handlers, level


def test_a_message_is_one_line_with_its_fields(capsys: pytest.CaptureFixture[str]) -> None:
    set_up()
    structlog.get_logger().info("bound", pod="default/web", note="two\nlines")
    (line,) = capsys.readouterr().err.splitlines()

    assert line.endswith(r"level=info event=bound pod=default/web note=two\nlines")


def test_machines_get_json(capsys: pytest.CaptureFixture[str]) -> None:
    set_up(as_json=True)
    structlog.get_logger().warning("not bound", pod="default/web")
    message = json.loads(capsys.readouterr().err)

    assert message.pop("timestamp").endswith("Z")
    assert message == {"level": "warning", "event": "not bound", "pod": "default/web"}


def test_debug_messages_are_for_those_who_ask(capsys: pytest.CaptureFixture[str]) -> None:
    set_up()
    structlog.get_logger().debug("detail")
    assert capsys.readouterr().err == ""
    set_up(verbose=True)
    structlog.get_logger().debug("detail")
    assert "event=detail" in capsys.readouterr().err


@pytest.mark.parametrize("verbose", [False, True])
def test_what_libraries_say_is_one_line_too(verbose: bool, capsys: pytest.CaptureFixture[str]) -> None:
    set_up(verbose=verbose)
    try:
        raise OSError("gone")
    except OSError:
        logging.getLogger("asyncio").exception("Fatal error\nprotocol: %s", "ssl")
    (line,) = capsys.readouterr().err.splitlines()

    assert 'level=warning event="Fatal error protocol: ssl" source=asyncio' in line
    assert "OSError" in line
    assert ("Traceback" in line) is verbose
