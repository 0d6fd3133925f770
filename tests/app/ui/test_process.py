"""Where the page's server may listen, and what it says when it may not."""

from __future__ import annotations

import socket

import pytest

from bayplan.app.ui.process import UiOptions, check, serve_source
from bayplan.errors import ConfigError, InputError
from tests.app.ui.support import simulated


@pytest.mark.parametrize("address", ["127.0.0.1", "::1", "localhost"])
def test_this_machine_needs_no_rights(address: str) -> None:
    check(UiOptions(command="", address=address), is_live=False)


def test_elsewhere_it_must_be_said_who_may_see_it() -> None:
    with pytest.raises(InputError) as caught:
        check(UiOptions(command="", address="0.0.0.0"), is_live=True)
    assert str(caught.value) == (
        "--address: 0.0.0.0 would show the cluster to everybody who can reach it; "
        "add --auth, so that the API server is asked who may see what, or --no-auth if everybody may"
    )
    check(UiOptions(command="", address="0.0.0.0", auth=True), is_live=True)
    check(UiOptions(command="", address="0.0.0.0", auth=False), is_live=False)


def test_files_have_nobody_to_ask() -> None:
    with pytest.raises(InputError, match="only an API server can say who may see what"):
        check(UiOptions(command="", auth=True), is_live=False)


async def test_a_port_that_is_taken_is_one_line() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(ConfigError, match=f"127.0.0.1, port {port}: cannot listen: Address already in use; end"):
            await serve_source(UiOptions(command="", port=port), simulated(), lambda address: None)
