"""Admission webhooks on binds, called by the real API server: one that denies for ever, and one that is gone."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest
import trustme
from aiohttp import web

from tests.support.live import Cluster, running, until
from tests.support.processes import free_ports
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"
NAME = "binds.test.example.com"


@asynccontextmanager
async def serving(ca: trustme.CA, denies: Callable[[str], bool]) -> AsyncIterator[int]:
    """A webhook on a loopback port; ``denies`` is asked with the name of the pod."""

    async def review(request: web.Request) -> web.Response:
        asked = (await request.json())["request"]
        answer = {"uid": asked["uid"], "allowed": not denies(asked["name"])}
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
async def registered(cluster: Cluster, ca: trustme.CA, port: int) -> AsyncIterator[None]:
    """The webhook is asked about every bind in the cluster's namespace."""
    rule = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods/binding"]}
    webhook = {
        "name": NAME,
        "rules": [rule],
        "clientConfig": {
            "url": f"https://127.0.0.1:{port}/",
            "caBundle": base64.b64encode(ca.cert_pem.bytes()).decode(),
        },
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": cluster.namespace}},
        "sideEffects": "None",
        "timeoutSeconds": 2,
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


async def test_a_pod_whose_bind_is_denied_for_ever_backs_off_while_others_go_on(
    cluster: Cluster, witness: Witness
) -> None:
    ca = trustme.CA()
    await cluster.node("n1", cpu="1")
    asked: list[str] = []

    def denies(name: str) -> bool:
        asked.append(name)
        return name == "denied"

    async with serving(ca, denies) as port, registered(cluster, ca, port), running(cluster.plane) as run:
        await cluster.pod("denied", cpu="800m")
        condition = await cluster.unschedulable("denied")
        event = await cluster.event("denied", "FailedScheduling")
        # It must not keep the room that the others need, nor their turn.
        await cluster.pods(3, cpu="300m")
        await asyncio.gather(*(cluster.bound(f"p{number}") for number in (1, 2, 3)))
        await until(lambda: run.live.engine.queue.pending()["backoff"] == 1, "the pod to back off")
    assert asked.count("denied") <= 3
    assert condition["reason"] == "SchedulerError"
    for text in (condition["message"], event["message"]):
        assert f'admission webhook "{NAME}" denied the request: not on my watch' in text


async def test_with_the_webhook_gone_pods_wait_and_are_told_and_bound_once_it_is_back(
    cluster: Cluster, witness: Witness
) -> None:
    ca = trustme.CA()
    await cluster.node()
    (port,) = free_ports(1)
    async with running(cluster.plane):
        async with registered(cluster, ca, port):
            await cluster.pods(3)
            condition = await cluster.unschedulable("p1")
        await cluster.all_bound(3)
    assert f'failed calling webhook "{NAME}"' in condition["message"]
