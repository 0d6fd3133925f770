"""The placement controller on the real API server: objects of Open Cluster Management in, PlacementDecisions out."""

from __future__ import annotations

import asyncio
import json
import ssl

import aiohttp
import pytest

from bayplan.app.shell.http_server import Authorizer
from bayplan.app.shell.process import health_server
from bayplan.objects.third_party.placement import ManagedCluster, Placement
from bayplan.placement.cluster_plugin import ClusterScorePlugin
from bayplan.placement.own_plugins import OwnPlugins
from tests.app.placement.hub import (
    GROUP,
    NAMESPACE,
    add_cluster,
    add_placement,
    condition,
    decided,
    deciding,
    eventually,
    spread,
)
from tests.support.api import Api, ApiError, Object
from tests.support.control_plane import ControlPlane
from tests.support.live import client_of, close

pytestmark = pytest.mark.kube


async def test_a_placement_is_decided_with_the_published_labels_and_conditions(
    api: Api, control_plane: ControlPlane
) -> None:
    for name, region in (("eu-1", "eu"), ("eu-2", "eu"), ("us-1", "us")):
        add_cluster(api, name, region)
    async with deciding(control_plane):
        add_placement(api, **spread(2))
        await eventually(lambda: decided(api) == ["eu-1", "us-1"], "two clusters")
        await eventually(lambda: condition(api, "PlacementSatisfied").get("status") == "True", "the condition")
        (page,) = api.list("PlacementDecision", NAMESPACE)
        placement = api.get("Placement", "web", NAMESPACE)
        assert page["metadata"]["name"] == "web-decision-1"
        assert page["metadata"]["labels"] == {
            f"{GROUP}/placement": "web",
            f"{GROUP}/decision-group-index": "0",
            f"{GROUP}/decision-group-name": "",
        }
        (owner,) = page["metadata"]["ownerReferences"]
        assert (owner["kind"], owner["uid"], owner["controller"]) == ("Placement", placement["metadata"]["uid"], True)
        assert placement["status"]["numberOfSelectedClusters"] == 2
        assert placement["status"]["decisionGroups"] == [
            {
                "decisionGroupIndex": 0,
                "decisionGroupName": "",
                "decisions": ["web-decision-1"],
                "clusterCount": 2,
            }
        ]
        assert condition(api, "PlacementMisconfigured")["reason"] == "Succeedconfigured"


async def test_explanations_are_for_those_who_may_read_the_placement(api: Api, control_plane: ControlPlane) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, numberOfClusters=1)
    context = ssl.create_default_context()
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    client, _ = client_of(control_plane.kubeconfig())
    async with deciding(control_plane) as live:
        await eventually(lambda: decided(api) == ["eu-1"], "one cluster")
        server = health_server(live, None, Authorizer(client))
        await server.start(0, host="127.0.0.1")
        try:
            async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(ssl=context)) as session:

                async def ask(name: str, token: str) -> tuple[int, str]:
                    url = f"https://127.0.0.1:{server.port}/placements/{NAMESPACE}/{name}"
                    async with session.get(url, headers={"Authorization": f"Bearer {token}"}) as answer:
                        return answer.status, await answer.text()

                tokens = control_plane.tokens
                assert (await ask("web", "made-up"))[0] == 401
                assert (await ask("web", tokens["nobody"]))[0] == 403
                assert (await ask("other", tokens["admin"]))[0] == 404
                status, text = await ask("web", tokens["admin"])
                assert status == 200
                assert [each["clusterName"] for each in json.loads(text)["decisions"]] == ["eu-1"]
        finally:
            await server.close()
            await close(client)


async def test_the_installed_role_is_enough(api: Api, control_plane: ControlPlane, granted: str) -> None:
    for name in ("a", "b", "c"):
        add_cluster(api, name, "eu")
    add_placement(api, numberOfClusters=3, decisionStrategy={"groupStrategy": {"clustersPerDecisionGroup": 1}})
    async with deciding(control_plane, granted):
        await eventually(lambda: len(api.list("PlacementDecision", NAMESPACE)) == 3, "three pages")
        api.patch("Placement", "web", {"spec": {"numberOfClusters": 1}}, NAMESPACE)
        await eventually(lambda: len(api.list("PlacementDecision", NAMESPACE)) == 1, "one page")
        await eventually(lambda: condition(api, "PlacementSatisfied").get("status") == "True", "the condition")


async def test_an_unreachable_cluster_leaves_and_another_takes_its_place(api: Api, control_plane: ControlPlane) -> None:
    for name, region in (("eu-1", "eu"), ("eu-2", "eu"), ("us-1", "us")):
        add_cluster(api, name, region)
    add_placement(api, **spread(2))
    async with deciding(control_plane):
        await eventually(lambda: decided(api) == ["eu-1", "us-1"], "two clusters")
        taint = {"key": f"{GROUP}/unreachable", "effect": "NoSelect", "timeAdded": "2026-01-01T00:00:00Z"}
        api.patch("ManagedCluster", "eu-1", {"spec": {"taints": [taint]}})
        await eventually(lambda: decided(api) == ["eu-2", "us-1"], "eu-2 instead of eu-1")


