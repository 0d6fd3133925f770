"""``bayplan explain``: one pod, in words or as a document."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.cli.support import BIG, NODE, POD, Shell, joined


@pytest.fixture
def cluster(shell: Shell) -> str:
    bound = POD.replace("web", "resident").replace("spec:", "spec:\n  nodeName: n1")
    return shell.write("all.yaml", joined(NODE, POD, BIG, bound))


@pytest.mark.parametrize(
    "what",
    [
        ("pod", "web"), ("pod/web",), ("pods", "web"), ("po/web",), ("Pod/web",), ("web",),
        ("default/web",), ("pod", "default/web"), ("pod/default/web",),
    ],
)  # fmt: skip
def test_a_pod_can_be_named_in_all_the_usual_ways(shell: Shell, cluster: str, what: tuple[str, ...]) -> None:
    ended = shell.run("explain", *what, "-f", cluster)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("default/web: Schedulable, it would go to n1")


@pytest.mark.parametrize("what", [("pod",), ("deploy",), ("pod", "a", "b"), ("pod/",), ("/web",), ("a/b/c/d",)])
def test_what_names_neither_pod_nor_workload_is_refused(shell: Shell, cluster: str, what: tuple[str, ...]) -> None:
    ended = shell.run("explain", *what, "-f", cluster)
    assert (ended.code, ended.out) == (2, "")
    assert "does not name a pod or a workload; write pod/NAME, deployment/NAME" in ended.err


def test_two_different_namespaces_are_refused(shell: Shell, cluster: str) -> None:
    ended = shell.run("explain", "default/web", "-n", "shop", "-f", cluster)
    assert (ended.code, ended.err) == (
        2,
        'error: --namespace: "default/web" is in another namespace; leave one of them out\n',
    )


@pytest.mark.parametrize(
    ("name", "code", "verdict"), [("web", 0, "Schedulable"), ("big", 1, "Unschedulable"), ("resident", 0, "Bound")]
)
def test_the_exit_code_follows_the_verdict(shell: Shell, cluster: str, name: str, code: int, verdict: str) -> None:
    ended = shell.run("explain", "pod", name, "-f", cluster, "-o", "json")
    assert ended.code == code
    assert json.loads(ended.out)["verdict"] == verdict


def test_json_and_yaml_are_the_same_document(shell: Shell, cluster: str) -> None:
    as_json, as_yaml = (
        shell.run("explain", "pod", "big", "-f", cluster, "-o", shape).out for shape in ("json", "yaml")
    )
    document = json.loads(as_json)
    assert document == yaml.safe_load(as_yaml)
    assert (document["apiVersion"], document["kind"]) == ("bayplan.io/v1alpha1", "Explanation")


def test_no_such_pod_is_exit_code_2(shell: Shell, cluster: str) -> None:
    ended = shell.run("explain", "pod", "wab", "-f", cluster)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == 'error: there is no pod "wab" in namespace "default"; did you mean "web"?\n'


def test_the_namespace_counts(shell: Shell, cluster: str) -> None:
    ended = shell.run("explain", "pod", "web", "-n", "shop", "-f", cluster)
    assert ended.code == 2
    assert "there is one in default: add -n default" in ended.err


def test_top_says_how_many_nodes_are_shown(shell: Shell) -> None:
    nodes = [NODE.replace("n1", f"n{number}") for number in range(5)]
    path = shell.write("five.yaml", joined(*nodes, POD))
    header = shell.run("explain", "pod", "web", "-f", path, "--top", "2").out.splitlines()[2]
    assert len(header.split()) == 2 + 2


def test_a_configuration_and_a_plugin_are_taken_into_account(shell: Shell, cluster: str) -> None:
    plugin = shell.write(
        "likes.py",
        "from bayplan.framework import ScorePlugin\n\n"
        'class Likes(ScorePlugin):\n    name = "Likes"\n\n'
        "    def score_node(self, state, pod, node):\n        return 100 if node.name == 'n2' else 0\n",
    )
    second = shell.write("second.yaml", NODE.replace("n1", "n2"))
    ended = shell.run("explain", "pod", "web", "-f", cluster, "-f", second, "--plugin", f"{plugin}:Likes", "-o", "json")
    best = json.loads(ended.out)["nodes"][0]
    assert best["name"] == "n2"
    assert best["scores"]["Likes"]["weighted"] == 100


# -- workloads --

TEMPLATE = """\
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      restartPolicy: Always
      containers:
      - {name: main, image: app, resources: {requests: {cpu: CPU}}}
