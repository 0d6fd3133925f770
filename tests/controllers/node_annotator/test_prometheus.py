"""Queries over HTTP: with a token, a password, TLS; and what comes of answers that are none."""

from __future__ import annotations

import asyncio
import json
import math
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from bayplan.controllers.node_annotator.prometheus import PrometheusAccess, PrometheusClient, base_url
from bayplan.errors import ConfigError, MetricsError
from tests.support.certificates import Authority

Handler = Callable[[web.Request], Any]


def vector(*series: tuple[str, str], **more: Any) -> dict[str, Any]:
    result = [{"metric": {"instance": instance}, "value": [1.5, value]} for instance, value in series]
    return {"status": "success", "data": {"resultType": "vector", "result": result}, **more}


@asynccontextmanager
async def served(handle: Handler, context: ssl.SSLContext | None = None) -> AsyncIterator[int]:
    app = web.Application()
    app.router.add_get("/prom/api/v1/query", handle)
    app.router.add_get("/api/v1/query", handle)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context)
    await site.start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@asynccontextmanager
async def asking(address: str, **more: Any) -> AsyncIterator[PrometheusClient]:
    client = PrometheusClient(PrometheusAccess(address=address, **more))
    try:
        yield client
    finally:
        await client.close()


async def problem(handle: Handler, **more: Any) -> str:
    async with served(handle) as port, asking(f"http://127.0.0.1:{port}", **more) as client:
        with pytest.raises(MetricsError) as caught:
            await client.query("cpu")
        return str(caught.value).replace(f"http://127.0.0.1:{port}", "PROM")


async def test_a_query_gives_every_series_and_the_warnings() -> None:
    asked: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        asked.append(request.query["query"])
        return web.json_response(vector(("a", "12.5"), ("b", "NaN"), ("c", "+Inf"), warnings=["one store is down"]))

    async with served(handle) as port, asking(f"127.0.0.1:{port}/prom/") as client:
        answer = await client.query("cpu_usage_avg_5m")

    assert asked == ["cpu_usage_avg_5m"]
    assert [(sample.labels["instance"]) for sample in answer.samples] == ["a", "b", "c"]
    assert answer.samples[0].value == 12.5
    assert math.isnan(answer.samples[1].value)
    assert answer.samples[2].value == float("inf")
    assert answer.warnings == ("one store is down",)


async def test_tokens_and_passwords_are_sent_and_read_again_as_they_change(tmp_path: Path) -> None:
    seen: list[str] = []

    async def handle(request: web.Request) -> web.Response:
        seen.append(request.headers.get("Authorization", ""))
        return web.json_response(vector())

    secret = tmp_path / "secret"
    secret.write_text("first\n")
    async with served(handle) as port:
        async with asking(f"127.0.0.1:{port}", bearer_token_file=str(secret)) as client:
            await client.query("cpu")
            secret.write_text("second")
            await client.query("cpu")
        async with asking(f"127.0.0.1:{port}", username="me", password_file=str(secret)) as client:
            await client.query("cpu")
    assert seen == ["Bearer first", "Bearer second", "Basic bWU6c2Vjb25k"]


async def test_tls_is_checked_against_the_given_ca_and_carries_our_certificate(tmp_path: Path) -> None:
    authority = Authority()
    ca = authority.ca_file(tmp_path)
    cert, key = authority.files(tmp_path, "prometheus.test")
    mine, my_key = authority.files(tmp_path, "annotator.test")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(ca))
    context.load_cert_chain(cert, key)
    context.verify_mode = ssl.CERT_REQUIRED

    async def handle(request: web.Request) -> web.Response:
        return web.json_response(vector(("a", "1")))

    async with served(handle, context) as port:
        address = f"https://127.0.0.1:{port}"
        ours = {"cert_file": str(mine), "key_file": str(my_key)}
        name = {"server_name": "prometheus.test"}
        async with asking(address, ca_file=str(ca), **name, **ours) as client:
            assert len((await client.query("cpu")).samples) == 1
        async with asking(address, insecure=True, **ours) as client:
            assert len((await client.query("cpu")).samples) == 1
        for wrong in ({**name, **ours}, {"ca_file": str(ca), **ours}, {"ca_file": str(ca), **name}):
            # The settings are of several types, and mypy takes them for one.
            async with asking(address, **wrong) as client:  # type: ignore[arg-type]
                with pytest.raises(MetricsError):
                    await client.query("cpu")


