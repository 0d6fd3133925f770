"""Counts per node added up over domains."""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.framework.summing import summed


@pytest.mark.parametrize(
    ("counts", "ids", "size", "expected"),
    [
        ([1, 2, 3], [0, 1, 0], 3, [4, 2, 0]),
        ([1, 2, 3], [0, -1, 0], 2, [4, 0]),
        ([1, 2, 3], [0, 1, 1], 2, [1, 0]),
        ([], [], 1, [0]),
    ],
    ids=["two domains", "a node in none", "a node left out by the last number", "no nodes"],
)
def test_nodes_count_in_their_domain_or_nowhere(
    counts: list[int], ids: list[int], size: int, expected: list[int]
) -> None:
    sums = summed(np.array(counts, np.int32), np.array(ids, np.int32), size)
    assert sums.tolist() == expected
    assert sums.dtype == np.int64
