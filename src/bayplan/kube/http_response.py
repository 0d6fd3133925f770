"""
Answers to short requests: what one is, and how it is read from the bytes of an HTTP/1.1 connection.

``kube.connections`` feeds an ``AnswerReader`` with what arrives; everything that sends requests gets a ``Response``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

MAX_HEAD_BYTES = 64 * 1024
_HEX = frozenset(b"0123456789abcdefABCDEF")


@dataclass(frozen=True, slots=True)
class Response:
    """A finished answer."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Headers(Mapping[str, str]):
    """Header lines by name, however it is written."""

    __slots__ = ("_values",)

    def __init__(self, lines: list[str]) -> None:
        self._values: dict[str, str] = {}
        for line in lines:
            name, colon, value = line.partition(":")
            if not colon or not name or name[0] in " \t":
                raise ValueError(f'"{line[:80]}" is not a header')
            name, value = name.lower(), value.strip()
            known = self._values.get(name)
            self._values[name] = value if known is None else f"{known}, {value}"

    def __getitem__(self, name: str) -> str:
        return self._values[name.lower()]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)


class AnswerReader:
    """One answer, as its bytes come; ``ValueError`` for what is none."""

    __slots__ = (
        "_chunk",
        "_headers",
        "_is_chunked",
        "_length",
        "_parts",
        "_pending",
        "_size",
        "_status",
        "keeps_alive",
    )

    def __init__(self) -> None:
        self._status = 0
        self._headers = Headers([])
        self._length: int | None = None
        """How long the body is; unknown until the connection ends, or until its last chunk."""
        self._is_chunked = False
        self._chunk = 0
        """How much of the chunk under way is still to come."""
        self._pending = b""
        """What cannot be understood before more has come."""
        self._parts: list[bytes] = []
        self._size = 0
        self.keeps_alive = False
        """May the connection be used again after this answer?"""

    def feed(self, data: bytes) -> Response | None:
        """The answer once it is complete."""
        while not self._status:
            data = self._pending + data
            end = data.find(b"\r\n\r\n")
            if end < 0:
                if len(data) > MAX_HEAD_BYTES:
                    raise ValueError(f"more than {MAX_HEAD_BYTES} bytes of headers")
                self._pending = data
                return None
            self._pending = b""
            self._read_head(data[:end].decode("latin-1"))
            data = data[end + 4 :]
        if self._is_chunked:
            return self._feed_chunks(data)
        self._parts.append(data)
        self._size += len(data)
        if self._length is None or self._size < self._length:
            return None
        if self._size > self._length:
            raise ValueError("an answer longer than it said")
        return self._whole()

    def end(self) -> Response | None:
        """The connection has ended: an answer of unknown length is complete now, any other is not."""
        return self._whole() if self._status and self._length is None and not self._is_chunked else None

    def _read_head(self, head: str) -> None:
        """Status and headers; of an interim answer nothing is kept, since the real one follows."""
        first, *lines = head.split("\r\n")
        version, _, rest = first.partition(" ")
        status = rest[:3]
        if version not in ("HTTP/1.1", "HTTP/1.0") or not (len(status) == 3 and status.isdecimal()):
            raise ValueError(f'"{first[:80]}" is not an HTTP answer')
        if status[0] == "1":
            return
        headers = self._headers = Headers(lines)
        self._status = int(status)
        coding = headers.get("transfer-encoding", "").lower()
        if coding not in ("", "identity", "chunked"):
            raise ValueError(f'an answer in transfer encoding "{coding[:80]}", which nobody asked for')
        self._is_chunked = coding == "chunked"
        wishes = headers.get("connection", "").lower().split(",")
        self.keeps_alive = version == "HTTP/1.1" and not any(wish.strip() == "close" for wish in wishes)
        length = headers.get("content-length")
        if self._status in (204, 304):
            self._length, self._is_chunked = 0, False
        elif not self._is_chunked and length is not None:
            if not (length.isascii() and length.isdecimal()):
                raise ValueError(f'"{length[:80]}" is not a length')
            self._length = int(length)
        elif not self._is_chunked:
            self.keeps_alive = False

    def _feed_chunks(self, data: bytes) -> Response | None:
        """A chunk may be as long as the whole answer, so what has come of it is put away at once."""
        data = self._pending + data
        at = 0
        while True:
            if self._chunk:
                self._parts.append(part := data[at : at + self._chunk])
                self._chunk -= len(part)
                at += len(part)
            # A line end follows each chunk, before the line with the next one's size.
            start = at + 2 if self._parts else at
            line_end = data.find(b"\r\n", start)
            if self._chunk or line_end < 0:
                break
            self._chunk = _chunk_size(data[at:line_end], start - at)
            if not self._chunk:
                return self._last(data, at, line_end)
            at = line_end + 2
        self._pending = data[at:]
        if len(self._pending) > MAX_HEAD_BYTES:
            raise ValueError("a chunk without its size")
        return None

    def _last(self, data: bytes, at: int, line_end: int) -> Response | None:
        """After the last chunk there may be more headers; nobody needs them."""
        end = data.find(b"\r\n\r\n", line_end)
        if end < 0:
            if len(data) - at > MAX_HEAD_BYTES:
                raise ValueError(f"more than {MAX_HEAD_BYTES} bytes of headers")
            self._pending = data[at:]
            return None
        if end + 4 != len(data):
            raise ValueError("an answer longer than it said")
        return self._whole()

    def _whole(self) -> Response:
        return Response(self._status, self._headers, b"".join(self._parts))


def _chunk_size(line: bytes, skip: int) -> int:
    """The first ``skip`` bytes are the line end of the chunk before."""
    written = line[skip:].partition(b";")[0].strip()
    if line[:skip] != b"\r\n"[:skip] or not written or not _HEX.issuperset(written):
        raise ValueError("a chunk without its size")
    return int(written, 16)
