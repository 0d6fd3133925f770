"""Numbers of nodes: one for each name, the same wherever the node's row is."""

from __future__ import annotations

from bayplan.plugins.node_numbers import NodeNumbers
from bayplan.testing import cluster, node


def test_a_node_keeps_its_number_when_rows_move_and_when_it_comes_back() -> None:
    cache = cluster([node("a"), node("b"), node("c")])
    numbers = NodeNumbers()
    assert numbers.rows(cache.nodes).tolist() == [0, 1, 2]
    cache.remove_node("a")  # the last row moves into its place
    of = {name: numbers.find(name) for name in ("a", "b", "c")}
    assert [of[name] for name in cache.nodes.names] == numbers.rows(cache.nodes).tolist()
    cache.add_node(node("a").build())
    assert numbers.rows(cache.nodes)[cache.nodes.row_of("a")] == of["a"] == 0
    assert len(numbers) == 3


def test_names_without_a_row_have_numbers_too_and_none_is_made_by_looking() -> None:
    numbers = NodeNumbers()
    assert numbers.find("x") is None
    assert (numbers.of("x"), numbers.of("y"), numbers.of("x"), len(numbers)) == (0, 1, 0, 2)


def test_two_numberings_of_one_table_do_not_mix() -> None:
    cache = cluster([node("a"), node("b")])
    one, other = NodeNumbers(), NodeNumbers()
    other.of("b")
    assert one.rows(cache.nodes).tolist() == [0, 1]
    assert other.rows(cache.nodes).tolist() == [1, 0]
