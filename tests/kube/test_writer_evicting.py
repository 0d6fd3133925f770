"""Evictions: what a disruption budget refuses is told at once, everything else is as patient as other writes."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest

from bayplan.errors import EvictionRefusedError, LeadershipLostError, ServerError
from bayplan.kube import writer as writer_module
from bayplan.kube.writer import ApiWriter
from bayplan.objects.pod import Pod
from bayplan.testing import pod
from tests.kube.scripted import Answer, ScriptedTransport, client_on, does_not_lead, error, said
from tests.support.live import Cluster, client_of, close

pytestmark = pytest.mark.virtual_time

WEB = pod("web").namespace("ns").uid("u1").build()
TWO_BUDGETS = "This pod has more than one PodDisruptionBudget, which the eviction subresource does not support."


def refusal(cause: str) -> Answer:
    return said(
        429, {"message": "Cannot evict", "details": {"causes": [{"reason": "DisruptionBudget", "message": cause}]}}
    )


def on(*answers: Answer, **settings: Any) -> tuple[ApiWriter, ScriptedTransport]:
    transport = ScriptedTransport(list(answers))
    return ApiWriter(client_on(transport), **settings), transport


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer_module, "FIRST_WAIT_S", 0.01)
    monkeypatch.setattr(writer_module, "MAX_WAIT_S", 0.02)


@pytest.mark.parametrize("answer", [said(201), error(404), error(409)])
async def test_an_eviction_is_done_when_the_pod_is_gone_whoever_did_it(answer: Answer) -> None:
    writer, transport = on(answer)
    await writer.evict(WEB)
    (request,) = transport.requests
    assert request.path == "/api/v1/namespaces/ns/pods/web/eviction"
    assert request.body is not None
    assert request.body["deleteOptions"] == {"preconditions": {"uid": "u1"}}


async def test_what_a_budget_refuses_is_asked_once_and_told_in_the_budgets_words() -> None:
    writer, transport = on(refusal("The disruption budget b needs 2 healthy pods and has 2 currently"))
    with pytest.raises(EvictionRefusedError, match="b needs 2 healthy pods"):
        await writer.evict(WEB)
    assert len(transport.requests) == 1


async def test_two_budgets_for_one_pod_are_a_refusal_too() -> None:
    writer, transport = on(said(500, {"message": TWO_BUDGETS}))
    with pytest.raises(EvictionRefusedError, match="more than one PodDisruptionBudget"):
        await writer.evict(WEB)
    assert len(transport.requests) == 1


async def test_a_busy_server_is_waited_for() -> None:
    writer, transport = on(error(429), error(500), said(201))
    await writer.evict(WEB)
    assert len(transport.requests) == 3


async def test_a_server_that_stays_broken_is_given_up() -> None:
    writer, _ = on(error(500))
    with pytest.raises(ServerError):
        await writer.evict(WEB)


async def test_who_may_not_write_does_not_evict() -> None:
    writer, transport = on(said(201), check_lead=does_not_lead)
    with pytest.raises(LeadershipLostError):
        await writer.evict(WEB)
    assert transport.requests == []


# -- real --


@pytest.fixture
async def real(cluster: Cluster) -> AsyncIterator[ApiWriter]:
    client, _ = client_of(cluster.plane.kubeconfig())
    yield ApiWriter(client)
    await close(client)


async def running_pod(cluster: Cluster, real: ApiWriter, name: str) -> Pod:
    made = msgspec.convert(await cluster.pod(name, metadata={"labels": {"app": "web"}}), Pod)
    await real.bind(made, "n1")
    await real.patch_pod_status(made, {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
    return made


async def budget(cluster: Cluster, name: str, allowed: int) -> None:
    """A budget as the disruption controller leaves it."""
    made = await cluster.create(
        {
            "apiVersion": "policy/v1",
            "kind": "PodDisruptionBudget",
            "metadata": {"name": name, "namespace": cluster.namespace},
            "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "web"}}},
        }
    )
    status = {
        "observedGeneration": made["metadata"]["generation"],
        "disruptionsAllowed": allowed,
        "currentHealthy": 1 + allowed,
        "desiredHealthy": 1,
        "expectedPods": 1 + allowed,
    }
    cluster.api.patch("PodDisruptionBudget", name, {"status": status}, cluster.namespace, "status")


@pytest.mark.kube
async def test_the_real_api_server_evicts_as_far_as_the_budget_goes(cluster: Cluster, real: ApiWriter) -> None:
    first, second = [await running_pod(cluster, real, name) for name in ("a", "b")]
    await budget(cluster, "web", allowed=1)
    await real.evict(first)
    with pytest.raises(EvictionRefusedError, match="The disruption budget web"):
        await real.evict(second)
    assert (await cluster.get("b"))["metadata"].get("deletionTimestamp") is None
    gone = await cluster.find("a")
    assert gone is None or gone["metadata"]["deletionTimestamp"]


@pytest.mark.kube
async def test_the_real_api_server_refuses_pods_with_two_budgets(cluster: Cluster, real: ApiWriter) -> None:
    covered = await running_pod(cluster, real, "a")
    await budget(cluster, "one", allowed=1)
    await budget(cluster, "two", allowed=1)
    with pytest.raises(EvictionRefusedError, match="more than one PodDisruptionBudget"):
        await real.evict(covered)


@pytest.mark.kube
async def test_the_real_api_server_evicts_no_pod_of_the_same_name(cluster: Cluster, real: ApiWriter) -> None:
    old = await running_pod(cluster, real, "a")
    await cluster.delete("a")
    new = await running_pod(cluster, real, "a")
    await real.evict(old)
    now = await cluster.get("a")
    assert (now["metadata"]["uid"], now["metadata"].get("deletionTimestamp")) == (new.uid, None)
