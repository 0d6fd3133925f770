"""What can be asked about, and what cannot."""

from __future__ import annotations

import pytest

from bayplan.errors import InputError
from tests.simulator.fit.asking import read
from tests.simulator.support import Manifest, job, node, pod, workload


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([pod("a"), pod("b")], "expected one Pod or workload, found 2"),
        ([node("n9")], "expected one Pod or workload, found none"),
        ([workload("DaemonSet", "agent")], "a DaemonSet cannot grow"),
        ([job("once")], "a Job cannot grow"),
        ([pod("a", nodeName="n1")], "spec.nodeName: has a node already"),
    ],
)
def test_what_cannot_be_counted_is_told(asked: list[Manifest], told: str) -> None:
    with pytest.raises(InputError) as wrong:
        read([node("n1")], *asked)
    assert told in str(wrong.value)


def test_what_stands_beside_the_pod_comes_with_it() -> None:
    _, kind = read([node("n1")], workload("Deployment", "web", replicas=3), node("n2"))
    assert (kind.thing.name, kind.replicas, [each.name for each in kind.beside]) == ("web", 3, ["n2"])
