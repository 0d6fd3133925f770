"""Names with several addresses: those that refuse or swallow everything do not keep us from the others."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable

import pytest

from bayplan.kube.dialing import Server

DEAD, SILENT, ALIVE, SPARE = "192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"


@pytest.fixture
def tried(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses tried; one refuses, one never answers, the others take us."""
    seen: list[str] = []

    async def dial(server: Server, make: Callable[[], asyncio.Protocol], address: str) -> asyncio.Protocol:
        seen.append(address)
        if address == DEAD:
            raise ConnectionRefusedError("refused")
        if address == SILENT:
            await asyncio.Event().wait()
        return make()

    monkeypatch.setattr(Server, "_dial", dial)
    return seen


def resolves_to(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    async def getaddrinfo(*_: object, **__: object) -> list[object]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 443)) for address in addresses]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", getaddrinfo)


async def test_the_next_address_is_tried_where_one_is_no_good_and_remembered(
    monkeypatch: pytest.MonkeyPatch, tried: list[str]
) -> None:
    resolves_to(monkeypatch, DEAD, SILENT, ALIVE, SPARE)
    server = Server("api.example", 443, None, None)
    await server.dial(asyncio.Protocol, 0.2)
    assert tried == [DEAD, SILENT, ALIVE]
    tried.clear()
    await server.dial(asyncio.Protocol, 0.2)
    assert tried == [ALIVE]


@pytest.mark.parametrize(
    ("addresses", "why"), [((SILENT, DEAD), "refused"), ((DEAD, SILENT), "no answer"), ((), "no address")]
)
async def test_where_none_is_any_good_the_last_one_says_why(
    monkeypatch: pytest.MonkeyPatch, tried: list[str], addresses: tuple[str, ...], why: str
) -> None:
    resolves_to(monkeypatch, *addresses)
    with pytest.raises(ConnectionError, match=f"cannot connect to api.example:443: .*{why}"):
        await Server("api.example", 443, None, None).dial(asyncio.Protocol, 0.1)


@pytest.mark.parametrize("host", ["127.0.0.1", "::1", "fe80::1%lo"])
async def test_an_address_is_not_looked_up(monkeypatch: pytest.MonkeyPatch, tried: list[str], host: str) -> None:
    resolves_to(monkeypatch)
    await Server(host, 443, None, None).dial(asyncio.Protocol, 0.1)
    assert tried == [host]


async def test_the_certificate_must_have_the_name_and_not_the_address(monkeypatch: pytest.MonkeyPatch) -> None:
    resolves_to(monkeypatch, ALIVE)
    asked: list[object] = []

    async def create_connection(
        *_: object, server_hostname: str | None, **__: object
    ) -> tuple[asyncio.Transport, None]:
        asked.append(server_hostname)
        return asyncio.Transport({"socket": socket.socket()}), None

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", create_connection)
    context = ssl.create_default_context()
    for encrypted, name in ((context, None), (context, "other.example"), (None, "other.example")):
        await Server("api.example", 443, encrypted, name).dial(asyncio.Protocol, 0.1)
    assert asked == ["api.example", "other.example", None]
