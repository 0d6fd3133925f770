"""The kinds of Open Cluster Management on the control plane of the tests, a bound set, and nothing left over."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.app.placement.hub import GROUP, KINDS, NAMESPACE, is_served
from tests.support.api import Api
from tests.support.control_plane import ControlPlane


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[Api]:
    found = control_plane.api()
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


@pytest.fixture(autouse=True)
def clean(request: pytest.FixtureRequest) -> Iterator[None]:
    if request.node.get_closest_marker("kube") is None:
        yield
        return
    api: Api = request.getfixturevalue("api")
    yield
    for kind, namespace in (("Placement", NAMESPACE), ("PlacementDecision", NAMESPACE), ("ManagedCluster", None)):
        for one in api.list(kind, namespace):
            api.delete(kind, one["metadata"]["name"], namespace)


@pytest.fixture
def granted(api: Api) -> Iterator[str]:
    """A user who may do what the installed role says and nothing else."""
    group = "rbac.authorization.k8s.io"
    documents = list(yaml.safe_load_all(manifests("placement")))
    (role,) = (each for each in documents if each["kind"] == "ClusterRole")
    name = role["metadata"]["name"]
    api.create(role)
    api.create(
        {
            "apiVersion": f"{group}/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": group, "kind": "ClusterRole", "name": name},
            "subjects": [{"apiGroup": group, "kind": "User", "name": "nobody"}],
        }
    )
    yield "nobody"
    api.delete("ClusterRoleBinding", name)
    api.delete("ClusterRole", name)
