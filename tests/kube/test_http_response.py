"""Answers from the bytes of a connection: whole or in pieces, of known length or in chunks, and what is no answer."""

from __future__ import annotations

import gc

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bayplan.kube.http_response import MAX_HEAD_BYTES, AnswerReader, Response

KNOWN = b'HTTP/1.1 201 Created\r\nContent-Type: application/json\r\ncontent-length: 7\r\n\r\n{"a":1}'
CHUNKED = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\n{"a"\r\n3;x=y\r\n:1}\r\n0\r\n\r\n'
TRAILED = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\nLater: yes\r\n\r\n'
INTERIM = b"HTTP/1.1 100 Continue\r\n\r\n" + KNOWN


def read(data: bytes, step: int) -> tuple[AnswerReader, Response | None]:
    reader = AnswerReader()
    answers = [reader.feed(data[at : at + step]) for at in range(0, len(data), step)]
    assert not any(answers[:-1]), "complete before its end"
    return reader, answers[-1]


@pytest.mark.parametrize("step", [1, 2, 7, 10_000])
@pytest.mark.parametrize(
    ("data", "status"),
    [(KNOWN, 201), (CHUNKED, 200), (TRAILED, 200), (INTERIM, 201)],
    ids=["known", "chunks", "trailer", "interim"],
)
def test_an_answer_is_the_same_however_it_is_cut(data: bytes, status: int, step: int) -> None:
    reader, answer = read(data, step)
    assert answer is not None
    assert (answer.status, answer.body) == (status, b'{"a":1}')
    assert reader.keeps_alive


def test_headers_are_found_however_they_are_written() -> None:
    _, answer = read(b"HTTP/1.1 429 Too Many Requests\r\nRETRY-AFTER:  3 \r\nContent-Length: 0\r\n\r\n", 100)
    assert answer is not None
    assert (answer.headers["Retry-After"], answer.headers.get("retry-after"), answer.headers.get("Date")) == (
        "3",
        "3",
        None,
    )


@pytest.mark.parametrize("status", [204, 304])
def test_some_answers_have_no_body(status: int) -> None:
    reader, answer = read(f"HTTP/1.1 {status} X\r\nContent-Type: text/plain\r\n\r\n".encode(), 100)
    assert answer == Response(status, answer.headers if answer else {}, b"")
    assert reader.keeps_alive


def test_an_answer_of_unknown_length_ends_with_its_connection() -> None:
    reader, answer = read(b"HTTP/1.1 200 OK\r\n\r\nabc", 100)
    assert answer is None
    assert not reader.keeps_alive
    ended = reader.end()
    assert ended is not None
    assert ended.body == b"abc"


@pytest.mark.parametrize("data", [b"", KNOWN[:10], KNOWN[:-1], CHUNKED[:-2]])
def test_an_answer_that_is_cut_off_is_none(data: bytes) -> None:
    reader = AnswerReader()
    assert reader.feed(data) is None
    assert reader.end() is None


def test_a_chunk_may_be_as_large_as_the_answer_and_come_in_any_number_of_pieces() -> None:
    """Go servers write an answer of any size as one chunk."""
    reader = AnswerReader()
    size, step = 1_000_000, 10_000
    reader.feed(f"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{size:x}\r\n".encode())
    for at in range(0, size, step):
        assert reader.feed(b"x" * step) is None, at
    answer = reader.feed(b"\r\n0\r\n\r\n")
    assert answer is not None
    assert answer.body == b"x" * size


@given(st.data())
def test_chunks_of_any_size_cut_anywhere_are_what_was_said(data: st.DataObject) -> None:
    chunks = data.draw(st.lists(st.binary(min_size=1, max_size=40), max_size=5))
    body = b"".join(b"%x\r\n%b\r\n" % (len(chunk), chunk) for chunk in chunks) + b"0\r\n\r\n"
    whole = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + body
    cuts = sorted(data.draw(st.lists(st.integers(0, len(whole)), max_size=8)))
    reader = AnswerReader()
    answers = [
        reader.feed(whole[start:end]) for start, end in zip([0, *cuts], [*cuts, len(whole)], strict=True) if start < end
    ]
    assert not any(answers[:-1])
    assert answers[-1] is not None
    assert answers[-1].body == b"".join(chunks)


@pytest.mark.parametrize(
    "head",
    [
        b"HTTP/1.0 200 OK",
        b"HTTP/1.1 200 OK\r\nConnection: close",
        b"HTTP/1.1 200 OK\r\nConnection: Keep-Alive, Close",
        b"HTTP/1.1 200 OK\r\nConnection: close\r\nConnection: X",
    ],
)
def test_some_servers_want_a_new_connection_each_time(head: bytes) -> None:
    reader, answer = read(head + b"\r\nContent-Length: 1\r\n\r\nx", 100)
    assert answer is not None
    assert not reader.keeps_alive


@pytest.mark.parametrize(
    ("data", "complaint"),
    [
        (b"SSH-2.0-x\r\n\r\n", "not an HTTP answer"),
        (b"HTTP/1.1 abc\r\n\r\n", "not an HTTP answer"),
        (b"HTTP/2 200\r\n\r\n", "not an HTTP answer"),
        (b"HTTP/1.1 200 OK\r\nno colon\r\n\r\n", "Invalid header"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "Content-Length"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nxy", "longer than it said"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", "chunk size"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", "not an HTTP answer"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + b"1" * (MAX_HEAD_BYTES + 1), "Chunk size overflow"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", "transfer encoding"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxy", "Content-Length"),
        (CHUNKED + b"HTTP/1.1", "longer than it said"),
        (b"HTTP/1.1 200 OK\r\nX: " + b"x" * MAX_HEAD_BYTES, "bytes of headers"),
        (b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n", "not an HTTP answer"),
    ],
)
def test_what_is_no_answer_is_refused(data: bytes, complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        AnswerReader().feed(data)


def test_nothing_of_an_answer_waits_for_the_garbage_collector() -> None:
    """Thousands of binds a second are answered, and the collector is told to look seldom."""
    gc.collect()
    gc.disable()
    try:
        answers = 1000
        for _ in range(answers):
            assert AnswerReader().feed(KNOWN) is not None
        assert gc.collect() < answers  # other threads of the process may leave a few
    finally:
        gc.enable()


@given(st.data())
def test_a_damaged_answer_is_refused_or_read_as_something_else_and_never_breaks_the_reader(data: st.DataObject) -> None:
    damaged = bytearray(data.draw(st.sampled_from([KNOWN, CHUNKED, TRAILED, INTERIM])))
    for at in data.draw(st.lists(st.integers(0, len(damaged) - 1), min_size=1, max_size=4)):
        damaged[at] = data.draw(st.integers(0, 255))
    step = data.draw(st.integers(1, len(damaged)))
    reader = AnswerReader()
    try:
        for at in range(0, len(damaged), step):
            reader.feed(bytes(damaged[at : at + step]))
    except ValueError:
        return
    ended = reader.end()
    assert ended is None or isinstance(ended.body, bytes)
