"""The kinds of Open Cluster Management on the control plane of the tests, a bound set, and nothing left over."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import yaml

from bayplan.app.install_manifests import manifests
from tests.app.placement.hub import NAMESPACE, hub
from tests.support.api import Api
from tests.support.control_plane import ControlPlane


@pytest.fixture(scope="module")
def api(control_plane: ControlPlane) -> Iterator[Api]:
    with hub(control_plane) as found:
        yield found


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
