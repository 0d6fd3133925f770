"""Connections of our own, on a server that answers as the test says: kept, replaced, given up."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from dataclasses import dataclass, field

import pytest

from bayplan.errors import LeadershipLostError
from bayplan.kube import connections as connections_module
from bayplan.kube.connections import Connection, Connections
from bayplan.kube.http_response import Response
from tests.support.live import until

OK = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"


@dataclass
class Peer:
    """Reads requests and gives ``answers`` one after the other; ``None`` closes the connection instead."""

    answers: list[bytes | None] = field(default_factory=list)
    port: int = 0
    connections: int = 0
    requests: list[bytes] = field(default_factory=list)
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        self.writers.append(writer)
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                length = int(head.lower().split(b"content-length: ")[1].split(b"\r\n")[0])
                self.requests.append(head + await reader.readexactly(length))
                answer = self.answers.pop(0) if self.answers else OK
                if answer is None:
                    break
                writer.write(answer)
                await writer.drain()
        writer.close()


@pytest.fixture
async def peer() -> AsyncIterator[Peer]:
    made = Peer()
    server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
    made.port = server.sockets[0].getsockname()[1]
    yield made
    server.close()


@pytest.fixture
async def connections(peer: Peer) -> AsyncIterator[Connections]:
    made = Connections(f"http://127.0.0.1:{peer.port}/base", None, None)
    yield made
    await made.close()


async def ask(
    connections: Connections,
    method: str = "POST",
    body: bytes | None = b"{}",
    timeout_s: float = 5.0,
    guard: Callable[[], None] | None = None,
) -> Response:
    return await connections.request(method, "/x", {"q": "a b"}, body, {"Accept": "text/plain"}, timeout_s, guard)


async def test_one_connection_serves_one_request_after_the_other(peer: Peer, connections: Connections) -> None:
    for _ in range(3):
        assert (await ask(connections)).body == b"ok"
    assert peer.connections == 1
    host = f"127.0.0.1:{peer.port}".encode()
    wanted = (
        b"POST /base/x?q=a%20b HTTP/1.1\r\nHost: " + host + b"\r\nAccept: text/plain\r\nContent-Length: 2\r\n\r\n{}"
    )
    assert peer.requests == [wanted] * 3


async def test_requests_at_the_same_time_have_a_connection_each(peer: Peer, connections: Connections) -> None:
    await asyncio.gather(*(ask(connections) for _ in range(5)))
    await asyncio.gather(*(ask(connections) for _ in range(5)))
    assert peer.connections == 5


async def test_a_connection_the_server_wants_closed_is_not_used_again(peer: Peer, connections: Connections) -> None:
    peer.answers = [b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"]
    await ask(connections)
    await ask(connections)
    assert peer.connections == 2


async def test_an_old_connection_is_not_trusted(
    peer: Peer, connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(connections)
    monkeypatch.setattr(connections_module, "KEEP_ALIVE_S", 0.0)
    await ask(connections)
    assert peer.connections == 2


async def test_a_connection_closed_while_idle_is_replaced(peer: Peer, connections: Connections) -> None:
    await ask(connections)
    peer.writers[0].close()
    await until(lambda: not connections._idle[0].is_open, "the connection to be closed")
    assert (await ask(connections)).body == b"ok"
    assert peer.connections == 2


async def test_a_connection_is_not_used_from_the_moment_the_server_says_good_bye(
    peer: Peer, connections: Connections
) -> None:
    """Until the loop tells that it is lost, a bind would go nowhere."""
    await ask(connections)
    (connection,) = connections._idle
    connection.eof_received()
    assert (await ask(connections)).body == b"ok"
    assert (peer.connections, len(peer.requests)) == (2, 2)


async def test_a_connection_lost_before_its_first_request_fails_at_once() -> None:
    living: set[Connection] = set()
    connection = Connection(living)
    connection.connection_made(asyncio.Transport())
    assert living == {connection}
    connection.connection_lost(None)
    with pytest.raises(ConnectionResetError, match="before anything was sent"):
        await connection.exchange(b"", 60.0)
    assert not living


async def test_silence_on_one_connection_costs_those_that_lay_idle_all_the_while(
    peer: Peer, connections: Connections
) -> None:
    """Else each of them would have to be found dead in turn, and a pod has not that much patience."""
    await asyncio.gather(*(ask(connections) for _ in range(3)))
    peer.answers = [b""]
    silent = asyncio.ensure_future(ask(connections, timeout_s=0.2))
    await until(lambda: len(peer.requests) == 4, "the request")
    await ask(connections)
    with pytest.raises(TimeoutError):
        await silent
    assert len(connections._idle) == 1, "the one that was heard of meanwhile"


async def test_a_second_try_has_only_the_time_that_is_left(
    connections: Connections, monkeypatch: pytest.MonkeyPatch
) -> None:
    await ask(connections)
    allowed: list[float] = []

    async def closed(connection: Connection, request: bytes, timeout_s: float) -> Response:
        allowed.append(timeout_s)
        connection.has_answered = False
        await asyncio.sleep(0.02)
        raise ConnectionResetError

    monkeypatch.setattr(Connection, "exchange", closed)
    with pytest.raises(ConnectionResetError):
        await ask(connections, "PUT", timeout_s=5.0)
    first, second = allowed
    assert first == 5.0
    assert second < 4.99


@pytest.mark.parametrize(
    ("method", "is_repeated"), [("PUT", True), ("DELETE", True), ("POST", False), ("PATCH", False)]
)
async def test_only_what_may_happen_twice_is_sent_again_on_a_new_connection(
    peer: Peer, connections: Connections, method: str, is_repeated: bool
) -> None:
    await ask(connections)
    peer.answers = [None]
    if is_repeated:
        assert (await ask(connections, method)).body == b"ok"
    else:
        with pytest.raises(ConnectionError):
            await ask(connections, method)
    assert len(peer.requests) == (3 if is_repeated else 2)


async def test_an_answer_that_breaks_off_is_an_error(peer: Peer, connections: Connections) -> None:
    peer.answers = [OK[:-1]]
    asking = asyncio.ensure_future(ask(connections, "PUT"))
    (connection,) = await until(lambda: list(connections._all), "the connection")
    await until(lambda: connection.has_answered, "a part of the answer")
    peer.writers[0].close()
    with pytest.raises(ConnectionError):
        await asking
    assert len(peer.requests) == 1, "something had come already"


async def test_silence_and_nonsense_cost_the_connection(peer: Peer, connections: Connections) -> None:
    peer.answers = [b"", b"what?\r\n\r\n"]
    with pytest.raises(TimeoutError):
        await ask(connections, timeout_s=0.1)
    with pytest.raises(ValueError, match="not an HTTP answer"):
        await ask(connections)
    assert (await ask(connections)).body == b"ok"
    assert peer.connections == 3


async def test_what_nobody_asked_for_costs_the_connection_too(peer: Peer, connections: Connections) -> None:
    await ask(connections)
    peer.writers[0].write(OK)
    await until(lambda: not connections._idle[0].is_open, "the connection to be given up")
    assert (await ask(connections)).body == b"ok"
    assert peer.connections == 2


async def test_a_request_given_up_leaves_no_answer_to_the_next_one(peer: Peer, connections: Connections) -> None:
    peer.answers = [b""]
    asking = asyncio.ensure_future(ask(connections))
    await until(lambda: peer.requests, "the request")
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    assert (await ask(connections)).body == b"ok"
    assert peer.connections == 2


async def test_a_guard_that_objects_keeps_the_connection_and_sends_nothing(
    peer: Peer, connections: Connections
) -> None:
    def forbid() -> None:
        raise LeadershipLostError("not the leader any more")

    for _ in range(2):
        with pytest.raises(LeadershipLostError):
            await ask(connections, guard=forbid)
    assert (await ask(connections, guard=lambda: None)).body == b"ok"
    assert (peer.connections, len(peer.requests)) == (1, 1)


async def test_retired_connections_end_with_their_requests(peer: Peer, connections: Connections) -> None:
    peer.answers = [b""]
    asking = asyncio.ensure_future(ask(connections))
    await until(lambda: peer.requests, "the request")
    connections.retire()
    peer.writers[0].write(OK)
    assert (await asking).body == b"ok"
    await until(lambda: not connections._all, "the connection to end")


@pytest.mark.parametrize("headers", [{"A": "x\r\nB: y"}, {"A\n": "x"}, {"A": "é"}])
async def test_a_header_that_would_be_another_is_not_sent(
    peer: Peer, connections: Connections, headers: dict[str, str]
) -> None:
    with pytest.raises(ValueError, match="no header may have"):
        await connections.request("POST", "/x", None, None, headers, 5.0, None)
    assert peer.connections == 0


async def test_a_path_cannot_become_a_second_request(peer: Peer, connections: Connections) -> None:
    await connections.request("POST", "/a\r\nb c?d", None, None, {}, 5.0, None)
    assert peer.requests[0].startswith(b"POST /base/a%0D%0Ab%20c%3Fd HTTP/1.1\r\n")