async def test_a_mistake_keeps_what_was_decided_and_says_why(api: Api, control_plane: ControlPlane) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, numberOfClusters=1)
    async with deciding(control_plane):
        await eventually(lambda: decided(api) == ["eu-1"], "one cluster")
        wrong = [{"topologyKey": "a", "topologyKeyType": "Label"}] * 2
        api.patch("Placement", "web", {"spec": {"spreadPolicy": {"spreadConstraints": wrong}}}, NAMESPACE)
        await eventually(lambda: condition(api, "PlacementMisconfigured").get("status") == "True", "the condition")
        assert '"a" is there already' in condition(api, "PlacementMisconfigured")["message"]
        assert decided(api) == ["eu-1"]


async def test_a_decision_that_somebody_spoils_is_written_again_and_a_restart_writes_nothing(
    api: Api, control_plane: ControlPlane
) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, numberOfClusters=1)
    async with deciding(control_plane):
        await eventually(lambda: decided(api) == ["eu-1"], "one cluster")
        api.patch("PlacementDecision", "web-decision-1", {"status": {"decisions": []}}, NAMESPACE, "status")
        await eventually(lambda: decided(api) == ["eu-1"], "the cluster to be there again")
        await eventually(lambda: condition(api, "PlacementSatisfied").get("status") == "True", "the condition")
    before = [each["metadata"]["resourceVersion"] for each in api.list("PlacementDecision", NAMESPACE)]
    before.append(api.get("Placement", "web", NAMESPACE)["metadata"]["resourceVersion"])
    async with deciding(control_plane):
        await asyncio.sleep(0.5)
    after = [each["metadata"]["resourceVersion"] for each in api.list("PlacementDecision", NAMESPACE)]
    after.append(api.get("Placement", "web", NAMESPACE)["metadata"]["resourceVersion"])
    assert after == before


async def test_a_decision_without_its_label_and_owner_gets_them_back(api: Api, control_plane: ControlPlane) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, numberOfClusters=1)

    def owned() -> bool:
        (page,) = api.list("PlacementDecision", NAMESPACE)
        labels, owners = page["metadata"].get("labels", {}), page["metadata"].get("ownerReferences", [])
        return labels.get(f"{GROUP}/placement") == "web" and [each["name"] for each in owners] == ["web"]

    async with deciding(control_plane):
        await eventually(lambda: decided(api) == ["eu-1"], "one cluster")
        for edit in (
            {"labels": {f"{GROUP}/placement": "other"}},
            {"ownerReferences": None},
            {"labels": None, "ownerReferences": None},
        ):
            api.patch("PlacementDecision", "web-decision-1", {"metadata": edit}, NAMESPACE)
            await eventually(owned, f"{edit} to be put right")
        api.delete("PlacementDecision", "web-decision-1", NAMESPACE)
        await eventually(lambda: decided(api) == ["eu-1"], "the page to be there again")
        await eventually(owned, "with its owner")


async def test_a_decision_that_exists_before_its_placement_is_taken_over(api: Api, control_plane: ControlPlane) -> None:
    for name in ("eu-1", "eu-2"):
        add_cluster(api, name, "eu")
    meta = {"name": "web-decision-1", "namespace": NAMESPACE, "labels": {f"{GROUP}/placement": "web"}}
    api.create({"apiVersion": f"{GROUP}/v1beta1", "kind": "PlacementDecision", "metadata": meta})
    decisions = {"decisions": [{"clusterName": "eu-2", "reason": ""}]}
    api.patch("PlacementDecision", "web-decision-1", {"status": decisions}, NAMESPACE, "status")
    add_placement(api, numberOfClusters=1)
    async with deciding(control_plane):
        await eventually(lambda: condition(api, "PlacementSatisfied").get("status") == "True", "the condition")
        assert decided(api) == ["eu-2"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        (
            {"spreadPolicy": {"spreadConstraints": [{"topologyKey": "a", "topologyKeyType": "Label"}] * 2}},
            '"a" is there',
        ),
        ({"predicates": [{"requiredClusterSelector": {"celSelector": {"celExpressions": ["1 +"]}}}]}, "Syntax error"),
        (
            {"predicates": [{"requiredClusterSelector": {"labelSelector": {"matchLabels": {"a": "b c"}}}}]},
            '"b c" is not a label value',
        ),
        (
            {"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"builtIn": "Best"}}]}},
            '"Best" is not possible',
        ),
    ],
)
async def test_mistakes_that_the_schema_lets_through(
    api: Api, control_plane: ControlPlane, spec: Object, told: str
) -> None:
    add_cluster(api, "eu-1", "eu")
    add_placement(api, numberOfClusters=1)
    async with deciding(control_plane):
        await eventually(lambda: decided(api) == ["eu-1"], "one cluster")
        api.patch("Placement", "web", {"spec": spec}, NAMESPACE)
        await eventually(lambda: told in condition(api, "PlacementMisconfigured").get("message", ""), told)
        assert decided(api) == ["eu-1"]


