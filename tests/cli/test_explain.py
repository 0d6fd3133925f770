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


@pytest.mark.parametrize("what", [("pod", "web"), ("pod/web",), ("pods", "web"), ("po/web",)])
def test_a_pod_can_be_named_in_all_the_usual_ways(shell: Shell, cluster: str, what: tuple[str, ...]) -> None:
    ended = shell.run("explain", *what, "-f", cluster)
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("default/web: Schedulable, it would go to n1")


@pytest.mark.parametrize("what", [("web",), ("node", "n1"), ("pod",), ("pod", "a", "b"), ("pod/",)])
def test_what_is_not_a_pod_is_refused(shell: Shell, cluster: str, what: tuple[str, ...]) -> None:
    ended = shell.run("explain", *what, "-f", cluster)
    assert ended.code == 2
    assert "does not name a pod; write pod NAME or pod/NAME" in ended.err


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
