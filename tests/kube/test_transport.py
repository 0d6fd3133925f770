"""HTTP itself, on a real HTTPS server on loopback: lines of any length, silence, trust, proxies, new connections."""

from __future__ import annotations

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass, field

import pytest
import trustme
from aiohttp import web

from bayplan.errors import LeadershipLostError, TransportError
from bayplan.kube import transport as transport_module
from bayplan.kube.transport import Endpoint, HttpTransport
from tests.support.live import until


@dataclass
class Peer:
    """A server that says what the test wants."""

    ca: trustme.CA
    port: int = 0
    chunks: list[bytes] = field(default_factory=list)
    holds: asyncio.Event = field(default_factory=asyncio.Event)
    seen: list[web.Request] = field(default_factory=list)

    def endpoint(self, host: str = "127.0.0.1", **more: str) -> Endpoint:
        context = ssl.create_default_context()
        self.ca.configure_trust(context)
        return Endpoint(f"https://{host}:{self.port}", context, **more)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        self.seen.append(request)
        if request.path == "/hold":
            await self.holds.wait()
        if request.path != "/stream":
            return web.Response(status=int(request.query.get("status", 200)), text=f"{request.method} {request.path}")
        answer = web.StreamResponse()
        await answer.prepare(request)
        for chunk in self.chunks:
            await answer.write(chunk)
            await asyncio.sleep(0)
        if request.query.get("then") == "silence":
            await self.holds.wait()
        elif request.query.get("then") == "abort":
            assert request.transport is not None
            request.transport.abort()
        return answer


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer(trustme.CA())
    app = web.Application()
    app.router.add_route("*", "/{tail:.*}", made.answer)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    made.ca.issue_cert("127.0.0.1", "inner.example.com").configure_cert(context)
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    made.port = runner.addresses[0][1]
    yield made
    made.holds.set()
    await runner.cleanup()


@pytest.fixture
async def transport(peer: Peer) -> AsyncIterator[HttpTransport]:
    made = HttpTransport(peer.endpoint())
    yield made
    await made.close()


both_ways = pytest.mark.parametrize("method", ["GET", "POST"], ids=["library", "connections"])
"""Reads go through the library, writes over connections of our own; both must be as careful."""


async def lines_of(transport: HttpTransport, **params: str) -> list[bytes]:
    async with transport.stream("/stream", params=params, headers={}) as stream:
        assert stream.status == 200
        return [line async for line in stream.lines]


async def test_a_request_carries_all_it_was_given(peer: Peer, transport: HttpTransport) -> None:
    answer = await transport.request(
        "PUT", "/a b/é", params={"q": "x y&z"}, body=b"{}", headers={"Authorization": "Bearer t"}
    )
    (seen,) = peer.seen
    assert (answer.status, answer.body) == (200, "PUT /a b/é".encode())
    assert (seen.path, seen.query["q"], seen.headers["Authorization"]) == ("/a b/é", "x y&z", "Bearer t")
    assert (await transport.request("GET", "/x", params={"status": "409"})).status == 409


@pytest.mark.parametrize(
    ("chunks", "expected"),
    [
        ([], []),
        ([b"a\nb\n"], [b"a", b"b"]),
        ([b"a", b"b\nc", b"\n", b"\n\n", b"d"], [b"ab", b"c", b"d"]),
        ([b"x" * 3_000_000 + b"\ny\n"], [b"x" * 3_000_000, b"y"]),
        ([b"z" * 100_000] * 20 + [b"\n"], [b"z" * 2_000_000]),
    ],
)
async def test_lines_come_whole_however_they_are_cut(
    peer: Peer, transport: HttpTransport, chunks: list[bytes], expected: list[bytes]
) -> None:
    peer.chunks = chunks
    assert await lines_of(transport) == expected


async def test_a_line_without_end_is_given_up(
    peer: Peer, transport: HttpTransport, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport_module, "MAX_LINE_BYTES", 1000)
    peer.chunks = [b"x" * 900] * 3
    with pytest.raises(TransportError, match="a line of more than 1000 bytes"):
        await lines_of(transport)


async def test_a_broken_connection_ends_a_stream(peer: Peer, transport: HttpTransport) -> None:
    peer.chunks = [b"a\n"]
    with pytest.raises(TransportError, match="watch /stream: "):
        await lines_of(transport, then="abort")


async def test_a_request_without_an_answer_times_out(transport: HttpTransport) -> None:
    with pytest.raises(TransportError, match=r"POST /hold: no answer within 0\.2 s"):
        await transport.request("POST", "/hold", timeout_s=0.2)


@both_ways
async def test_the_system_looks_after_every_connection(peer: Peer, transport: HttpTransport, method: str) -> None:
    """A network that swallows everything is noticed by the system, also on connections that lie idle."""
    await transport.request(method, "/x")
    ours = options_to(peer.port)
    assert ours[socket.SO_KEEPALIVE] == 1
    assert ours[socket.TCP_KEEPIDLE] + ours[socket.TCP_KEEPINTVL] * ours[socket.TCP_KEEPCNT] <= 60
    assert ours[socket.TCP_USER_TIMEOUT] <= 60_000


