"""Growable arrays with dense rows: what grows, moves and is cleared together."""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.engine.columns import FIRST_CAPACITY, Columns, DerivedColumn, LabelIds
from bayplan.testing import node


def test_a_view_shows_the_rows_there_are_and_cannot_be_written() -> None:
    columns = Columns()
    col = columns.make(np.int64)
    for number in range(3):
        col.data[columns.append()] = number
    view = col.view(columns.n)
    assert view.tolist() == [0, 1, 2]
    with pytest.raises(ValueError, match="read-only"):
        view[0] = 9
    col.data[0] = 9
    assert view.tolist() == [9, 1, 2]


def test_a_view_is_made_once_for_a_length() -> None:
    columns = Columns()
    col = columns.make(np.int64)
    columns.append()
    assert col.view(1) is col.view(1)


def test_growing_keeps_what_was_written_and_fills_the_rest() -> None:
    columns = Columns()
    col = columns.make(np.int32, fill=-1)
    for number in range(FIRST_CAPACITY):
        col.data[columns.append()] = number
    before = col.view(columns.n)
    for _ in range(FIRST_CAPACITY + 1):
        columns.append()
    assert before.tolist() == list(range(FIRST_CAPACITY))
    assert col.view(columns.n).tolist() == [*range(FIRST_CAPACITY), *[-1] * (FIRST_CAPACITY + 1)]


def test_a_column_made_late_is_as_long_as_the_others() -> None:
    columns = Columns()
    for _ in range(3 * FIRST_CAPACITY):
        columns.append()
    assert columns.make(np.int64, fill=7).view(columns.n).tolist() == [7] * 3 * FIRST_CAPACITY


@pytest.mark.parametrize(
    ("removed", "moved", "left"), [(0, 2, [2, 1]), (1, 2, [0, 2]), (2, None, [0, 1])], ids=["first", "middle", "last"]
)
def test_the_last_row_fills_the_gap(removed: int, moved: int | None, left: list[int]) -> None:
    columns = Columns()
    col = columns.make(np.int64, fill=-5)
    for number in range(3):
        col.data[columns.append()] = number
    assert columns.remove(removed) == moved
    assert col.view(columns.n).tolist() == left
    columns.append()
    assert col.view(columns.n).tolist() == [*left, -5], "a row that was used before must start clean"


def test_a_dropped_column_is_left_alone() -> None:
    columns = Columns()
    col = columns.make(np.int64)
    for number in range(2):
        col.data[columns.append()] = number
    columns.drop(col)
    columns.remove(0)
    assert col.data[:2].tolist() == [0, 1]


def test_label_values_are_numbered_as_they_appear_and_keep_their_numbers() -> None:
    columns = Columns()
    ids = LabelIds("zone", columns)
    for labels in ({"zone": "b"}, {"zone": "a"}, {}, {"zone": "b"}):
        ids.write(columns.append(), labels)
    assert ids.col.view(columns.n).tolist() == [0, 1, -1, 0]
    ids.write(0, {})
    assert ids.col.view(columns.n).tolist() == [-1, 1, -1, 0]
    assert (ids.values, ids.id_of) == (["b", "a"], {"b": 0, "a": 1})


def test_a_derived_column_holds_what_the_function_says() -> None:
    columns = Columns()
    derived = DerivedColumn(lambda each: len(each.name), np.float64, columns)
    for name in ("a", "bcd"):
        derived.write(columns.append(), node(name).build())
    assert derived.col.view(columns.n).tolist() == [1.0, 3.0]