async def test_a_rotated_certificate_is_used_without_a_restart(tmp_path: Path) -> None:
    authority, stranger = Authority(), Authority()
    cert, key = authority.files(tmp_path, "prometheus.test")
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(cert, key)

    async def handle(request: web.Request) -> web.Response:
        return web.json_response(vector())

    ca = stranger.ca_file(tmp_path)
    async with (
        served(handle, context) as port,
        asking(f"https://127.0.0.1:{port}", ca_file=str(ca), server_name="prometheus.test") as client,
    ):
        with pytest.raises(MetricsError):
            await client.query("cpu")
        authority.ca_file(tmp_path)
        assert (await client.query("cpu")).samples == []


@pytest.mark.parametrize(
    ("status", "text", "said"),
    [
        (401, "", "PROM: 401: not allowed; check the bearer token or name and password"),
        (
            422,
            json.dumps({"status": "error", "errorType": "execution", "error": "too many samples"}),
            "PROM: 422: execution: too many samples",
        ),
        (503, "no backend", "PROM: answered 503 with what is no answer to a query: no backend"),
        (200, "<html>login</html>", "PROM: answered 200 with what is no answer to a query: <html>login</html>"),
        (200, "{}", "PROM: answered 200 with what is no answer to a query: {}"),
        (
            200,
            json.dumps({"status": "success", "data": {"resultType": "string"}}),
            "PROM: answered with string where a vector was expected",
        ),
        (200, json.dumps(vector(("a", "much"))), "PROM: answered with a value that is no number"),
    ],
)
async def test_an_answer_that_is_none_is_told_in_one_line(status: int, text: str, said: str) -> None:
    async def handle(request: web.Request) -> web.Response:
        return web.Response(status=status, text=text)

    told = await problem(handle)
    assert told.startswith(said)
    assert "\n" not in told


async def test_a_prometheus_that_takes_too_long_is_given_up() -> None:
    async def handle(request: web.Request) -> web.Response:
        await asyncio.sleep(5)
        return web.json_response(vector())

    assert await problem(handle, timeout_s=-0.8) == "PROM: GET /api/v1/query: no answer within 0.2 s"


async def test_a_prometheus_that_is_not_there_is_told_with_its_address() -> None:
    async with asking("http://127.0.0.1:1") as client:
        with pytest.raises(MetricsError, match=r"^http://127\.0\.0\.1:1: GET /api/v1/query: "):
            await client.query("cpu")


@pytest.mark.parametrize(
    ("address", "url"),
    [
        ("prom:9090", "http://prom:9090"),
        ("http://prom:9090/", "http://prom:9090"),
        ("https://prom/prefix/", "https://prom/prefix"),
        ("http://[fd00::1]:9090", "http://[fd00::1]:9090"),
    ],
)
def test_an_address_may_be_written_short(address: str, url: str) -> None:
    assert base_url(address) == url


@pytest.mark.parametrize(
    "address",
    ["", " ", "nonsense", "ftp://prom", "http://", "http://prom:port", "http://prom?a=b", "http://me:pw@prom"],
)
def test_an_address_that_cannot_be_is_refused_by_its_flag(address: str) -> None:
    with pytest.raises(ConfigError, match=r"^--prometheus-address: "):
        base_url(address)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"bearer_token_file": "/no/such"}, "--prometheus-bearer-token-file: /no/such: no such file"),
        ({"username": "me"}, "--prometheus-password-file: is missing, but a name and a password belong together"),
        ({"password_file": "/x"}, "--prometheus-username: is missing, but a name and a password belong together"),
        ({"bearer_token_file": "/x", "username": "me"}, "--prometheus-username: there is a bearer token already"),
        ({"ca_file": "/x"}, "--prometheus-address: http://prom uses no TLS; write https://"),
        ({"address": "https://prom", "ca_file": "/no/such"}, "--prometheus-ca-file: /no/such: cannot be used as a CA"),
        ({"address": "https://prom", "cert_file": "/x"}, "--prometheus-key-file: is missing, but certificate and key"),
        ({"address": "https://prom", "key_file": "/x"}, "--prometheus-cert-file: is missing, but certificate and key"),
        (
            {"address": "https://prom", "cert_file": "/no/such", "key_file": "/no/such"},
            "--prometheus-cert-file: /no/such: cannot be used as a client certificate",
        ),
        (
            {"address": "https://prom", "ca_file": "/x", "insecure": True},
            "--prometheus-insecure-skip-tls-verify: checks nothing, so the CA has no use",
        ),
    ],
)
def test_flags_that_cannot_work_are_refused_by_name(more: dict[str, Any], said: str) -> None:
    with pytest.raises(ConfigError) as caught:
        PrometheusAccess(**{"address": "http://prom", **more}).check()
    assert str(caught.value).startswith(said)
