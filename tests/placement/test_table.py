"""The table of clusters: what it keeps does not grow with what happens, and it knows what changed since."""

from __future__ import annotations

import numpy as np

from bayplan.objects.third_party.placement import LABEL, NO_SELECT
from bayplan.objects.toleration import Taint
from bayplan.placement.table import ClusterTable
from tests.placement.fleet_building import cluster


def tainted(time: int) -> tuple[Taint, ...]:
    return (Taint(key="unreachable", effect=NO_SELECT, time_added=f"2026-01-01T00:00:{time:02d}Z"),)


def test_lists_of_taints_that_nobody_has_any_more_make_room() -> None:
    table = ClusterTable()
    for time in range(50):
        table.apply(cluster("a", taints=tainted(time)))
        table.apply(cluster("b", taints=tainted(time)))
        table.apply(cluster("a"))
    assert len(table.taints) <= 4
    assert table.taints[table.taint_ids[table.row_of["b"]]] == tainted(49)
    assert table.taint_ids[table.row_of["a"]] == 0
    table.remove("b")
    row = table.apply(cluster("c", taints=tainted(7)))
    assert table.taints[table.taint_ids[row]] == tainted(7)


def test_it_tells_whose_count_changed_since_a_mark() -> None:
    table = ClusterTable()
    rows = np.array([table.apply(cluster(name)) for name in "abc"])
    start = table.recounts
    table.recount(rows[:2], np.array([True, True]))
    mark = table.recounts
    table.recount(rows[1:], np.array([False, True]))
    assert table.decisions[rows].tolist() == [1, 0, 1]
    assert table.recounted(start) == [*rows[:2], *rows[1:]]
    assert table.recounted(mark) == [*rows[1:]]
    assert table.recounted(table.recounts) == []


def test_of_what_is_too_long_ago_it_knows_nothing() -> None:
    table = ClusterTable()
    rows = np.array([table.apply(cluster("a"))])
    start = table.recounts
    for _ in range(2 * table.capacity):
        table.recount(rows, np.array([True]))
    assert table.recounted(start) is None
    assert table.recounted(table.recounts) == []


def test_a_domain_knows_its_rows_while_clusters_come_move_and_go() -> None:
    table = ClusterTable(2)
    topology = table.topology(((LABEL, "region"),))
    for number in range(9):
        table.apply(cluster(f"c{number}", {"region": "eu" if number % 2 else "us"}))
        at = {name: int(topology.ids[-1][row]) for name, row in table.row_of.items()}
        for leaf in set(at.values()):
            assert {*topology.rows(leaf).tolist()} >= {table.row_of[name] for name in at if at[name] == leaf}
    before = int(topology.ids[-1][table.row_of["c1"]])
    table.apply(cluster("c1", {"region": "us"}))
    assert table.row_of["c1"] not in topology.rows(before)
    assert table.row_of["c1"] in topology.rows(int(topology.ids[-1][table.row_of["c1"]]))
