"""A hub on the real API server for the tests of `app/placement/live.py`: objects in one line each, and a live controller."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from typing import Any

import yaml

from bayplan.app.install_manifests import manifests
from bayplan.app.placement.live import LivePlacement
from bayplan.placement.own_plugins import NONE, OwnPlugins
from tests.support.api import Api, ApiError, Object
from tests.support.control_plane import ControlPlane
from tests.support.faults import FaultyTransport
from tests.support.live import client_of, close, until

GROUP = "cluster.open-cluster-management.io"
NAMESPACE = "placed"
KINDS = ("ManagedCluster", "ManagedClusterSet", "ManagedClusterSetBinding", "AddOnPlacementScore", "Placement")


def is_served(api: Api, kind: str) -> bool:
    try:
        api.list(kind)
    except ApiError as error:
        if error.code != 404:
            raise
        return False
    return True


@contextmanager
def hub(plane: ControlPlane) -> Iterator[Api]:
    """The kinds of Open Cluster Management on a control plane, and a namespace with a bound set."""
    found = plane.api()
    documents = list(yaml.safe_load_all(manifests("placement-crds")))
    for document in documents:
        found.create(document)
    for kind in (*KINDS, "PlacementDecision"):
        found.wait_for(partial(is_served, found, kind), 20, f"{kind} to be served")
    if found.find("Namespace", NAMESPACE) is None:
        found.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}})
    found.create({"apiVersion": f"{GROUP}/v1beta2", "kind": "ManagedClusterSet", "metadata": {"name": "all"}})
    binding = {"kind": "ManagedClusterSetBinding", "metadata": {"name": "all", "namespace": NAMESPACE}}
    found.create({"apiVersion": f"{GROUP}/v1beta2", **binding, "spec": {"clusterSet": "all"}})
    yield found
    for document in documents:
        found.delete(document["kind"], document["metadata"]["name"])


def add_cluster(api: Api, name: str, region: str, taints: list[Object] | None = None) -> None:
    labels = {f"{GROUP}/clusterset": "all", "region": region}
    spec: Object = {"hubAcceptsClient": True, **({"taints": taints} if taints else {})}
    meta = {"name": name, "labels": labels}
    api.create({"apiVersion": f"{GROUP}/v1", "kind": "ManagedCluster", "metadata": meta, "spec": spec})


def add_placement(api: Api, name: str = "web", **spec: Any) -> None:
    meta = {"name": name, "namespace": NAMESPACE}
    api.create({"apiVersion": f"{GROUP}/v1beta1", "kind": "Placement", "metadata": meta, "spec": spec})


def spread(number: int) -> Object:
    constraint = {"topologyKey": "region", "topologyKeyType": "Label", "whenUnsatisfiable": "DoNotSchedule"}
    return {"numberOfClusters": number, "spreadPolicy": {"spreadConstraints": [constraint]}}


def decided(api: Api) -> list[str]:
    pages = api.list("PlacementDecision", NAMESPACE)
    return sorted(each["clusterName"] for page in pages for each in page.get("status", {}).get("decisions", []))


def condition(api: Api, kind: str, name: str = "web") -> Object:
    status = api.get("Placement", name, NAMESPACE).get("status", {})
    return next((each for each in status.get("conditions", []) if each["type"] == kind), {})


async def eventually(ask: Callable[[], Any], described: str) -> None:
    await until(lambda: asyncio.to_thread(ask), described, 15.0)


@asynccontextmanager
async def deciding(
    plane: ControlPlane,
    user: str = "admin",
    trouble: Callable[[FaultyTransport], object] = lambda faults: None,
    plugins: OwnPlugins = NONE,
) -> AsyncIterator[LivePlacement]:
    client, faults = client_of(plane.kubeconfig(user))
    trouble(faults)
    live = LivePlacement(client, plugins=plugins)
    task = asyncio.ensure_future(live.run())
    try:
        await until(live.is_ready, "the controller to have seen everything")
        yield live
        if task.done():
            task.result()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await close(client)
