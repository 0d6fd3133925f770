"""Pods that are wanted together: which pods a file means."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from bayplan.simulator.world import assemble
from tests.simulator.fit.asking import read_gang
from tests.simulator.support import START, Manifest, job, node, pod, workload

NODES = [node("n1")]


def made(*asked: Manifest, count: int | None = None) -> list[str]:
    given, gang = read_gang(NODES, *asked, count=count)
    return sorted(each.name for each in gang.pods(assemble(given, now=START, prospects=gang.objects)))


def test_several_pods_and_workloads_are_all_meant() -> None:
    names = made(pod("a"), pod("b"), workload("Deployment", "web", replicas=2))
    assert names[:2] == ["a", "b"]
    assert len(names) == 4


@pytest.mark.parametrize(
    ("asked", "as_written"),
    [
        (pod("a"), 1),
        (workload("Deployment", "web", replicas=2), 2),
        (workload("StatefulSet", "db", replicas=3), 3),
        (job("train", parallelism=4, completions=4), 4),
    ],
)
def test_the_number_is_the_files_or_the_one_that_is_asked_for(asked: Manifest, as_written: int) -> None:
    assert len(made(asked)) == as_written
    assert len(made(asked, count=5)) == 5


@pytest.mark.parametrize(
    ("asked", "count", "line"),
    [
        ([], None, "pod.yaml: --pod: holds no Pod and no workload; write what needs room"),
        ([workload("DaemonSet", "agent")], None, "pod.yaml: --pod: a DaemonSet is not made room for; "),
        ([pod("a", nodeName="n1")], None, "pod.yaml: spec.nodeName: has a node already; leave it out"),
        ([pod("a"), pod("b")], 2, "--count: pod.yaml holds 2 Pods and workloads; leave it out"),
        ([workload("Deployment", "web", replicas=0)], None, "--pod: makes no pods that wait for a node"),
    ],
)
def test_what_is_no_gang_gets_one_line(asked: list[Manifest], count: int | None, line: str) -> None:
    with pytest.raises(InputError) as error:
        made(*asked, count=count)
    assert str(error.value).startswith(line)
