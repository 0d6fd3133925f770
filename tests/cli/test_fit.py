"""``bayplan fit`` as it is typed."""

from __future__ import annotations

import json

import pytest

from tests.cli.support import BIG, NODE, POD, Shell, joined

CLUSTER = joined(NODE, NODE.replace("n1", "n2"))


@pytest.fixture
def cluster(shell: Shell) -> str:
    shell.write("pod.yaml", POD)
    shell.write("big.yaml", BIG)
    shell.write("m5.yaml", NODE.replace("n1", "m5").replace('"4"', '"16"'))
    return shell.write("cluster.yaml", CLUSTER)


def test_how_many_more_fit(shell: Shell, cluster: str) -> None:
    ended = shell.run("fit", "-f", cluster, "--pod", "pod.yaml")
    assert (ended.code, ended.err) == (0, "")
    assert "8 more pods fit on 2 nodes (1 cpu)" in ended.out
    document = json.loads(shell.run("fit", "-f", cluster, "--pod", "pod.yaml", "-o", "json").out)
    assert (document["kind"], document["fits"], document["perNode"]) == ("Fit", 8, {"n1": 4, "n2": 4})
    assert shell.run("fit", "-f", cluster, "--pod", "big.yaml").code == 1


def test_a_shopping_list(shell: Shell, cluster: str) -> None:
    arguments = (
        "fit",
        "-f",
        cluster,
        "--pod",
        "big.yaml",
        "--count",
        "3",
        "--node-template",
        "m5.yaml",
        "--price",
        "0.5",
    )
    ended = shell.run(*arguments)
    assert ended.code == 0
    assert ended.out.rstrip().endswith("3 more nodes hold everything, for 1.5")
    document = json.loads(shell.run(*arguments, "-o", "json").out)
    assert document["buy"] == [{"template": "m5", "count": 3, "price": 0.5}]


def test_nodes_that_can_be_emptied_and_room_that_can_be_made(shell: Shell, cluster: str) -> None:
    ended = shell.run("fit", "-f", cluster, "--shrink")
    assert (ended.code, "2 of 2 nodes can be emptied with 0 moves: n1, n2" in ended.out) == (0, True)
    assert "it has room on" in shell.run("fit", "-f", cluster, "--pod", "pod.yaml", "--make-room").out
    assert shell.run("fit", "-f", cluster, "--pod", "big.yaml", "--make-room").code == 1


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ((), "error: nothing says what is to fit; write --pod FILE"),
        (("--pod", "cluster.yaml"), "error: cluster.yaml: --pod: expected one Pod or workload, found none"),
        (("--pod", "pod.yaml", "--shrink"), "error: --pod: has no effect with --shrink"),
        (("--shrink", "--make-room"), "error: --shrink and --make-room are different questions"),
        (("--pod", "pod.yaml", "--price", "1"), "error: --price: has no effect on this question"),
        (("--shrink", "--preempt"), "error: --preempt: has no effect on this question"),
        (("--node-template", "m5.yaml", "--price", "cheap"), 'error: --price: "cheap" is no price'),
        (("--node-template", "m5.yaml", "--price", "-1"), 'error: --price: "-1" is no price; write a number above 0'),
        (("--node-template", "m5.yaml", "--price", "1e308"), 'error: --price: "1e308" is no price; write a number above'),
        (("--node-template", "m5.yaml", "--price", "m5=1", "--price", "m5=2"), "error: --price: m5 has two prices"),
        (("--node-template", "m5.yaml", "--price", "m6=1"), 'error: --price: no template is called "m6"; write m5'),
        (("--node-template", "m5.yaml", "--price", "1", "--price", "2"), "error: --price: there are more prices than"),
        (("--node-template", "m5.yaml", "--node-template", "m5.yaml"), 'error: --node-template: two templates are called "m5"'),
        (("--node-template", "cluster.yaml"), "error: cluster.yaml: expected one Node, found 2 objects"),
        (("--pod", "pod.yaml", "--most", "0"), "error: Invalid value for '--most'"),
    ],
)  # fmt: skip
def test_bad_input_is_one_line(shell: Shell, cluster: str, arguments: tuple[str, ...], told: str) -> None:
    ended = shell.run("fit", "-f", cluster, *arguments)
    assert (ended.code, ended.out, len(ended.err.splitlines())) == (2, "", 1)
    assert ended.err.startswith(told)
