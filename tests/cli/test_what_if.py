"""``bayplan what-if`` as it is typed: exit codes, tables, documents and complaints."""

from __future__ import annotations

import json

import pytest
import yaml

from tests.cli.support import NODE, POD, Shell, joined

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "3"}}}]}
"""
CLUSTER = joined(NODE, NODE.replace("n1", "n2"), NODE.replace("n1", "n3"), WEB)


@pytest.fixture
def cluster(shell: Shell) -> str:
    return shell.write("cluster.yaml", CLUSTER)


def test_a_drain_that_hurts_nobody_ends_with_0(shell: Shell, cluster: str) -> None:
    ended = shell.run("what-if", "-f", cluster, "--drain", "n3", "--drain", "n2")
    assert (ended.code, ended.err) == (1, "")
    assert "1 pod is worse off" in ended.out
    ended = shell.run("what-if", "-f", cluster, "--add", "1", "--like", "n1", "--drain", "n1")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.rstrip().endswith("nobody is worse off")


def test_the_document_is_the_contract(shell: Shell, cluster: str) -> None:
    ended = shell.run("what-if", "-f", cluster, "--remove", "n1", "--remove", "n2", "-o", "json")
    document = json.loads(ended.out)
    assert (ended.code, document["apiVersion"], document["kind"]) == (1, "bayplan.io/v1alpha1", "WhatIf")
    assert document["changes"] == [{"remove": "n1"}, {"remove": "n2"}]
    assert {"moved", "pending", "placed", "blocked", "before", "after"} <= document.keys()
    assert (
        yaml.safe_load(shell.run("what-if", "-f", cluster, "--remove", "n1", "--remove", "n2", "-o", "yaml").out)
        == document
    )


def test_the_changes_of_an_answer_are_a_question(shell: Shell, cluster: str) -> None:
    first = json.loads(
        shell.run("what-if", "-f", cluster, "--scale", "deploy/web=4", "--drain", "n1", "-o", "json").out
    )
    path = shell.write("changes.json", json.dumps(first))
    assert json.loads(shell.run("what-if", "-f", cluster, "--changes", path, "-o", "json").out) == first


def test_files_that_changes_name_are_read(shell: Shell, cluster: str) -> None:
    template = shell.write("m5.yaml", NODE.replace("n1", "m5"))
    new = shell.write("new.yaml", POD.replace("web", "new"))
    arguments = ("--add", "2", "--node-template", template, "--apply", new, "--delete", "deploy/web", "-o", "json")
    document = json.loads(shell.run("what-if", "-f", cluster, *arguments).out)
    assert document["after"]["nodes"] == 5
    assert [each["name"] for each in document["placed"]] == ["new"]
    assert len(document["gone"]) == 2


def test_another_configuration_or_plugin_takes_over(shell: Shell, cluster: str) -> None:
    config = shell.write(
        "none.yaml",
        "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\nprofiles: [{schedulerName: other}]\n",
    )
    ended = shell.run("what-if", "-f", cluster, "--with-config", config, "--scale", "deploy/web=3", "-o", "json")
    assert json.loads(ended.out)["changes"][0] == {"withConfig": config}
    plugin = shell.write(
        "nowhere.py",
        "from bayplan.framework import Code, FilterPlugin, Reason\nNO = Reason(Code.UNRESOLVABLE, 'node(s) are closed')\n"
        "class Nowhere(FilterPlugin):\n    name = 'Nowhere'\n    reasons = (NO,)\n    def filter_node(self, state, pod, node):\n        return NO\n",
    )
    ended = shell.run("what-if", "-f", cluster, "--with-plugin", f"{plugin}:Nowhere", "--scale", "deploy/web=3")
    assert ended.code == 1
    assert "node(s) are closed" in ended.out


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "error: nothing is to change; write such as --drain NODE"),
        (("--drain", "n9"), 'error: --drain: there is no node "n9"; there are n1, n2, n3'),
        (("--remove", ""), "error: --remove: an empty selector would remove every node"),
        (("--add", "2"), "error: --add: nothing says what the nodes are like"),
        (("--like", "n1"), "error: --like: has no effect without --add"),
        (("--add", "1", "--add", "1", "--like", "n1", "--node-template", "x"), "error: --node-template: which --add is which"),
        (("--add", "-1", "--like", "n1"), 'error: --add: "-1" is too few; write at least 1'),
        (("--scale", "deploy/web=-2"), 'error: --scale: "deploy/web=-2" is too few; write at least 0'),
        (("--apply", "none.yaml"), "error: none.yaml: no such file or folder"),
        (("--changes", "none.yaml"), "error: none.yaml: no such file or folder"),
        (("--with-config", "cluster.yaml"), "error: cluster.yaml: expected one KubeSchedulerConfiguration"),
        (("--drain", "n1", "--context", "c"), "error: files and a live cluster at once"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(shell: Shell, cluster: str, arguments: tuple[str, ...], told: str) -> None:
    ended = shell.run("what-if", "-f", cluster, *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert ended.err.startswith(told)


def test_a_cluster_must_stand_still(shell: Shell) -> None:
    later = NODE.replace("{name: n1}", "{name: n1, annotations: {simulation.bayplan.io/until: 5m}}")
    ended = shell.run("what-if", "-f", shell.write("c.yaml", later), "--drain", "n1")
    assert ended.code == 2
    assert "objects that come or go later have no place here" in ended.err


def test_tables_fit_a_terminal(shell: Shell, cluster: str) -> None:
    out = shell.run("what-if", "-f", cluster, "--remove", "n1").out
    lines = [line for line in out.splitlines() if not line.startswith("Pending")]
    assert max(map(len, lines)) <= 80
