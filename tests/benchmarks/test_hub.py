"""The benchmark of the hub runs to its end on the real control plane, and its parts add up."""

from __future__ import annotations

import pytest

from benchmarks.bench_hub import measure, table
from tests.support.binaries import binaries_or_skip

pytestmark = [pytest.mark.kube, pytest.mark.slow]


async def test_thinking_and_writing_are_told_apart() -> None:
    binaries_or_skip()
    document = await measure(clusters=30, placements=4, chosen=10)
    start, change, nothing = document["results"]
    # A page, its decisions and the status for each; the decisions are one write with their page.
    assert start["writes"] == 8
    assert start["computeSeconds"] > 0
    assert start["writeSeconds"] > 0
    assert change["writes"] >= 1
    assert (nothing["writes"], nothing["writesPerSecond"]) == (0, None)
    assert len(table(document).splitlines()) == 4
