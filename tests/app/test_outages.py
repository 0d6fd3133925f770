"""The API server goes away and comes back: restarted, down for a while, with a store that forgot the past.

These tests stop a real API server, so they have one of their own.
"""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest
import trustme
import yaml

from tests.support.binaries import binaries_or_skip
from tests.support.faults import Answer
from tests.support.live import Cluster, knows_the_cluster, running, until
from tests.support.restarting import RestartablePlane
from tests.support.witness import Witness

pytestmark = [pytest.mark.kube, pytest.mark.slow]

OUTAGE_S = 10.0


CLIENT_CA = trustme.CA()


@pytest.fixture(scope="module")
def plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RestartablePlane]:
    ca = tmp_path_factory.mktemp("client-ca") / "ca.crt"
    ca.write_bytes(CLIENT_CA.cert_pem.bytes())
    with RestartablePlane(binaries_or_skip(), extra_flags=(f"--client-ca-file={ca}",)) as started:
        yield started


@pytest.fixture
async def cluster(plane: RestartablePlane) -> Cluster:
    made = Cluster(plane)
    await made.start()
    return made


@pytest.fixture
async def witness(cluster: Cluster) -> AsyncIterator[Witness]:
    async with Witness(cluster.plane) as watching:
        yield watching
        await watching.judge()


async def test_an_api_server_that_restarts_with_a_compacted_store_and_new_tokens_is_followed_on(
    plane: RestartablePlane, cluster: Cluster, witness: Witness, tmp_path: Path
) -> None:
    """Its memory of the past is gone, so old watches get 410: everything is listed again, and compared."""
    await cluster.node("n1", cpu="1")
    await cluster.node("n2", cpu="1", unschedulable=True)
    token, kubeconfig = tmp_path / "token", tmp_path / "kubeconfig"
    token.write_text(plane.tokens["controller-manager"])
    document = yaml.safe_load(plane.kubeconfig("controller-manager").read_text())
    document["users"][0]["user"] = {"tokenFile": str(token)}
    kubeconfig.write_text(yaml.safe_dump(document))
    async with running(plane, kubeconfig=kubeconfig) as run:
        await cluster.pod("p1", cpu="800m")
        await cluster.bound("p1")
        pods = next(one for one in run.live.informers if one.kind.name == "Pod")
        # While its watches are refused, the world moves on and the store forgets how it was.
        run.faults.on("WATCH", "", Answer(503, "starting up"))
        run.faults.end_streams("")
        await cluster.delete("p1")
        await cluster.delete("n2", "Node")
        await cluster.pod("p2", cpu="800m")
        await asyncio.to_thread(plane.compact)
        await asyncio.to_thread(plane.stop_apiserver, grace_s=0.0)
        plane.tokens["controller-manager"] = secrets.token_hex(16)
        await asyncio.to_thread(plane.start_apiserver)
        token.write_text(plane.tokens["controller-manager"])
        lists = pods.lists
        run.faults.clear()
        assert await cluster.bound("p2", timeout_s=20) == "n1"
        await knows_the_cluster(run, cluster)
        assert pods.lists > lists, "it was told 410 and listed again"


async def test_an_api_server_that_is_down_for_a_while_is_waited_for(
    plane: RestartablePlane, cluster: Cluster, witness: Witness
) -> None:
    """It goes in the middle of a burst of binds, and comes back to pods that waited and pods that are new."""
    await cluster.nodes(3)
    async with running(plane) as run:
        await cluster.pod("picky", nodeSelector={"disk": "ssd"})
        await cluster.unschedulable("picky")
        await cluster.pods(40)
        await until(lambda: run.faults.count("POST", "/binding$") >= 10, "binds to be under way")
        await asyncio.to_thread(plane.stop_apiserver, grace_s=0.0)
        await asyncio.sleep(OUTAGE_S)
        assert not run.task.done(), "it stays alive"
        await asyncio.to_thread(plane.start_apiserver)
        await cluster.pods(5, prefix="after")
        await cluster.node("ssd")
        label = {"metadata": {"labels": {"disk": "ssd"}}}
        await asyncio.to_thread(cluster.api.patch, "Node", "ssd", label)
        await cluster.all_bound(46, timeout_s=20)
        assert await cluster.bound("picky") == "ssd"
        await knows_the_cluster(run, cluster)


async def test_a_client_certificate_is_as_good_as_a_token(
    plane: RestartablePlane, cluster: Cluster, witness: Witness, tmp_path: Path
) -> None:
    issued = CLIENT_CA.issue_cert("someone.example.com", common_name="someone", organization_name="system:masters")
    (tmp_path / "me.crt").write_bytes(issued.cert_chain_pems[0].bytes())
    (tmp_path / "me.key").write_bytes(issued.private_key_pem.bytes())
    document = yaml.safe_load(plane.kubeconfig().read_text())
    document["users"][0]["user"] = {"client-certificate": "me.crt", "client-key": "me.key"}
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump(document))
    await cluster.node()
    async with running(plane, kubeconfig=kubeconfig):
        await cluster.pod()
        await cluster.bound()
