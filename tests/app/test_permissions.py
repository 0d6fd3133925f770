"""Credentials and permissions that change or are missing, with the API server's own authentication and RBAC."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import structlog
import yaml

from bayplan.kube import informer
from tests.support.api import Object
from tests.support.faults import Answer, Hold
from tests.support.live import Cluster, running, until
from tests.support.witness import Witness

pytestmark = pytest.mark.kube

READ = ["get", "list", "watch"]
RULES: list[dict[str, Any]] = [
    {
        "apiGroups": ["resource.k8s.io"],
        "resources": ["resourceclaims", "resourceslices", "deviceclasses", "devicetaintrules"],
        "verbs": ["get", "list", "watch"],
    },
    {
        "apiGroups": [""],
        "resources": ["namespaces", "nodes", "services", "replicationcontrollers"],
        "verbs": READ,
    },
    {"apiGroups": [""], "resources": ["persistentvolumes", "persistentvolumeclaims"], "verbs": READ},
    {"apiGroups": [""], "resources": ["pods"], "verbs": [*READ, "delete"]},
    {"apiGroups": [""], "resources": ["pods/binding"], "verbs": ["create"]},
    {"apiGroups": [""], "resources": ["pods/status"], "verbs": ["patch"]},
    {"apiGroups": ["apps"], "resources": ["*"], "verbs": READ},
    {"apiGroups": ["storage.k8s.io"], "resources": ["*"], "verbs": READ},
    {"apiGroups": ["events.k8s.io"], "resources": ["events"], "verbs": ["create", "patch"]},
]
BUDGETS = {"apiGroups": ["policy"], "resources": ["poddisruptionbudgets"], "verbs": READ}


@pytest.fixture
async def role(cluster: Cluster) -> AsyncIterator[Object]:
    """The user "nobody" may do what a scheduler needs, but not read disruption budgets."""
    group = "rbac.authorization.k8s.io"
    named = {"apiVersion": f"{group}/v1", "metadata": {"name": "test-scheduler"}}
    made = await cluster.create(named | {"kind": "ClusterRole", "rules": RULES})
    reference = {"apiGroup": group, "kind": "ClusterRole", "name": "test-scheduler"}
    subject = {"apiGroup": group, "kind": "User", "name": "nobody"}
    await cluster.create(named | {"kind": "ClusterRoleBinding", "roleRef": reference, "subjects": [subject]})
    yield made
    for kind in ("ClusterRoleBinding", "ClusterRole"):
        await asyncio.to_thread(cluster.api.delete, kind, "test-scheduler")


async def test_a_missing_rule_is_named_and_the_rest_goes_on(
    cluster: Cluster, role: Object, witness: Witness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(informer, "REFUSED_BACKOFF_S", 0.3)
    await cluster.node()
    with structlog.testing.capture_logs() as logs:
        async with running(cluster.plane, kubeconfig=cluster.plane.kubeconfig("nobody")) as run:
            await cluster.pod("p1")
            await cluster.bound("p1")
            await cluster.event("p1", "Scheduled")
            (refusal,) = run.live.refusals()
            await asyncio.sleep(1.0)
            assert 'bayplan_unreadable_kinds{kind="PodDisruptionBudget"} 1.0' in run.live.render_metrics().decode()
            # Granted, it is used without a restart.
            await asyncio.to_thread(cluster.api.patch, "ClusterRole", "test-scheduler", {"rules": [*RULES, BUDGETS]})
            await until(lambda: not run.live.refusals(), "the kind to be readable")
    assert 'cannot list resource "poddisruptionbudgets"' in refusal
    assert (
        'add to the ClusterRole: apiGroups: ["policy"], resources: ["poddisruptionbudgets"], verbs: ["list", "watch"]'
        in refusal
    )
    told = [line for line in logs if line["event"] == "kind not readable"]
    assert [line["kind"] for line in told] == ["PodDisruptionBudget"], "once, not at every try"


async def test_without_the_right_to_read_pods_it_does_not_start_and_says_so(cluster: Cluster, role: Object) -> None:
    rules = [rule for rule in RULES if rule["resources"] != ["pods"]]
    await asyncio.to_thread(cluster.api.patch, "ClusterRole", "test-scheduler", {"rules": [*rules, BUDGETS]})
    async with running(cluster.plane, kubeconfig=cluster.plane.kubeconfig("nobody"), wait=False) as run:
        (refusal,) = await until(lambda: run.live.refusals(), "a refusal")
        await asyncio.sleep(0.2)
        assert not run.live.is_synced()
        assert not run.live.is_working()
    assert 'resources: ["pods"]' in refusal


async def test_a_missing_right_to_bind_reaches_the_pod(cluster: Cluster, role: Object, witness: Witness) -> None:
    rules = [rule for rule in RULES if rule["resources"] != ["pods/binding"]]
    await asyncio.to_thread(cluster.api.patch, "ClusterRole", "test-scheduler", {"rules": [*rules, BUDGETS]})
    await cluster.node()
    async with running(cluster.plane, kubeconfig=cluster.plane.kubeconfig("nobody")):
        await cluster.pod()
        condition = await cluster.unschedulable()
        assert condition["reason"] == "SchedulerError"
        assert 'cannot create resource "pods/binding"' in condition["message"]
        await asyncio.to_thread(cluster.api.patch, "ClusterRole", "test-scheduler", {"rules": [*RULES, BUDGETS]})
        await cluster.bound()


@pytest.mark.parametrize("place", ["tokenFile", "kubeconfig"])
async def test_a_rotated_token_is_read_anew(cluster: Cluster, witness: Witness, tmp_path: Path, place: str) -> None:
    await cluster.node()
    token, kubeconfig = tmp_path / "token", tmp_path / "kubeconfig"
    document = yaml.safe_load(cluster.plane.kubeconfig().read_text())

    def rotate(to: str) -> None:
        user = {"tokenFile": str(token)} if place == "tokenFile" else {"token": to}
        document["users"][0]["user"] = user
        token.write_text(to + "\n")
        kubeconfig.write_text(yaml.safe_dump(document))

    rotate("stale")
    async with running(cluster.plane, kubeconfig=kubeconfig, wait=False) as run:
        await until(lambda: run.faults.count("GET", "/pods$") >= 2, "the stale token to be refused")
        assert not run.live.is_synced()
        rotate(cluster.plane.tokens["admin"])
        await run.scheduling()
        await cluster.pod()
        await cluster.bound()


async def test_many_requests_refused_at_once_read_the_token_once(cluster: Cluster, witness: Witness) -> None:
    await cluster.node()
    async with running(cluster.plane) as run:
        credentials = run.live._recorder._client._credentials
        reads = 0
        reload = credentials.reload

        def counting() -> None:
            nonlocal reads
            reads += 1
            reload()

        # Of this one object, in the middle of the test: there is nothing to undo afterwards.
        credentials.reload = counting  # type: ignore[method-assign]
        hold = Hold(then=Answer(401, "who are you?"))
        refused = run.faults.on("POST", "/binding$", hold, times=5)
        await cluster.pods(5)
        await until(lambda: refused.hits == 5, "all binds to be under way")
        hold.go.set()
        await cluster.all_bound(5)
    assert refused.hits == 5
    assert 1 <= reads <= 2
    assert await cluster.events("p1", "FailedScheduling") == []
