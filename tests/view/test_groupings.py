"""Which labels divide a map of nodes."""

from __future__ import annotations

from bayplan.objects.meta import ObjectMeta
from bayplan.objects.node import Node
from bayplan.view.groupings import MOST, groupings

ZONE = "topology.kubernetes.io/zone"


def nodes(*labels: dict[str, str]) -> list[Node]:
    return [Node(metadata=ObjectMeta(name=f"n{number}", labels=each)) for number, each in enumerate(labels)]


def test_zone_comes_first_then_topology_then_kinds_then_others() -> None:
    made = nodes(
        *(
            {
                ZONE: f"z{n % 2}",
                "a": str(n % 2),
                "example.com/rack": f"r{n % 3}",
                "node.kubernetes.io/instance-type": str(n % 2),
            }
            for n in range(6)
        )
    )
    assert groupings(made) == [ZONE, "example.com/rack", "node.kubernetes.io/instance-type", "a"]


def test_a_label_that_is_the_same_everywhere_or_nowhere_divides_nothing() -> None:
    made = nodes(*({"os": "linux", "id": str(n), "kubernetes.io/hostname": f"n{n % 2}"} for n in range(5)))
    assert groupings(made) == []


def test_nodes_without_the_label_are_a_group() -> None:
    assert groupings(nodes({"gpu": "true"}, {}, {})) == ["gpu"]


def test_a_zone_of_its_own_is_a_zone() -> None:
    assert groupings(nodes(*({ZONE: str(n), "id": str(n)} for n in range(3)))) == [ZONE]


def test_too_many_values_are_no_groups() -> None:
    made = nodes(*({"serial": str(n % (MOST + 1)), "rack": str(n % MOST)} for n in range(2 * MOST + 2)))
    assert groupings(made) == ["rack"]
