"""A series finds its node by InternalIP, with or without a port, or by name; odd series harm nobody."""

from __future__ import annotations

import pytest

from bayplan.controllers.node_annotator.node_index import Loads, NodeIndex
from bayplan.controllers.node_annotator.queries import Sample


def index(**nodes: tuple[str, ...]) -> NodeIndex:
    made = NodeIndex()
    for name, addresses in nodes.items():
        made.put(name.replace("_", "-"), addresses)
    return made


def loads(made: NodeIndex, *samples: tuple[str, float]) -> Loads:
    return made.loads([Sample({"instance": instance, "job": "node"}, value) for instance, value in samples])


@pytest.mark.parametrize(
    "instance",
    [
        "10.0.0.1",
        "10.0.0.1:9100",
        "node-1",
        "node-1:9100",
        "2001:db8::1",
        "[2001:db8::1]",
        "[2001:db8::1]:9100",
        "[2001:0DB8:0:0::1]:9100",
    ],
)
def test_a_node_goes_by_its_addresses_and_its_name(instance: str) -> None:
    made = index(node_1=("10.0.0.1", "2001:db8::1"), node_2=("10.0.0.2",))
    assert loads(made, (instance, 63.012)).by_node == {"node-1": pytest.approx(0.63012)}


@pytest.mark.parametrize(
    "instance", ["", "10.0.0.9:9100", "10.0.0.11:9100", "node-11", "x:y", "10.0.0.1.5", "http://10.0.0.1"]
)
def test_a_series_of_nobody_is_counted_and_left_out(instance: str) -> None:
    got = loads(index(node_1=("10.0.0.1",)), (instance, 50.0))
    assert (got.by_node, got.unmatched) == ({}, 1)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf"), -5.0])
def test_a_value_that_is_no_load_is_left_out(value: float) -> None:
    got = loads(index(node_1=("10.0.0.1",)), ("10.0.0.1:9100", value))
    assert (got.by_node, got.unusable) == ({}, 1)


def test_an_idle_node_may_measure_a_little_less_than_nothing() -> None:
    assert loads(index(node_1=("10.0.0.1",)), ("10.0.0.1:9100", -0.3)).by_node == {"node-1": 0.0}


def test_of_two_series_for_one_node_the_higher_counts_whatever_their_order() -> None:
    made = index(node_1=("10.0.0.1",))
    for pair in (
        [("10.0.0.1:9100", 20.0), ("10.0.0.1:9101", 30.0)],
        [("10.0.0.1:9101", 30.0), ("10.0.0.1:9100", 20.0)],
    ):
        got = loads(made, *pair)
        assert (got.by_node, got.duplicate) == ({"node-1": 0.3}, 1)


def test_an_address_goes_before_a_port_and_that_before_a_name() -> None:
    made = index(node_1=("10.0.0.1",))
    exact, port, name = ("10.0.0.1", 10.0), ("10.0.0.1:9100", 20.0), ("node-1", 30.0)
    assert loads(made, name, port, exact).by_node == {"node-1": 0.1}
    assert loads(made, name, port).by_node == {"node-1": 0.2}
    assert loads(made, ("10.0.0.1", float("nan")), name).by_node == {"node-1": 0.3}


def test_a_node_without_an_address_goes_by_its_name_alone() -> None:
    assert loads(index(fake=()), ("fake", 50.0)).by_node == {"fake": 0.5}


def test_a_node_that_moved_or_left_is_not_found_where_it_was() -> None:
    made = index(node_1=("10.0.0.1",), node_2=("10.0.0.2",))
    made.put("node-1", ("10.0.0.3",))
    made.drop("node-2")
    got = loads(made, ("10.0.0.1", 10.0), ("10.0.0.2", 10.0), ("10.0.0.3", 10.0))
    assert (got.by_node, got.unmatched, len(made)) == ({"node-1": 0.1}, 2, 1)


def test_an_address_that_went_to_another_node_is_that_nodes() -> None:
    made = index(node_1=("10.0.0.1",))
    made.drop("node-1")
    made.put("node-2", ("10.0.0.1",))
    assert loads(made, ("10.0.0.1", 10.0)).by_node == {"node-2": 0.1}
