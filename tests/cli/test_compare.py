"""``bayplan compare`` as it is typed."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import NODE, POD, Shell, joined

CONFIG = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
  plugins: {score: {disabled: [{name: NodeResourcesBalancedAllocation}]}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 1}]}}
"""
THERE = POD.replace("web", "there").replace("spec:", "spec:\n  nodeName: n1")


@pytest.fixture
def cluster(shell: Shell) -> str:
    shell.write("packing.yaml", CONFIG)
    return shell.write("cluster.yaml", joined(NODE, NODE.replace("n1", "n2"), THERE, POD))


def test_one_configuration_is_compared_with_the_defaults(shell: Shell, cluster: str) -> None:
    ended = shell.run("compare", "-f", cluster, "--config", "packing.yaml")
    assert (ended.code, ended.err) == (1, "")
    assert "1 pod differs: 1 by NodeResourcesFit" in ended.out
    assert "nodes used" in ended.out
    document = json.loads(shell.run("compare", "-f", cluster, "--config", "packing.yaml", "-o", "json").out)
    assert [each["name"] for each in document["runs"]] == ["as-is", "packing"]
    assert document["differ"] == [
        {"namespace": "default", "name": "web", "as-is": "n2", "packing": "n1", "because": "NodeResourcesFit"}
    ]
    assert document["better"]["nodesUsed"] == ["packing"]


def test_the_same_file_twice_has_two_names_and_no_difference(shell: Shell, cluster: str) -> None:
    ended = shell.run("compare", "-f", cluster, "--config", "packing.yaml", "--config", "packing.yaml")
    assert ended.code == 0
    assert "packing-2" in ended.out
    assert ended.out.rstrip().endswith("every pod is on the same node")


def test_weights_and_plugins_are_runs(shell: Shell, cluster: str) -> None:
    plugin = shell.write(
        "first.py",
        "from bayplan.framework import ScorePlugin\n"
        "class First(ScorePlugin):\n    name = 'First'\n    default_weight = 1000\n"
        "    def score_node(self, state, pod, node):\n        return 100 if node.name == 'n1' else 0\n",
    )
    arguments = ("--with-plugin", f"{plugin}:First", "--weights", "NodeResourcesFit=7", "-o", "json")
    document = json.loads(shell.run("compare", "-f", cluster, *arguments).out)
    assert [each["name"] for each in document["runs"]] == ["First", "NodeResourcesFit=7"]
    assert [each["because"] for each in document["differ"]] == ["First"]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "error: nothing to compare; write --config FILE twice"),
        (("--weights", "NodeResourceFit=3"), 'error: --weights: there is no plugin "NodeResourceFit"; did you mean'),
        (("--weights", "x"), 'error: --weights: "x" is no weight'),
        (("--config", "cluster.yaml"), "error: cluster.yaml: expected one KubeSchedulerConfiguration"),
        (("--weights", "NodeResourcesFit=3", "--price", "free"), 'error: --price: "free" is no price'),
        (("--weights", "NodeResourcesFit=3", "--price", "m=1e308"), 'error: --price: "m=1e308" is no price'),
        (("--weights", "NodeResourcesFit=3", "--price", "m=1", "--price", "m=2"), "error: --price: m has two prices"),
    ],
)
def test_bad_input_is_one_line(shell: Shell, cluster: str, arguments: tuple[str, ...], told: str) -> None:
    ended = shell.run("compare", "-f", cluster, *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert ended.err.startswith(told)


def test_a_price_for_nodes_that_are_not_there_is_warned_of(shell: Shell, cluster: str) -> None:
    ended = shell.run("compare", "-f", cluster, "--config", "packing.yaml", "--price", "m5.large=2")
    assert ended.err == 'warning: --price m5.large: no node is of the instance type "m5.large", nor of any other\n'
