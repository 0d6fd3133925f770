"""The port of a service: what it says when it cannot have it.  ``test_service`` reads its pages."""

from __future__ import annotations

import socket

import pytest

from bayplan.app.shell.http_server import Server
from bayplan.errors import ConfigError


async def test_a_port_that_is_taken_is_one_line_with_what_to_do() -> None:
    server = Server(live={}, healthy={}, ready={}, metrics=bytes, authorize=None)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError) as caught:
            await server.start(port, host="127.0.0.1")
    await server.close()
    assert str(caught.value) == (
        f"port {port}: cannot listen: Address already in use; "
        "end what listens there or choose another with --secure-port (the annotator: --health-port)"
    )
