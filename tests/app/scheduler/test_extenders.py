"""Extenders from the configuration: addresses, TLS in all its forms, proxies, and what informers must keep."""

from __future__ import annotations

import base64
import json
import ssl
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from bayplan.app.scheduler.extenders import endpoint_of, make_extenders, proxy_for
from bayplan.errors import ConfigError, ExtenderError
from bayplan.framework.config.model import Extender
from bayplan.kube.originals import Originals
from bayplan.testing import node, pod
from tests.support.certificates import Authority
from tests.support.extending import ExtenderServer
from tests.support.live import config_of

HTTP = {"urlPrefix": "http://extender.example:8080/api/", "filterVerb": "filter"}


def extender_of(**settings: Any) -> Extender:
    return config_of(extenders=[HTTP | settings]).extenders[0]


def test_settings_reach_the_extender() -> None:
    more = {"prioritizeVerb": "score", "weight": 7, "ignorable": True, "preemptVerb": "p", "bindVerb": "b"}
    (extender,), _ = make_extenders(config_of(extenders=[HTTP | more]))
    assert (extender.name, extender.weight, extender.is_ignorable) == (HTTP["urlPrefix"], 7, True)
    assert (extender.filters, extender.prioritizes, extender.preempts, extender.binds) == (True,) * 4


def test_without_extenders_nothing_is_kept() -> None:
    assert make_extenders(config_of()) == ([], None)


@pytest.mark.parametrize(
    ("settings", "keeps_nodes", "keeps_placed"),
    [
        ({}, True, False),
        ({"nodeCacheCapable": True}, False, False),
        ({"filterVerb": "", "preemptVerb": "p"}, False, True),
        ({"nodeCacheCapable": True, "preemptVerb": "p"}, False, False),
    ],
)
def test_whole_objects_are_kept_only_for_extenders_that_are_shown_them(
    settings: dict[str, Any], keeps_nodes: bool, keeps_placed: bool
) -> None:
    _, originals = make_extenders(config_of(extenders=[HTTP | settings]))
    assert isinstance(originals, Originals)
    placed, made = pod("a").on("n1").build(), node("n1").build()
    for thing in (placed, made):
        originals.keep(thing, json.dumps({"metadata": {"name": thing.name}, "more": 1}).encode())
    assert ("more" in json.loads(originals.node("n1"))) is keeps_nodes
    assert ("more" in json.loads(originals.pod(placed))) is keeps_placed


# -- addresses and proxies --


def test_a_plain_address_has_no_tls_even_with_enable_https() -> None:
    endpoint = endpoint_of(extender_of(enableHTTPS=True))
    assert (endpoint.base_url, endpoint.ssl) == ("http://extender.example:8080/api", None)


def test_an_address_that_is_none_stops_the_start() -> None:
    with pytest.raises(ConfigError) as raised:
        make_extenders(config_of(extenders=[HTTP, HTTP | {"urlPrefix": "extender:8080"}]))
    assert str(raised.value) == (
        'test: extenders[1].urlPrefix: "extender:8080" is not an address; write one such as "http://host:port/path"'
    )


@pytest.mark.parametrize(
    ("url", "proxy"),
    [
        ("http://extender.example/x", "http://proxy:1"),
        ("https://extender.example/x", "http://proxy:2"),
        ("https://free.example:8443/x", None),
        ("http://127.0.0.1:80", None),
        ("http://localhost:80", None),
    ],
)
def test_proxies_come_from_the_environment(monkeypatch: pytest.MonkeyPatch, url: str, proxy: str | None) -> None:
    monkeypatch.setenv("http_proxy", "http://proxy:1")
    monkeypatch.setenv("https_proxy", "http://proxy:2")
    monkeypatch.setenv("no_proxy", "free.example")
    assert proxy_for(url) == proxy


# -- TLS --


@pytest.fixture(scope="module")
def authority() -> Authority:
    return Authority()


@pytest.fixture
def server(authority: Authority, tmp_path: Path) -> Iterator[ExtenderServer]:
    """An extender for the name extender.test alone, that wants to know who asks."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.ca_file(tmp_path)))
    context.load_cert_chain(*authority.files(tmp_path, "extender.test"))
    context.verify_mode = ssl.CERT_OPTIONAL
    with ExtenderServer(context, bind=lambda request: {}) as running:
        yield running


async def call(server: ExtenderServer, **settings: Any) -> None:
    entry = {"urlPrefix": server.url, "bindVerb": "bind", **settings}
    (extender,), _ = make_extenders(config_of(extenders=[entry]))
    try:
        await extender.bind(pod("a").build(), "n1")
    finally:
        await extender.close()


def encoded(path: Path) -> str:
    return base64.b64encode(path.read_bytes()).decode()


async def test_enable_https_without_a_ca_checks_nothing(server: ExtenderServer) -> None:
    await call(server, enableHTTPS=True)
    await call(server, tlsConfig={"insecure": True})


async def test_without_anything_the_certificate_must_be_known_to_the_machine(server: ExtenderServer) -> None:
    with pytest.raises(ExtenderError, match=r"(?i)certificate verify failed"):
        await call(server)


async def test_the_ca_and_the_server_name_are_checked(
    server: ExtenderServer, authority: Authority, tmp_path: Path
) -> None:
    ca = authority.ca_file(tmp_path)
    for given in ({"caFile": str(ca)}, {"caData": encoded(ca)}):
        await call(server, enableHTTPS=True, tlsConfig=given | {"serverName": "extender.test"})
        with pytest.raises(ExtenderError, match=r"(?i)certificate verify failed|mismatch"):
            await call(server, enableHTTPS=True, tlsConfig=given)


@pytest.mark.parametrize("direct", [False, True])
async def test_a_client_certificate_is_shown(authority: Authority, tmp_path: Path, direct: bool) -> None:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=str(authority.ca_file(tmp_path)))
    context.load_cert_chain(*authority.files(tmp_path, "extender.test"))
    context.verify_mode = ssl.CERT_REQUIRED
    cert, key = authority.files(tmp_path, "scheduler")
    if direct:
        tls = {"certData": encoded(cert), "keyData": encoded(key)}
    else:
        tls = {"certFile": str(cert), "keyFile": str(key)}
    with ExtenderServer(context, bind=lambda request: {}) as server:
        await call(server, enableHTTPS=True, tlsConfig=tls)
        with pytest.raises(ExtenderError):
            await call(server, enableHTTPS=True)


@pytest.mark.parametrize(
    ("tls", "text"),
    [
        ({"insecure": True, "caFile": "ca.crt"}, "insecure: checks nothing, so the CA has no use; remove one"),
        ({"certFile": "a.crt"}, "keyFile or keyData: is missing, but certificate and key belong together"),
        ({"keyFile": "a.key"}, "certFile or certData: is missing, but certificate and key belong together"),
        ({"caFile": "no-such-file"}, "caFile: no-such-file: cannot be used as a CA: "),
        ({"caData": "eA=="}, "caData: cannot be used as a CA: "),
        ({"certFile": "no.crt", "keyFile": "no.key"}, "certFile: no.crt: cannot be used as a client certificate: "),
    ],
)
def test_mistakes_in_tls_stop_the_start_with_the_field(tls: dict[str, Any], text: str) -> None:
    entry = {"urlPrefix": "https://x", "tlsConfig": tls}
    with pytest.raises(ConfigError) as raised:
        make_extenders(config_of(extenders=[entry]))
    assert str(raised.value).startswith(f"test: extenders[0].tlsConfig.{text}")
