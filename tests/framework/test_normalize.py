"""The shapes scores are brought into 0..100 with, by the reference vectors."""

from __future__ import annotations

import numpy as np
import pytest

from bayplan.framework.normalize import by_maximum, by_range


@pytest.mark.parametrize(
    ("raw", "reverse", "expected"),
    [
        ([0, 1, 2], True, [100, 50, 0]),
        ([0, 3, 5], False, [0, 60, 100]),
        ([1, 2, 3], False, [33, 66, 100]),
        ([1, 2, 3], True, [67, 34, 0]),
        ([0, 0], False, [0, 0]),
        ([0, 0], True, [100, 100]),
        ([7, 7], True, [0, 0]),
        ([], False, []),
        ([], True, []),
        ([-5, -3], True, [100, 100]),
        ([-5, -3], False, [-5, -3]),
    ],
)
def test_by_maximum(raw: list[int], reverse: bool, expected: list[int]) -> None:
    assert by_maximum(np.array(raw, np.int64), reverse=reverse).tolist() == expected


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ([-5, 0, 5], [0, 50, 100]),
        ([0, 1, 3], [0, 33, 100]),
        ([4, 4, 4], [0, 0, 0]),
        ([-7], [0]),
        ([], []),
    ],
)
def test_by_range(raw: list[int], expected: list[int]) -> None:
    assert by_range(np.array(raw, np.int64)).tolist() == expected


@pytest.mark.parametrize("shape", [by_maximum, by_range])
def test_the_raw_scores_stay_as_they_are(shape: object) -> None:
    raw = np.array([1, 2, 4], np.int64)
    raw.flags.writeable = False
    assert callable(shape)
    assert shape(raw).dtype == np.int64
    assert raw.tolist() == [1, 2, 4]
