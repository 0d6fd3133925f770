"""
Answers to short requests: what one is, and how it is read from the bytes of an HTTP/1.1 connection.

``kube.connections`` feeds an ``AnswerReader`` with what arrives; everything that sends requests gets a ``Response``.
The bytes are taken apart by httptools, that is by llhttp.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

MAX_HEAD_BYTES = 64 * 1024
_CODING, _LENGTH = "transfer-encoding", "content-length"


@dataclass(frozen=True, slots=True)
class Response:
    """A finished answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Headers(Mapping[str, str]):
    """Header lines by name, however it is written; few are ever asked for, so none is decoded before."""

    __slots__ = ("_lines",)

    def __init__(self, lines: list[tuple[bytes, bytes]]) -> None:
        self._lines = lines

    def __getitem__(self, name: str) -> str:
        wanted = name.lower().encode("latin-1")
        found = [value for known, value in self._lines if known.lower() == wanted]
        if not found:
            raise KeyError(name)
        return b", ".join(found).decode("latin-1").strip()

    def __iter__(self) -> Iterator[str]:
        return iter({name.lower().decode("latin-1"): None for name, _ in self._lines})

    def __len__(self) -> int:
        return sum(1 for _ in self)


class AnswerReader:
    """One answer, as its bytes come; ``ValueError`` for what is none."""

    __slots__ = ("_fed", "_has_head", "_is_whole", "_lines", "_parser", "_parts", "_status", "keeps_alive")

    def __init__(self) -> None:
        self._parser: HttpResponseParser | None = HttpResponseParser(self)
        self._fed = 0
        self._status = 0
        self._lines: list[tuple[bytes, bytes]] = []
        self._parts: list[bytes] = []
        self._has_head = False
        self._is_whole = False
        self.keeps_alive = False
        """May the connection be used again after this answer?"""

    def feed(self, data: bytes) -> Response | None:
        """The answer once it is complete."""
        if self._parser is None:
            raise ValueError("an answer longer than it said")
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade as error:
            raise ValueError("not an HTTP answer: the server switches to another protocol") from error
        except HttpParserError as error:
            # The reason is our own where a callback raised.
            reason = error.__context__ if isinstance(error.__context__, ValueError) else error
            raise ValueError(f"not an HTTP answer: {reason}") from error
        if not self._has_head:
            self._fed += len(data)
            if self._fed > MAX_HEAD_BYTES:
                raise ValueError(f"more than {MAX_HEAD_BYTES} bytes of headers")
        if not self._is_whole:
            return None
        # The parser and its reader refer to each other: without this, only the garbage collector could free them.
        self._parser = None
        return self._response()

    def end(self) -> Response | None:
        """The connection has ended: an answer of unknown length is complete now, any other is not."""
        headers = Headers(self._lines)
        is_open_ended = self._has_head and not self._is_whole and _LENGTH not in headers and _CODING not in headers
        return self._response() if is_open_ended else None

    def _response(self) -> Response:
        return Response(self._status, Headers(self._lines), b"".join(self._parts))

    # -- called by the parser --

    def on_message_begin(self) -> None:
        if self._is_whole:
            raise ValueError("an answer longer than it said")

    def on_header(self, name: bytes, value: bytes) -> None:
        if not self._has_head:  # what follows the last chunk is of no use
            self._lines.append((name, value))

    def on_headers_complete(self) -> None:
        assert self._parser is not None
        self._status = self._parser.get_status_code()
        self._has_head = True
        self.keeps_alive = self._parser.should_keep_alive()
        coding = Headers(self._lines).get(_CODING, "chunked")
        if coding.lower() != "chunked":
            raise ValueError(f'transfer encoding "{coding[:80]}" was not asked for')

    def on_body(self, part: bytes) -> None:
        self._parts.append(part)

    def on_message_complete(self) -> None:
        if self._status < 200:  # an interim answer: the real one follows
            self._lines, self._has_head = [], False
            return
        self._is_whole = True
