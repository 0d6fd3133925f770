"""The benchmark of the page's server, in small: every bind is seen by every client."""

from __future__ import annotations

import pytest

from benchmarks.bench_ui import measure, table
from tests.support.binaries import binaries_or_skip

pytestmark = [pytest.mark.kube, pytest.mark.slow]


async def test_every_bind_is_seen_by_every_client() -> None:
    binaries_or_skip()
    sizes = {"nodes": 5, "pods": 20, "rate": 10, "seconds": 2, "clients": 3, "backlog": 10}
    document = await measure(sizes)
    assert document["missed"] == 0
    assert 0 < document["delaySeconds"]["p50"] <= document["delaySeconds"]["max"]
    assert document["podsPerSecond"].keys() == {"without", "with"}
    assert "5 nodes, 20 pods, 3 clients" in table(document)