"""


def workload(kind: str, name: str, cpu: str, replicas: int, namespace: str = "shop") -> str:
    size = "" if kind == "DaemonSet" else f"  replicas: {replicas}\n"
    if kind == "Job":
        size = f"  parallelism: {replicas}\n"
    api = "batch/v1" if kind == "Job" else "apps/v1"
    spec = TEMPLATE.replace("NAME", name).replace("CPU", f'"{cpu}"')
    if kind == "Job":
        spec = "".join(spec.splitlines(keepends=True)[1:]).replace("Always", "Never")
    meta = f"metadata: {{name: {name}, namespace: {namespace}}}"
    return f"apiVersion: {api}\nkind: {kind}\n{meta}\nspec:\n{size}{spec}"


@pytest.fixture
def shop(shell: Shell) -> str:
    nodes = [NODE, NODE.replace("n1", "n2")]
    kinds = [
        ("Deployment", "web"), ("StatefulSet", "db"), ("DaemonSet", "agent"), ("Job", "sum"), ("ReplicaSet", "old"),
    ]  # fmt: skip
    workloads = [workload(kind, name, "1", 2) for kind, name in kinds]
    return shell.write("shop.yaml", joined(*nodes, *workloads, workload("Deployment", "huge", "9", 3)))


@pytest.mark.parametrize(
    ("what", "kind", "pods"),
    [
        (("deployment/web",), "Deployment", 2),
        (("deploy", "web"), "Deployment", 2),
        (("deployments.apps/web",), "Deployment", 2),
        (("deployment", "shop/web"), "Deployment", 2),
        (("sts/db",), "StatefulSet", 1),
        (("statefulsets/db",), "StatefulSet", 1),
        (("ds/agent",), "DaemonSet", 2),
        (("job/sum",), "Job", 2),
        (("rs/old",), "ReplicaSet", 2),
    ],
)
def test_a_workload_is_explained_by_its_pods(
    shell: Shell, shop: str, what: tuple[str, ...], kind: str, pods: int
) -> None:
    ended = shell.run("explain", *what, "-n", "shop", "-f", shop, "-o", "json")
    document = json.loads(ended.out)
    assert ended.code == 0
    assert (document["kind"], document["workload"]["kind"]) == ("WorkloadExplanation", kind)
    assert document["summary"] == {"pods": pods, "schedulable": pods}
    assert sum(len(group["pods"]) for group in document["groups"]) == pods


def test_pods_that_fare_alike_are_told_once_and_those_in_need_first(shell: Shell) -> None:
    """Three replicas run, of which two on one node, and two find no room."""
    owner = "ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: web-abc, uid: u, controller: true}]"
    meta = f"metadata: {{name: web-NUMBER, labels: {{app: web, pod-template-hash: abc}}, {owner}}}"
    pod = BIG.replace("metadata: {name: big}", meta)
    pods = [pod.replace("NUMBER", str(number)) for number in range(5)]
    for number, node in enumerate(("n1", "n1", "n2")):
        pods[number] = pods[number].replace("spec:", f"spec:\n  nodeName: {node}")
    path = shell.write("all.yaml", joined(NODE, NODE.replace("n1", "n2"), *pods))

    ended = shell.run("explain", "deployment/web", "-f", path, "-o", "json")
    groups = json.loads(ended.out)["groups"]
    assert ended.code == 1
    assert [(group["explanation"]["verdict"], group["explanation"]["node"], group["pods"]) for group in groups] == [
        ("Unschedulable", None, ["web-3", "web-4"]),
        ("Bound", "n1", ["web-0", "web-1"]),
        ("Bound", "n2", ["web-2"]),
    ]
    text = shell.run("explain", "deployment/web", "-f", path).out
    assert text.startswith("Deployment default/web: 5 pods: 2 unschedulable, 3 bound\n")
    assert text.count("default/web-3 and 1 more: Unschedulable: 0/2 nodes are available") == 1


def test_names_of_workloads_go_before_pods_of_other_namespaces(shell: Shell) -> None:
    path = shell.write("all.yaml", joined(NODE, POD, workload("Deployment", "web", "1", 2)))
    for what, said in (
        ("shop/web", "; there is a Deployment of that name: write deployment/web\n"),
        ("deplyment/web", '; did you mean "deployment/web"?\n'),
        ("elsewhere/web", "; there is one in default: add -n default\n"),
    ):
        ended = shell.run("explain", what, "-f", path)
        assert (ended.code, ended.err.endswith(said)) == (2, True), ended


def test_pods_for_which_a_plugin_fails_alike_are_told_once(shell: Shell, shop: str) -> None:
    raising = "from bayplan.framework import FilterPlugin\n\n\nclass Raises(FilterPlugin):\n    name = 'Raises'\n\n"
    raising += "    def filter_node(self, state, pod, node):\n        raise ValueError('boom')\n"
    plugin = shell.write("raises.py", raising)
    ended = shell.run("explain", "deploy/web", "-n", "shop", "-f", shop, "--plugin", f"{plugin}:Raises", "-o", "json")
    assert ended.code == 2
    assert [len(group["pods"]) for group in json.loads(ended.out)["groups"]] == [2]


def test_a_virtual_machine_is_found_by_way_of_its_instance(shell: Shell) -> None:
    owner = "[{apiVersion: kubevirt.io/v1, kind: KIND, name: NAME, uid: u, controller: true}]"
    instance = (
        "apiVersion: kubevirt.io/v1\nkind: VirtualMachineInstance\n"
        f"metadata: {{name: one-run, ownerReferences: {owner}}}\n"
    )
    launcher = POD.replace("name: web", f"name: virt-launcher-one, ownerReferences: {owner}").replace(
        "KIND", "VirtualMachineInstance"
    )
    instance = instance.replace("KIND", "VirtualMachine").replace("NAME", "one")
    path = shell.write("vm.yaml", joined(NODE, instance, launcher.replace("NAME", "one-run")))
    for what in ("vm/one", "virtualmachine/one", "vmi/one-run"):
        ended = shell.run("explain", what, "-f", path)
        assert (ended.code, "virt-launcher-one: Schedulable" in ended.out) == (0, True), ended


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("deploy/wbe", "-n", "shop"),
            'there is no Deployment "wbe" with pods in namespace "shop"; did you mean "web"?',
        ),
        (
            ("deploy/web",),
            'there is no Deployment "web" with pods in namespace "default"; there is one in shop: add -n shop',
        ),
        (("sts/web", "-n", "shop"), "; there is a Deployment of that name: write deployment/web"),
        (("pod/web", "-n", "shop"), "; there is a Deployment of that name: write deployment/web"),
        (("shop/web",), "; there is a Deployment of that name: write deployment/web"),
        (("deploymnt/web", "-n", "deploymnt"), '; did you mean "deployment/web"?'),
        (("node/n1",), "; node is neither a pod nor a workload: write pod/NAME, deployment/NAME or another workload"),
        (("configmaps/web",), "; configmaps is neither a pod nor a workload: write pod/NAME"),
        (("deploy/web", "-n", "shpo"), "; there is one in shop: add -n shop"),
        (("deploy/wbe", "-n", "shpo"), "; nothing is in that namespace, did you mean -n shop?"),
        (("pod/db", "-n", "shop"), "; there is a StatefulSet of that name: write statefulset/db"),
        (("sts/agnet", "-n", "shop"), '; did you mean "daemonset/agent"?'),
        (("deploymant", "web"), '; did you mean "Deployment"?'),
    ],
)
def test_what_is_not_there_is_told_with_what_was_probably_meant(
    shell: Shell, shop: str, arguments: tuple[str, ...], said: str
) -> None:
    ended = shell.run("explain", *arguments, "-f", shop)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert len(ended.err.splitlines()) == 1


def test_a_workload_without_pods_is_told(shell: Shell) -> None:
    path = shell.write("none.yaml", joined(NODE, workload("Deployment", "web", "1", 0)))
    ended = shell.run("explain", "deploy/web", "-n", "shop", "-f", path)
    assert (ended.code, ended.err) == (
        2,
        "error: Deployment shop/web: has no pods, so there is nothing to explain\n",
    )


def test_a_kind_that_only_an_owner_reference_names_can_be_asked_about(shell: Shell) -> None:
    owner = "ownerReferences: [{apiVersion: example.com/v1, kind: CloneSet, name: blue, uid: u, controller: true}]"
    path = shell.write("clone.yaml", joined(NODE, POD.replace("name: web", f"name: blue-1, {owner}")))
    ended = shell.run("explain", "cloneset", "blue", "-f", path)
    assert ended.code == 0
    assert "default/blue-1: Schedulable" in ended.out
