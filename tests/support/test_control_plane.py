"""The control plane of tests is a real one: it authenticates, authorises, issues tokens and runs controllers."""

from __future__ import annotations

import re
import subprocess
from base64 import b64decode

import pytest

from tests.support.api import ApiError
from tests.support.binaries import find_binaries
from tests.support.control_plane import ControlPlane, new_ec_key

pytestmark = pytest.mark.kube


def test_a_key_is_a_der_sequence_of_the_length_it_states() -> None:
    der = b64decode(re.sub("-----.*-----", "", new_ec_key()))
    assert (der[0], der[1], len(der)) == (0x30, 49, 51)


def test_it_serves_the_version_it_was_built_from(control_plane: ControlPlane) -> None:
    version = control_plane.api().call("GET", "/version")
    assert version["gitVersion"] == find_binaries().folder.name


def test_admin_may_and_nobody_may_not(control_plane: ControlPlane) -> None:
    assert control_plane.api("admin").find("Namespace", "kube-system") is not None
    with pytest.raises(ApiError) as refused:
        control_plane.api("nobody").list("Node")
    assert refused.value.code == 403


def test_kubectl_accepts_the_kubeconfig(control_plane: ControlPlane) -> None:
    kubectl = [str(find_binaries().path("kubectl")), f"--kubeconfig={control_plane.kubeconfig()}"]
    asked = subprocess.run([*kubectl, "get", "namespaces", "-o", "name"], capture_output=True, text=True, check=True)
    assert "namespace/default" in asked.stdout.split()


def test_it_issues_tokens_for_service_accounts(control_plane: ControlPlane) -> None:
    api = control_plane.api()
    typed = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot", "namespace": "default"}}
    api.create(typed)
    try:
        path = "/api/v1/namespaces/default/serviceaccounts/robot/token"
        request = {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}}
        token = api.call("POST", path, request)["status"]["token"]
        assert token.count(".") == 2
    finally:
        api.delete("ServiceAccount", "robot", "default")


@pytest.mark.slow
def test_controllers_make_pods_and_the_scheduler_binds_them() -> None:
    labels = {"app": "web"}
    spec = {
        "selector": {"matchLabels": labels},
        "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "c", "image": "web:1"}]}},
    }
    deployment = {"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web", "namespace": "default"}}
    sizes = {"allocatable": {"cpu": "4", "memory": "8Gi", "pods": "10"}}
    with ControlPlane() as plane:
        api = plane.api()
        api.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}, "status": sizes})
        plane.start_controller_manager("deployment-controller,replicaset-controller")
        plane.start_kube_scheduler(verbosity=2)
        api.create(deployment | {"spec": spec})
        bound = api.wait_for(
            lambda: [one for one in api.list("Pod", "default") if one["spec"].get("nodeName")] or None,
            timeout_s=30,
            described="a pod of the deployment on a node",
        )
    assert [one["spec"]["nodeName"] for one in bound] == ["n1"]
    assert not plane.folder.exists()