def options_to(port: int) -> dict[int, int]:
    """The options of this process's one connection to a port."""
    options = (socket.TCP_KEEPIDLE, socket.TCP_KEEPINTVL, socket.TCP_KEEPCNT, socket.TCP_USER_TIMEOUT)
    for name in os.listdir("/proc/self/fd"):
        with suppress(OSError), socket.socket(fileno=os.dup(int(name))) as one:
            if one.family == socket.AF_INET and one.getpeername()[1] == port:
                alive = {socket.SO_KEEPALIVE: one.getsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE)}
                return alive | {option: one.getsockopt(socket.IPPROTO_TCP, option) for option in options}
    raise AssertionError("there is no connection")


@both_ways
async def test_a_server_that_is_not_there_is_an_error_of_ours(peer: Peer, method: str) -> None:
    transport = HttpTransport(Endpoint("https://127.0.0.1:1", peer.endpoint().ssl, origin="my.kubeconfig"))
    said = r"127\.0\.0\.1:1: Connection refused; check that it runs and that my\.kubeconfig names the right server$"
    try:
        with pytest.raises(TransportError, match=rf"^{method} /x: cannot connect to (https://)?{said}"):
            await transport.request(method, "/x")
        with pytest.raises(TransportError, match=rf"^watch /x: cannot connect to https://{said}"):
            async with transport.stream("/x", params={}, headers={}):
                pass
    finally:
        await transport.close()


async def test_a_proxy_that_is_not_there_is_named(peer: Peer) -> None:
    transport = HttpTransport(Endpoint("https://api.example", peer.endpoint().ssl, proxy="http://127.0.0.1:1"))
    said = r"^GET /x: cannot connect to the proxy http://127\.0\.0\.1:1: Connection refused; check that address$"
    with pytest.raises(TransportError, match=said):
        await transport.request("GET", "/x")
    await transport.close()


@both_ways
async def test_a_server_nobody_vouches_for_is_not_spoken_to(peer: Peer, method: str) -> None:
    for endpoint in (
        Endpoint(peer.endpoint().base_url),
        peer.endpoint(server_hostname="other.example.com"),
    ):
        transport = HttpTransport(endpoint)
        with pytest.raises(TransportError, match=r"certificate verify failed|not valid for"):
            await transport.request(method, "/x", headers={"Authorization": "Bearer secret"})
        await transport.close()
    assert peer.seen == []


@both_ways
async def test_a_server_can_be_known_by_another_name(peer: Peer, method: str) -> None:
    transport = HttpTransport(peer.endpoint(server_hostname="inner.example.com"))
    assert (await transport.request(method, "/x")).status == 200
    await transport.close()


@both_ways
async def test_a_proxy_is_used_where_one_is_named(peer: Peer, method: str) -> None:
    wanted: list[str] = []

    async def tunnel(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Just enough of an HTTP proxy: CONNECT, then bytes both ways."""
        head = await reader.readuntil(b"\r\n\r\n")
        wanted.append(head.split(b"\r\n")[0].decode())
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", peer.port)
        writer.write(b"HTTP/1.1 200 OK\r\n\r\n")

        async def one_way(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
            with suppress(OSError):
                while chunk := await source.read(65536):
                    target.write(chunk)
            target.close()

        await asyncio.gather(one_way(reader, far_writer), one_way(far_reader, writer))

    proxy = await asyncio.start_server(tunnel, "127.0.0.1", 0)
    port = proxy.sockets[0].getsockname()[1]
    transport = HttpTransport(peer.endpoint(proxy=f"http://127.0.0.1:{port}"))
    assert (await transport.request(method, "/x")).status == 200
    await transport.close()
    proxy.close()
    await proxy.wait_closed()
    assert wanted == [f"CONNECT 127.0.0.1:{peer.port} HTTP/1.1"]


@both_ways
async def test_requests_under_way_end_on_the_old_connections(peer: Peer, transport: HttpTransport, method: str) -> None:
    held = asyncio.ensure_future(transport.request(method, "/hold"))
    await until(lambda: peer.seen, "the request")
    await transport.use(peer.endpoint(server_hostname="inner.example.com"))
    assert (await transport.request(method, "/new")).status == 200
    peer.holds.set()
    assert (await held).body == f"{method} /hold".encode()


async def test_a_request_is_allowed_once_more_when_its_connection_is_there(
    transport: HttpTransport, peer: Peer
) -> None:
    def forbid() -> None:
        raise LeadershipLostError("not the leader any more")

    with pytest.raises(LeadershipLostError):
        await transport.request("POST", "/late", guard=forbid)
    assert peer.seen == []
    answer = await transport.request("POST", "/in-time", guard=lambda: None)
    assert answer.status == 200
