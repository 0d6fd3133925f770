"""Faults on the way to the API server, on purpose and by rule. Tests of ``kube/`` and ``app/`` use it.

``FaultyTransport`` stands between the client and the real transport. A rule says which requests it is for, what
happens to them and how often:

    faults.on("POST", "/binding$", Answer(409, reason="Conflict"), times=1)
    faults.on("WATCH", "/pods$", Lines([ERROR_410]))

Rules are tried in order, the oldest first; a request that meets none goes through untouched. ``WATCH`` is the method
of streams. What went by is kept in ``seen``, so a test can count requests.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from bayplan.errors import TransportError
from bayplan.kube.transport import REQUEST_TIMEOUT_S, Endpoint, Response, Stream, Transport
from tests.support.bodies import read_body

ERROR_410 = json.dumps(
    {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old resource version: 1 (2)"}}
).encode()


@dataclass(frozen=True, slots=True)
class Answer:
    """The request does not reach the server; this is the answer."""

    status: int
    message: str = "on purpose"
    reason: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LostRequest:
    """The request does not reach the server, and there is no answer."""


@dataclass(frozen=True, slots=True)
class LostAnswer:
    """The request reaches the server; its answer is lost."""


@dataclass(frozen=True, slots=True)
class Delay:
    """The request, or its answer, takes so much longer."""

    seconds: float
    answer: bool = False


@dataclass(slots=True)
class Hold:
    """The request waits at the door until ``go`` is set; ``reached`` tells that one has come.  It may end there."""

    then: Answer | None = None
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    go: asyncio.Event = field(default_factory=asyncio.Event)


@dataclass(frozen=True, slots=True)
class Lines:
    """A stream that says only this and ends."""

    lines: Sequence[bytes] = ()


@dataclass(frozen=True, slots=True)
class Silence:
    """A stream that says nothing more after so many lines, until its reader gives up."""

    after: int = 0


@dataclass(frozen=True, slots=True)
class Cut:
    """A stream that breaks after so many lines."""

    after: int = 0


Fault = Answer | LostRequest | LostAnswer | Delay | Hold | Lines | Silence | Cut


@dataclass(slots=True)
class Rule:
    """For which requests, what, and how often."""

    method: str
    path: re.Pattern[str]
    fault: Fault
    times: int | None = None
    hits: int = 0

    def takes(self, method: str, path: str) -> bool:
        if self.times == 0 or not re.fullmatch(self.method, method) or not self.path.search(path):
            return False
        self.hits += 1
        if self.times is not None:
            self.times -= 1
        return True


class FaultyTransport:
    """A transport with rules."""

    def __init__(self, inner: Transport) -> None:
        self._inner = inner
        self.rules: list[Rule] = []
        self.seen: list[tuple[str, str]] = []
        self._open: list[tuple[str, asyncio.Future[None]]] = []
        self.bodies: list[tuple[str, str, Any]] = []

    def on(self, method: str, path: str, fault: Fault, times: int | None = None) -> Rule:
        """A new rule; method and path are regular expressions."""
        rule = Rule(method, re.compile(path), fault, times)
        self.rules.append(rule)
        return rule

    def clear(self) -> None:
        self.rules.clear()

    def count(self, method: str, path: str) -> int:
        """How many such requests were asked for, whatever became of them."""
        return sum(bool(m == method and re.search(path, p)) for m, p in self.seen)

    async def request(
        self,
        method: str,
        path: str,
        *,
        params: Mapping[str, str] | None = None,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
        timeout_s: float = REQUEST_TIMEOUT_S,
        guard: Callable[[], None] | None = None,
    ) -> Response:
        self.seen.append((method, path))
        if body is not None:
            self.bodies.append((method, path, read_body(body)))

        async def send() -> Response:
            return await self._inner.request(
                method, path, params=params, body=body, headers=headers, timeout_s=timeout_s, guard=guard
            )

        try:
            async with asyncio.timeout(timeout_s):
                return await self._faulty(method, path, send)
        except TimeoutError as error:
            raise TransportError(f"{method} {path}: no answer within {timeout_s:g} s") from error

    async def _faulty(self, method: str, path: str, send: Any) -> Response:
        match self._fault(method, path):
            case Answer() as answer:
                return _response(answer)
            case LostRequest():
                raise TransportError(f"{method} {path}: connection refused on purpose")
            case LostAnswer():
                await send()
                raise TransportError(f"{method} {path}: answer lost on purpose")
            case Delay(seconds, answer=False):
                await asyncio.sleep(seconds)
            case Delay(seconds, answer=True):
                response: Response = await send()
                await asyncio.sleep(seconds)
                return response
            case Hold() as hold:
                hold.reached.set()
                await hold.go.wait()
                if hold.then is not None:
                    return _response(hold.then)
        answered: Response = await send()
        return answered

    @asynccontextmanager
    async def stream(
        self, path: str, *, params: Mapping[str, str], headers: Mapping[str, str] | None
    ) -> AsyncIterator[Stream]:
        self.seen.append(("WATCH", path))
        fault = self._fault("WATCH", path)
        if isinstance(fault, Answer):
            answer = _response(fault)
            yield Stream(answer.status, answer.headers, _said([answer.body]))
            return
        if isinstance(fault, LostRequest):
            raise TransportError(f"watch {path}: connection refused on purpose")
        if isinstance(fault, Lines):
            yield Stream(200, {}, _said(fault.lines))
            return
        real: AbstractAsyncContextManager[Stream] = self._inner.stream(path, params=params, headers=headers)
        async with real as stream:
            lines = stream.lines
            if isinstance(fault, (Silence, Cut)):
                lines = _spoiled(stream.lines, fault, path)
            ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._open.append((path, ended))
            try:
                async with aclosing(_until(ended, lines)) as said:
                    yield Stream(stream.status, stream.headers, said)
            finally:
                self._open.remove((path, ended))
                ended.cancel()

    def end_streams(self, path: str) -> int:
        """End the streams that are open now, as a server does that restarts; how many there were."""
        ending = [ended for each, ended in self._open if re.search(path, each)]
        for ended in ending:
            ended.set_result(None)
        return len(ending)

    def distrust(self) -> None:
        self._inner.distrust()

    async def use(self, endpoint: Endpoint) -> None:
        await self._inner.use(endpoint)

    async def close(self) -> None:
        await self._inner.close()

    def _fault(self, method: str, path: str) -> Fault | None:
        return next((rule.fault for rule in self.rules if rule.takes(method, path)), None)


def _response(answer: Answer) -> Response:
    status = {"kind": "Status", "code": answer.status, "message": answer.message, "reason": answer.reason}
    return Response(answer.status, answer.headers, json.dumps(status).encode())


async def _said(lines: Sequence[bytes]) -> AsyncGenerator[bytes, None]:
    for line in lines:
        yield line


async def _until(ended: asyncio.Future[None], lines: AsyncIterator[bytes]) -> AsyncGenerator[bytes, None]:
    """The lines, until somebody ends the stream."""
    while True:
        step: asyncio.Future[bytes | None] = asyncio.ensure_future(anext(lines, None))
        try:
            futures: set[asyncio.Future[Any]] = {step, ended}
            await asyncio.wait(futures, return_when=asyncio.FIRST_COMPLETED)
            line = step.result() if step.done() else None
        finally:
            step.cancel()
            await asyncio.gather(step, return_exceptions=True)
        if line is None:
            return
        yield line


async def _spoiled(lines: AsyncIterator[bytes], fault: Silence | Cut, path: str) -> AsyncGenerator[bytes, None]:
    left = fault.after
    if left:
        async for line in lines:
            yield line
            left -= 1
            if not left:
                break
    if isinstance(fault, Cut):
        raise TransportError(f"watch {path}: cut on purpose")
    await asyncio.Event().wait()