@pytest.mark.parametrize(
    ("spec", "told"),
    [
        ({"spreadPolicy": {"spreadConstraints": [{"topologyKey": "a", "topologyKeyType": "Label"}] * 9}}, "8 items"),
        ({"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {}, "weight": 11}]}}, "weight"),
        ({"tolerations": [{"effect": "NoSchedule"}]}, "effect"),
        ({"numberOfClusters": -1}, "numberOfClusters"),
        ({"prioritizerPolicy": {"mode": "Best"}}, "mode"),
        ({"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {"builtIn": ""}}]}}, "builtIn"),
        ({"prioritizerPolicy": {"configurations": [{"scoreCoordinate": {}}]}}, "it names no score"),
        ({"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": "0%"}}}, "clustersPerDecisionGroup"),
        ({"decisionStrategy": {"groupStrategy": {"clustersPerDecisionGroup": 0}}}, "clustersPerDecisionGroup"),
        ({"tolerations": [{"value": "x"}]}, "an empty key stands for all taints"),
        ({"spreadPolicy": {"spreadConstraints": [{"topologyKey": "a"}]}}, "topologyKeyType"),
    ],
)
def test_mistakes_that_the_schema_refuses(api: Api, spec: Object, told: str) -> None:
    with pytest.raises(ApiError, match=told):
        add_placement(api, **spec)


class ByRegion(ClusterScorePlugin):
    """Regions from the end of the alphabet first."""

    name = "ByRegion"

    def score(self, cluster: ManagedCluster, placement: Placement) -> int:
        return 100 if cluster.labels.get("region") == "us" else 0


async def test_a_hub_takes_scores_of_ones_own(api: Api, control_plane: ControlPlane) -> None:
    for name, region in (("a-eu", "eu"), ("b-us", "us")):
        add_cluster(api, name, region)
    policy = {"mode": "Exact", "configurations": [{"scoreCoordinate": {"builtIn": "ByRegion"}, "weight": 3}]}
    add_placement(api, numberOfClusters=1, prioritizerPolicy=policy)
    async with deciding(control_plane, plugins=OwnPlugins([ByRegion])):
        await eventually(lambda: decided(api) == ["b-us"], "the cluster that the plugin prefers")


def test_a_binding_has_the_name_of_its_set(api: Api) -> None:
    binding = {"kind": "ManagedClusterSetBinding", "metadata": {"name": "some", "namespace": NAMESPACE}}
    with pytest.raises(ApiError, match="a binding has the name of its set"):
        api.create({"apiVersion": f"{GROUP}/v1beta2", **binding, "spec": {"clusterSet": "all"}})


def test_what_is_not_read_here_is_kept(api: Api) -> None:
    spec = {"hubAcceptsClient": True, "managedClusterClientConfigs": [{"url": "https://x", "caBundle": "eA=="}]}
    api.create({"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": {"name": "far"}, "spec": spec})
    status = {
        "version": {"kubernetes": "v1.36.4"},
        "managedNamespaces": [{"name": "x"}],
        "conditions": [{"type": "Joined", "status": "True", "more": "x"}],
    }
    api.patch("ManagedCluster", "far", {"status": status}, subresource="status")
    held = api.get("ManagedCluster", "far")
    assert held["spec"] == {**spec, "leaseDurationSeconds": 60}
    assert held["status"] == status


async def test_a_selection_that_a_new_region_makes_uneven_is_said_and_kept(
    api: Api, control_plane: ControlPlane
) -> None:
    for name in ("eu-1", "eu-2", "us-1", "us-2"):
        add_cluster(api, name, name[:2])
    async with deciding(control_plane):
        add_placement(api, **spread(4))
        await eventually(lambda: len(decided(api)) == 4, "four clusters")
        add_cluster(api, "ap-1", "ap")
        told = "region has skew 2, more than its maxSkew 1: clusters that are chosen stay while maxMoves is 0"
        await eventually(lambda: told in condition(api, "PlacementSatisfied").get("message", ""), "the skew told")
        assert condition(api, "PlacementSatisfied")["status"] == "True"
        assert decided(api) == ["eu-1", "eu-2", "us-1", "us-2"]


async def test_fewer_clusters_than_there_are_is_said_without_a_number(api: Api, control_plane: ControlPlane) -> None:
    for name in ("eu-1", "eu-2", "eu-3", "us-1"):
        add_cluster(api, name, name[:2])
    wanted = spread(4)
    del wanted["numberOfClusters"]
    async with deciding(control_plane):
        add_placement(api, **wanted)
        told = "the spread policy allows at most 3 of 4 clusters, as region us is full"
        await eventually(lambda: condition(api, "PlacementSatisfied").get("message") == told, "the message")
