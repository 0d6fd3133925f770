"""The page's server: what it answers, what it refuses, and what every answer carries."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest

from bayplan.app.ui.feed import Feed
from bayplan.app.ui.server import HEADERS, UiServer, host_of, is_loopback, static_files
from tests.app.ui.support import CLUSTER, simulated

HOSTILE = "<script>alert(1)</script>"
PATHS = (
    "/", "/page.js", "/style.css", "/healthz", "/readyz", "/metrics", "/api/hello", "/api/view", "/api/search?q=web",
    "/api/node/n1", "/api/pod/default/big", "/api/node/none", "/api/pod/default/none", "/nothing", "/../../etc/passwd",
)  # fmt: skip


@asynccontextmanager
async def serving(text: str = CLUSTER) -> AsyncIterator[aiohttp.ClientSession]:
    source = simulated(text)
    server = UiServer(source, Feed(source))
    await server.start("127.0.0.1", 0)
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{server.port}") as session:
            yield session
    finally:
        await server.close()


@pytest.mark.parametrize("method", ["GET", "HEAD"])
async def test_every_answer_has_the_policy_and_no_cookie(method: str) -> None:
    async with serving() as session:
        for path in PATHS:
            async with session.request(method, path) as answer:
                for name, value in HEADERS.items():
                    assert answer.headers[name] == value, path
                assert "Set-Cookie" not in answer.headers
                assert answer.status == (404 if "none" in path or "nothing" in path or "etc" in path else 200), path


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_nothing_but_reading_is_answered(method: str) -> None:
    async with serving() as session:
        for path in PATHS:
            async with session.request(method, path) as answer:
                assert (answer.status, answer.headers["Allow"]) == (405, "GET, HEAD")


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost:1", 200),
        ("LOCALHOST", 200),
        ("127.0.0.1", 200),
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost.evil.example:80", 421),
        ("0.0.0.0", 421),
    ],
)
async def test_other_names_than_this_machines_are_refused(host: str, status: int) -> None:
    async with serving() as session, session.get("/api/view", headers={"Host": host}) as answer:
        assert answer.status == status
        assert ("web-" in await answer.text()) == (status == 200)


async def test_the_stream_begins_with_the_view_that_is_served() -> None:
    async with serving() as session:
        view = await (await session.get("/api/view")).json()
        async with session.get("/api/stream") as answer:
            assert answer.headers["Content-Type"] == "application/x-ndjson"
            assert answer.headers["Content-Security-Policy"] == HEADERS["Content-Security-Policy"]
            assert f'"title":"{view["title"]}"'.encode() in (await answer.content.readline())[:200]


async def test_hostile_texts_are_text_and_cut() -> None:
    """Names that the API server would refuse can still be in files; annotations may say anything."""
    long = "x" * 100_000
    pod = f"""\
---
apiVersion: v1
kind: Pod
metadata:
  name: hostile
  annotations: {{note: "{HOSTILE}{long}"}}
spec:
  schedulerName: "{HOSTILE}"
  containers: [{{name: main, image: web}}]
"""
    async with serving(CLUSTER + pod) as session, session.get("/api/view") as answer:
        assert answer.headers["Content-Type"] == "application/json"
        assert long not in await answer.text()
        view: dict[str, Any] = await answer.json()
    assert HOSTILE in view["clusters"][0]["strings"]


def test_only_what_the_page_is_made_of_is_served() -> None:
    found = static_files()
    assert {"index.html", "page.js", "style.css"} <= found.keys()
    assert {name.rpartition(".")[2] for name in found} <= {"html", "css", "js", "svg"}


def test_what_only_this_machine_can_reach() -> None:
    assert [is_loopback(each) for each in ("127.0.0.1", "::1", "localhost", "127.9.9.9")] == [True] * 4
    assert [is_loopback(each) for each in ("0.0.0.0", "::", "10.0.0.1", "example.com", "")] == [False] * 5
    assert [host_of(each) for each in ("a:80", "[::1]:80", "", "A.b")] == ["a", "::1", "", "a.b"]
