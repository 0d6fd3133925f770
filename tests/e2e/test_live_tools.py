"""``bayplan snapshot`` and ``bayplan explain`` on a live cluster: they read it, and agree with each other."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from pathlib import Path

import pytest
import yaml

from bayplan.cli.main import main
from tests.e2e.replicas import Replicas
from tests.e2e.test_walk import deployment
from tests.support.control_plane import ControlPlane
from tests.support.live import Cluster, node_manifest, until
from tests.support.regions import controllers
from tests.support.same_rack import PLUGIN

pytestmark = pytest.mark.kube

Bayplan = Callable[..., tuple[int, str, str]]


@pytest.fixture
def bayplan(capsys: pytest.CaptureFixture[str]) -> Bayplan:
    """Run a command: exit code, stdout, stderr.  In this process, since a new one takes a second to start."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(arguments)
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return run


@pytest.fixture
async def shop(cluster: Cluster) -> Cluster:
    """Two nodes, a pod on one of them, one that would fit and one that would not, and things to keep quiet about."""
    for name in ("n1", "n2"):
        await cluster.create(node_manifest(name))
    await cluster.pod("there", cpu="3")
    await cluster.bind("there", "n1")
    secretive = {"name": "c", "image": "web:1", "env": [{"name": "PASSWORD", "value": "hunter2"}]}
    await cluster.pod("fits", containers=[secretive], metadata={"annotations": {"note": "hunter2"}})
    await cluster.pod("big", cpu="8")
    selector = {"matchLabels": {"app": "shop"}}
    budget = {"minAvailable": 1, "selector": selector}
    metadata = {"name": "shop", "namespace": cluster.namespace}
    await cluster.create(
        {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": metadata, "spec": budget}
    )
    return cluster


@pytest.mark.parametrize(
    ("pod", "code", "verdict"), [("there", 0, "Bound"), ("fits", 0, "Schedulable"), ("big", 1, "Unschedulable")]
)
def test_a_snapshot_gives_the_same_explanation_as_the_live_cluster(
    pod: str, code: int, verdict: str, shop: Cluster, bayplan: Bayplan, tmp_path: Path
) -> None:
    kubeconfig = f"--kubeconfig={shop.plane.kubeconfig()}"
    file = str(tmp_path / "snapshot.yaml")
    assert bayplan("snapshot", "-o", file, kubeconfig) == (0, "", "")

    live = bayplan("explain", "pod", pod, "-n", shop.namespace, "-o", "json", kubeconfig)
    stored = bayplan("explain", f"pod/{pod}", "-n", shop.namespace, "-o", "json", "-f", file)

    assert live == stored
    assert (live[0], json.loads(live[1])["verdict"], live[2]) == (code, verdict, "")


def test_a_snapshot_can_be_simulated_and_tells_no_secrets(shop: Cluster, bayplan: Bayplan, tmp_path: Path) -> None:
    kubeconfig = f"--kubeconfig={shop.plane.kubeconfig()}"
    code, text, _ = bayplan("snapshot", "-o", "json", kubeconfig)
    assert code == 0
    assert "hunter2" not in text
    kept = bayplan("snapshot", "--annotation", "note", kubeconfig)[1]
    assert "hunter2" in kept
    assert yaml.safe_load(kept)["kind"] == "List"

    (tmp_path / "snapshot.json").write_text(text)
    code, printed, _ = bayplan("simulate", "-f", str(tmp_path / "snapshot.json"), "-o", "json")
    found = {pod["name"]: pod for pod in json.loads(printed)["pods"] if pod["namespace"] == shop.namespace}
    assert code == 1
    assert {name: (pod["state"], pod["node"]) for name, pod in found.items()} == {
        "there": ("Bound", "n1"),
        "fits": ("Bound", "n2"),
        "big": ("Pending", None),
    }


@pytest.mark.parametrize(
    ("cpu", "code", "summary"),
    [("1", 0, {"pods": 3, "schedulable": 3}), ("8", 1, {"pods": 3, "unschedulable": 3})],
)
async def test_a_deployment_is_explained_with_the_pods_that_it_has(
    cpu: str, code: int, summary: dict[str, int], shop: Cluster, bayplan: Bayplan, tmp_path: Path
) -> None:
    explain = ("explain", "deployment/web", "-n", shop.namespace, "-o", "json")
    kubeconfig = f"--kubeconfig={shop.plane.kubeconfig()}"
    await shop.create(deployment("web", shop.namespace, 3, "bayplan", cpu))
    none_yet = f'error: there is no Deployment "web" with pods in namespace "{shop.namespace}"\n'
    assert await asyncio.to_thread(bayplan, *explain, kubeconfig) == (2, "", none_yet)

    async with controllers(shop.plane):
        await until(lambda: pods_of(shop, "web", 3), "the pods of the Deployment")
    live = await asyncio.to_thread(bayplan, *explain, kubeconfig)
    told = json.loads(live[1])
    assert (live[0], live[2], told["kind"], told["summary"]) == (code, "", "WorkloadExplanation", summary)

    file = str(tmp_path / "snapshot.yaml")
    await asyncio.to_thread(bayplan, "snapshot", "-o", file, kubeconfig)
    assert await asyncio.to_thread(bayplan, *explain, "-f", file) == live


async def pods_of(cluster: Cluster, app: str, number: int) -> bool:
    return sum(each["metadata"].get("labels", {}).get("app") == app for each in await cluster.list()) == number


@pytest.fixture
async def picky(shop: Cluster) -> tuple[str, ...]:
    """A pod that may run nowhere, which only a plugin of one's own knows; how to explain it with that."""
    await shop.pod("picky", metadata={"annotations": {"example.com/rack": "r9"}})
    return ("explain", "pod", "picky", "-n", shop.namespace, f"--plugin={PLUGIN}")


async def test_with_a_plugin_of_ones_own_explain_says_what_the_live_scheduler_says(
    shop: Cluster, picky: tuple[str, ...], replicas: Replicas, bayplan: Bayplan
) -> None:
    kubeconfig = f"--kubeconfig={shop.plane.kubeconfig()}"
    code, printed, complaints = await asyncio.to_thread(bayplan, *picky, "-o", "json", kubeconfig)
    assert (code, complaints) == (1, "")

    replicas.start(picky[-1])
    condition = await shop.unschedulable("picky", timeout_s=20.0)
    assert "2 node(s) were in another rack" in condition["message"]
    assert json.loads(printed)["message"] == condition["message"]


def test_a_snapshot_says_which_annotations_are_left_out(
    shop: Cluster, picky: tuple[str, ...], bayplan: Bayplan, tmp_path: Path
) -> None:
    file, kubeconfig = str(tmp_path / "snapshot.yaml"), f"--kubeconfig={shop.plane.kubeconfig()}"
    live = bayplan(*picky, kubeconfig)

    bayplan("snapshot", "-o", file, kubeconfig)
    assert Path(file).read_text().startswith("# What bayplan snapshot saw of a cluster")
    code, _, complaint = bayplan(*picky, "-f", file)
    assert code == 0
    assert "this snapshot is without the annotations example.com/rack, note, which SameRack may read" in complaint

    bayplan("snapshot", "-o", file, "--annotation", "example.com/rack", kubeconfig)
    assert bayplan(*picky, "-f", file)[:2] == live[:2]
    bayplan("snapshot", "-o", file, "--annotation", "*", kubeconfig)
    assert bayplan(*picky, "-f", file) == live


PACKING = Path(__file__).resolve().parents[2] / "examples" / "13-what-if" / "packing.yaml"


@pytest.mark.parametrize(("options", "both"), [((), ("n2", "n1")), (("--afresh",), None)])
def test_configurations_are_compared_on_a_live_cluster_as_on_its_snapshot(
    options: tuple[str, ...], both: tuple[str, str] | None, shop: Cluster, bayplan: Bayplan, tmp_path: Path
) -> None:
    kubeconfig, file = f"--kubeconfig={shop.plane.kubeconfig()}", str(tmp_path / "snapshot.yaml")
    before = shop.api.list("Pod", shop.namespace)
    snapshot = yaml.safe_load(bayplan("snapshot", kubeconfig)[1])
    # Of what other tests left, a file would have controllers make pods again; in a live cluster there are none.
    own = [each for each in snapshot["items"] if each["metadata"].get("namespace", shop.namespace) == shop.namespace]
    Path(file).write_text(yaml.safe_dump({**snapshot, "items": own}))
    config = yaml.safe_load(PACKING.read_text())
    config["profiles"][0]["schedulerName"] = "bayplan"
    (tmp_path / "packing.yaml").write_text(yaml.safe_dump(config))
    asked = (
        "compare",
        "--config",
        str(tmp_path / "packing.yaml"),
        *options,
        "--now=2026-01-31T10:00:00Z",
        "-o",
        "json",
    )
    live = bayplan(*asked, kubeconfig)
    stored = bayplan(*asked, "-f", file)

    assert live == stored
    document = json.loads(live[1])
    assert (document["kind"], live[2]) == ("Comparison", "")
    assert [each["pending"] for each in document["runs"]] == [1, 1]
    if both is not None:
        (differing,) = document["differ"]
        names = [each["name"] for each in document["runs"]]
        assert (live[0], differing["name"], *(differing[name] for name in names)) == (1, "fits", *both)
    assert shop.api.list("Pod", shop.namespace) == before
    assert shop.api.list("Event", shop.namespace) == []


def test_reading_changes_nothing(shop: Cluster, bayplan: Bayplan) -> None:
    before = shop.api.list("Pod", shop.namespace)
    bayplan("snapshot", f"--kubeconfig={shop.plane.kubeconfig()}")
    bayplan("explain", "pod", "big", "-n", shop.namespace, f"--kubeconfig={shop.plane.kubeconfig()}")

    assert shop.api.list("Pod", shop.namespace) == before
    assert shop.api.list("Event", shop.namespace) == []


def test_kinds_that_may_not_be_read_are_named_and_left_out(shop: Cluster, bayplan: Bayplan) -> None:
    """With the permissions of somebody who may see nodes and pods, and nothing else."""
    rules = [{"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list"]}]
    subject = {"kind": "User", "name": "nobody", "apiGroup": "rbac.authorization.k8s.io"}
    reference = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "looker"}
    common = {"apiVersion": "rbac.authorization.k8s.io/v1", "metadata": {"name": "looker"}}
    shop.api.create({**common, "kind": "ClusterRole", "rules": rules})
    shop.api.create({**common, "kind": "ClusterRoleBinding", "subjects": [subject], "roleRef": reference})
    try:
        kubeconfig = f"--kubeconfig={shop.plane.kubeconfig('nobody')}"
        code, printed, complaints = bayplan("explain", "pod", "big", "-n", shop.namespace, kubeconfig)
    finally:
        shop.api.delete("ClusterRoleBinding", "looker")
        shop.api.delete("ClusterRole", "looker")

    assert code == 1
    assert "0/2 nodes are available: 2 Insufficient cpu" in printed
    assert all(line.startswith("warning: ") and "are left out" in line for line in complaints.splitlines())
    assert "persistentvolumeclaims" in complaints


def test_without_permission_for_pods_there_is_nothing_to_say(plane: ControlPlane, bayplan: Bayplan) -> None:
    code, printed, complaints = bayplan("snapshot", f"--kubeconfig={plane.kubeconfig('nobody')}")

    assert (code, printed) == (2, "")
    assert "error: GET /api/v1/" in complaints
    assert "Forbidden" in complaints
