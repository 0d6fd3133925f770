"""Which certificates are good: those that kubectl takes, with every Python."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml
from aiohttp import web

from bayplan.kube.auth import Credentials
from bayplan.kube.tls import TlsFiles, checking_context, client_context
from bayplan.kube.transport import Endpoint, HttpTransport
from tests.support.certificates import Authority

HOST = "server.test"


@pytest.fixture(autouse=True)
def strict(monkeypatch: pytest.MonkeyPatch) -> None:
    """As Python 3.13 and later make contexts, whatever runs the test."""
    make = ssl.create_default_context

    def strictly(*args: object, **named: object) -> ssl.SSLContext:
        context = make(*args, **named)  # type: ignore[arg-type]
        context.verify_flags |= ssl.VERIFY_X509_STRICT
        return context

    monkeypatch.setattr(ssl, "create_default_context", strictly)


def of_kubeconfig(ca: Path) -> ssl.SSLContext | None:
    cluster = {"server": "https://server.test", "certificate-authority": str(ca)}
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "c", "cluster": cluster}],
        "users": [{"name": "u", "user": {"token": "t"}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
    }
    path = ca.with_name("kubeconfig")
    path.write_text(yaml.safe_dump(document))
    return Credentials(str(path)).endpoint().ssl


contexts = pytest.mark.parametrize(
    "make",
    [
        of_kubeconfig,
        lambda ca: client_context(TlsFiles(ca_file=str(ca)), insecure=False),
        lambda ca: client_context(TlsFiles(ca_data=ca.read_bytes()), insecure=False),
    ],
    ids=["kubeconfig", "file", "data"],
)
methods = pytest.mark.parametrize("method", ["GET", "POST"], ids=["library", "connections"])
Make = Callable[[Path], ssl.SSLContext]


async def answered(context: ssl.SSLContext, cert: Path, key: Path, method: str) -> int:
    """The status of an answer from a server with this certificate."""
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(cert, key)

    async def answer(request: web.BaseRequest) -> web.Response:
        return web.Response()

    runner = web.ServerRunner(web.Server(answer))
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=serving).start()
    transport = HttpTransport(Endpoint(f"https://127.0.0.1:{runner.addresses[0][1]}", context, HOST))
    try:
        return (await transport.request(method, "/")).status
    finally:
        await transport.close()
        await runner.cleanup()


@contexts
@methods
async def test_a_ca_without_key_identifiers_is_good_enough(tmp_path: Path, make: Make, method: str) -> None:
    """As kubeadm makes them."""
    authority = Authority(identified=False)
    assert await answered(make(authority.ca_file(tmp_path)), *authority.files(tmp_path, HOST), method) == 200


@contexts
@methods
async def test_a_ca_that_another_one_signed_is_good_enough(tmp_path: Path, make: Make, method: str) -> None:
    authority = Authority(signed_by=Authority())
    assert await answered(make(authority.ca_file(tmp_path)), *authority.files(tmp_path, HOST), method) == 200


def test_the_cas_of_the_machine_are_judged_alike() -> None:
    flags = checking_context().verify_flags
    assert not flags & ssl.VERIFY_X509_STRICT
    assert flags & ssl.VERIFY_X509_PARTIAL_CHAIN
    assert checking_context().verify_mode == ssl.CERT_REQUIRED
