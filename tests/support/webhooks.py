"""Admission webhooks for tests: the real API server asks them about binds, or about other writes, and waits for the answer."""

from __future__ import annotations

import asyncio
import base64
import inspect
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import trustme
from aiohttp import web

from tests.support.live import Cluster

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NAME = "binds.test.example.com"
BINDS = ("", "CREATE", "pods/binding")
"""API group, operation and resource."""


@asynccontextmanager
async def serving(ca: trustme.CA, denies: Callable[[str], bool | Awaitable[bool]]) -> AsyncIterator[int]:
    """A webhook on a loopback port; ``denies`` is asked with the name of the object."""

    async def review(request: web.Request) -> web.Response:
        asked = (await request.json())["request"]
        said = denies(asked["name"])
        answer = {"uid": asked["uid"], "allowed": not (await said if inspect.isawaitable(said) else said)}
        if not answer["allowed"]:
            answer["status"] = {"message": "not on my watch"}
        return web.json_response({"apiVersion": "admission.k8s.io/v1", "kind": "AdmissionReview", "response": answer})

    app = web.Application()
    app.add_routes([web.post("/", review)])
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    ca.issue_cert("127.0.0.1").configure_cert(context)
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=context).start()
    try:
        yield runner.addresses[0][1]
    finally:
        await runner.cleanup()


@asynccontextmanager
async def registered(
    cluster: Cluster, ca: trustme.CA, port: int, *, about: tuple[str, str, str] = BINDS, timeout_s: int = 2
) -> AsyncIterator[None]:
    """The webhook is asked about every bind in the cluster's namespace, or about other writes."""
    group, operation, resource = about
    rule = {"apiGroups": [group], "apiVersions": ["v1"], "operations": [operation], "resources": [resource]}
    webhook = {
        "name": NAME,
        "rules": [rule],
        "clientConfig": {
            "url": f"https://127.0.0.1:{port}/",
            "caBundle": base64.b64encode(ca.cert_pem.bytes()).decode(),
        },
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}},
        "sideEffects": "None",
        "timeoutSeconds": timeout_s,
        "admissionReviewVersions": ["v1"],
    }
    document = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingWebhookConfiguration",
        "metadata": {"name": cluster.namespace},
        "webhooks": [webhook],
    }
    await asyncio.to_thread(cluster.api.call, "POST", CONFIGURATIONS, document)
    try:
        await asyncio.sleep(0.3)  # the API server reads its own watch
        yield
    finally:
        await asyncio.to_thread(cluster.api.call, "DELETE", f"{CONFIGURATIONS}/{cluster.namespace}")


@dataclass(slots=True)
class Gate:
    """Holds a write that it is asked about until it is opened, which denies it; others go through."""

    after: int = 0
    """How many go through before."""
    reached: asyncio.Event = field(default_factory=asyncio.Event)
    opened: asyncio.Event = field(default_factory=asyncio.Event)

    async def denies(self, name: str) -> bool:
        self.after -= 1
        if self.after >= 0 or self.reached.is_set():
            return False
        self.reached.set()
        await self.opened.wait()
        return True


@asynccontextmanager
async def gated(cluster: Cluster, about: tuple[str, str, str], after: int = 0) -> AsyncIterator[Gate]:
    """A gate before such writes in the cluster's namespace."""
    gate, ca = Gate(after), trustme.CA()
    async with serving(ca, gate.denies) as port, registered(cluster, ca, port, about=about, timeout_s=30):
        try:
            yield gate
        finally:
            gate.opened.set()
