"""
Blocks: the best of many numbers and its ties, as single numbers change.
"""

from __future__ import annotations

from random import Random

import numpy as np
import pytest

from bayplan.engine.kept.best_rows import GROUP, SMALLEST, BestRows


@pytest.mark.parametrize(
    "size", [1, SMALLEST - 1, SMALLEST, SMALLEST + 1, 5 * SMALLEST + 3, (2 * GROUP + 3) * SMALLEST + 1]
)
def test_the_pick_is_the_one_a_look_at_all_numbers_gives(size: int) -> None:
    rng = Random(size)
    blocks = BestRows(np.array([rng.randint(-1, 3) for _ in range(size)], np.int64))

    for step in range(200):
        blocks.write(rng.randrange(size), rng.randint(-1, 3))
        values = blocks.values
        best = np.flatnonzero(values == values.max())
        expected = None if values.max() < 0 else (int(best[step % len(best)]), len(best))
        assert blocks.pick(step) == expected


def test_nothing_is_picked_where_nothing_fits() -> None:
    assert BestRows(np.full(10, -1, np.int64)).pick(7) is None
    assert BestRows(np.empty(0, np.int64)).pick(7) is None
