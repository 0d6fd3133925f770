"""Watches that say nothing: a quiet one is left alone for hours, a dead one is found.  In virtual time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest
import structlog

from bayplan.clock import VirtualClock
from bayplan.errors import TransportError
from bayplan.kube.client import Client
from bayplan.kube.informer import COMPLAIN_S, Informer
from bayplan.kube.transport import Endpoint, Response, Stream
from bayplan.kube.watching import ANSWER_S, LATE_S, SILENCE_S
from bayplan.objects.kinds import find
from bayplan.objects.pod import Pod
from bayplan.simulator import clock_loop
from tests.kube.scripted import FixedCredentials, error, line, said

HOUR_S = 3600.0
FOUND_S = SILENCE_S + ANSWER_S + LATE_S + 1
"""By then a change that the watch did not tell must be known."""


class Server:
    """An API server with pods that change when the test says so, and a network that the test can break."""

    def __init__(self) -> None:
        self.changes: list[int] = []
        """The versions of the one pod there is."""
        self.oldest = 0
        self.frozen: set[int] = set()
        """Streams that get nothing any more, by their number."""
        self.streams = 0
        self.answers: Callable[[], Response | None] = lambda: None
        """What is said instead of an answer to a new stream."""
        self.swallows = False
        """Whether nothing new gets through either."""
        self.late_s = 0.0
        self.distrusted = 0
        self._changed = asyncio.Event()

    def change(self) -> None:
        self.changes.append(10 + len(self.changes))
        self._changed.set()
        self._changed = asyncio.Event()

    def freeze(self) -> None:
        self.frozen.update(range(self.streams + 1))

    async def request(self, method: str, path: str, **_: Any) -> Response:
        items = [_pod(self.changes[-1])] if self.changes else []
        return said(200, {"metadata": {"resourceVersion": str(9 + len(self.changes))}, "items": items})

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Mapping[str, str], headers: Mapping[str, str] | None
    ) -> AsyncIterator[Stream]:
        if self.swallows:
            await asyncio.Event().wait()
        answer = self.answers()
        if answer is not None:
            yield Stream(answer.status, {}, _said(answer.body))
            return
        self.streams += 1
        yield Stream(
            200, {}, self._lines(self.streams, int(params["resourceVersion"]), float(params["timeoutSeconds"]))
        )

    async def _lines(self, number: int, version: int, seconds: float) -> AsyncGenerator[bytes, None]:
        ends_at = asyncio.get_running_loop().time() + seconds
        if version < self.oldest:
            yield line("ERROR", {"kind": "Status", "code": 410, "message": "too old"})
            return
        late_s = self.late_s if seconds > 60 else 0.0
        while True:
            changed = self._changed
            for change in [each for each in self.changes if each > version]:
                await asyncio.sleep(late_s)
                if number in self.frozen:
                    await asyncio.Event().wait()
                yield line("MODIFIED", _pod(change))
                version = change
            try:
                async with asyncio.timeout_at(ends_at):
                    await changed.wait()
            except TimeoutError:
                if number in self.frozen:
                    await asyncio.Event().wait()
                return

    def distrust(self) -> None:
        self.distrusted += 1

    async def use(self, endpoint: Endpoint) -> None: ...

    async def close(self) -> None: ...


class Seen:
    """What an informer of pods was told, and what it logged."""

    def __init__(self, server: Server) -> None:
        self.server = server
        self.versions: list[int] = []
        client = Client(FixedCredentials(Endpoint("https://server"), {}), server)
        kind = find("v1", "Pod")
        assert kind is not None
        self.informer: Informer[Pod] = Informer(
            client, kind, added=self._tell, changed=lambda _, pod: self._tell(pod), deleted=self._tell
        )
        self.logs: list[Any] = []

    @property
    def warnings(self) -> list[Any]:
        return [entry for entry in self.logs if entry["log_level"] not in ("debug", "info")]

    def _tell(self, pod: Pod) -> None:
        self.versions.append(int(pod.metadata.resource_version))


def following(test: Callable[[Server, Seen], Awaitable[None]]) -> Seen:
    """Run a test beside an informer that has listed and watches."""

    async def main() -> Seen:
        server = Server()
        seen = Seen(server)
        with structlog.testing.capture_logs() as seen.logs:
            task = asyncio.ensure_future(seen.informer.run())
            await asyncio.sleep(1)
            await test(server, seen)
            assert not task.done()
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
        return seen

    return clock_loop.run(main(), VirtualClock(1000.0))


def test_a_quiet_kind_keeps_its_watch_and_logs_nothing() -> None:
    async def nothing_happens(server: Server, seen: Seen) -> None:
        await asyncio.sleep(290)
        assert seen.informer.watches == 1, "the server ends a watch after 300 s at the earliest"
        await asyncio.sleep(HOUR_S)

    seen = following(nothing_happens)
    assert seen.logs == []
    assert seen.server.distrusted == 0
    assert seen.informer.watches <= 1 + HOUR_S / 300
    assert seen.informer.lists == 1


@pytest.mark.parametrize("quiet_s", [0.0, 100.0, SILENCE_S - 1, SILENCE_S + 1, 1000.0, 10 * HOUR_S])
def test_a_change_is_known_in_time_however_long_it_was_quiet_before_the_connection_died(quiet_s: float) -> None:
    async def change(server: Server, seen: Seen) -> None:
        await asyncio.sleep(quiet_s)
        server.freeze()
        server.change()
        await asyncio.sleep(FOUND_S)
        assert seen.versions == [10]

    seen = following(change)
    assert [entry["event"] for entry in seen.warnings] == ["watch broke"]
    assert "silent for 150 s, and " in seen.warnings[0]["error"]
    assert seen.server.distrusted == 1, "other connections to that server are no better"


def test_a_server_that_is_gone_is_noticed_without_any_change() -> None:
    async def swallow(server: Server, seen: Seen) -> None:
        server.freeze()
        server.swallows = True
        await asyncio.sleep(FOUND_S)
        assert server.distrusted == 1
        server.swallows = False
        server.change()
        await asyncio.sleep(COMPLAIN_S)
        assert seen.versions == [10]

    seen = following(swallow)
    assert "silent for 150 s, and the server does not answer" in seen.warnings[0]["error"]


def test_a_server_that_refuses_connections_is_noticed_without_any_change() -> None:
    async def refuse(server: Server, seen: Seen) -> None:
        server.freeze()
        server.answers = _raising(TransportError("connection refused"))
        await asyncio.sleep(FOUND_S)

    seen = following(refuse)
    assert "silent for 150 s, and then: connection refused" in seen.warnings[0]["error"]
    assert seen.server.distrusted == 1


@pytest.mark.parametrize("status", [403, 429, 500, 503, 504])
def test_a_server_that_has_no_time_for_the_question_is_alive(status: int) -> None:
    async def busy(server: Server, seen: Seen) -> None:
        server.answers = lambda: error(status)
        await asyncio.sleep(290)
        server.change()
        await asyncio.sleep(1)
        assert seen.versions == [10]

    seen = following(busy)
    assert seen.logs == []
    assert (seen.informer.watches, seen.server.distrusted) == (1, 0)


@pytest.mark.parametrize("late_s", [0.0, LATE_S / 2])
def test_a_change_that_comes_just_when_it_is_asked_for_proves_nothing(late_s: float) -> None:
    async def changes(server: Server, seen: Seen) -> None:
        server.late_s = late_s
        for number in range(1, 60):
            await asyncio.sleep(135.0 + number / 4)  # around the moment of the question
            server.change()
            await asyncio.sleep(2)
            assert len(seen.versions) == number

    seen = following(changes)
    assert seen.warnings == []
    assert seen.server.distrusted == 0


def test_a_version_that_the_server_forgot_is_no_trouble() -> None:
    """As after a compaction: the question cannot be answered, so everything is listed again."""

    async def compact(server: Server, seen: Seen) -> None:
        server.freeze()
        server.change()
        server.oldest = 10
        await asyncio.sleep(FOUND_S)
        assert seen.versions == [10]

    seen = following(compact)
    assert seen.warnings == []
    assert (seen.informer.lists, seen.informer.watches) == (2, 3)


def test_a_watch_that_is_never_answered_is_given_up() -> None:
    async def swallow(server: Server, seen: Seen) -> None:
        server.swallows = True
        server.freeze()
        await asyncio.sleep(2 * FOUND_S)
        server.swallows = False
        server.change()
        await asyncio.sleep(60)
        assert seen.versions == [10]

    seen = following(swallow)
    assert "no answer within 30 s" in seen.warnings[-1]["error"]


def _raising(raised: Exception) -> Callable[[], Response]:
    def answer() -> Response:
        raise raised

    return answer


def _pod(version: int) -> dict[str, Any]:
    return {"metadata": {"name": "p", "namespace": "ns", "uid": "uid", "resourceVersion": str(version)}}


async def _said(body: bytes) -> AsyncGenerator[bytes, None]:
    yield json.dumps(json.loads(body)).encode()
