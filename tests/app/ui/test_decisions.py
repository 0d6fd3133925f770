"""A pod's attempts, asked of its scheduler: over HTTPS, with a certificate that is checked."""

from __future__ import annotations

import ssl
from collections.abc import AsyncIterator
from pathlib import Path

import msgspec
import pytest
from aiohttp import web

from bayplan.app.shell.certificates import self_signed
from bayplan.app.ui.decisions import Decisions
from bayplan.errors import InputError

TOLD = {"at": "2026-01-31T10:00:00Z", "result": "unschedulable", "node": None, "message": "no room"}


@pytest.fixture
async def scheduler(tmp_path: Path) -> AsyncIterator[tuple[str, list[web.Request]]]:
    """Tells one decision to whoever has the right token."""
    certificate, key = self_signed()
    (tmp_path / "tls.crt").write_bytes(certificate)
    (tmp_path / "tls.key").write_bytes(key)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    asked: list[web.Request] = []

    async def answer(request: web.Request) -> web.Response:
        asked.append(request)
        if request.headers.get("Authorization") != "Bearer ours":
            return web.Response(status=403)
        return web.Response(body=msgspec.json.encode({"decisions": [{**TOLD, "reasons": [], "attempt": 3}]}))

    app = web.Application()
    app.add_routes([web.get("/decisions", answer)])
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    yield f"https://127.0.0.1:{runner.addresses[0][1]}", asked
    await runner.cleanup()


async def attempts(url: str, token: str, ca: str | None, *, insecure: bool = False) -> list[object]:
    decisions = Decisions(url, lambda: {"Authorization": f"Bearer {token}"}, ca, insecure)
    try:
        return list(await decisions.attempts("shop/web-0"))
    finally:
        await decisions.close()


async def test_attempts_are_asked_for_one_pod_with_our_own_token(
    scheduler: tuple[str, list[web.Request]], tmp_path: Path
) -> None:
    url, asked = scheduler
    assert await attempts(url, "ours", str(tmp_path / "tls.crt")) == [TOLD]
    assert asked[0].query["pod"] == "shop/web-0"
    assert await attempts(url, "ours", None, insecure=True) == [TOLD]


async def test_a_scheduler_that_does_not_tell_leaves_the_attempts_empty(
    scheduler: tuple[str, list[web.Request]], tmp_path: Path
) -> None:
    url, asked = scheduler
    assert await attempts(url, "others", str(tmp_path / "tls.crt")) == []
    del asked[:]
    assert await attempts(url, "ours", None) == [], "its certificate is unknown"
    assert asked == [], "so it got no token"


def test_what_is_no_address_or_certificate_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="--scheduler"):
        Decisions("http://127.0.0.1:1", dict, None, insecure=False)
    with pytest.raises(InputError, match="--scheduler-ca"):
        Decisions("https://127.0.0.1:1", dict, str(tmp_path / "none"), insecure=False)
