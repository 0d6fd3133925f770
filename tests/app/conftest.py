"""Fixtures of live tests: the shared control plane, and a cluster on it for each test."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from tests.support.control_plane import ControlPlane
from tests.support.fixtures import control_plane
from tests.support.live import Cluster
from tests.support.quiet import plain_logs
from tests.support.witness import Witness

__all__ = ["control_plane", "plain_logs"]


@pytest.fixture
async def cluster(control_plane: ControlPlane) -> Cluster:
    """An empty cluster with a namespace for this test."""
    made = Cluster(control_plane)
    await made.start()
    return made


@pytest.fixture
async def witness(cluster: Cluster) -> AsyncIterator[Witness]:
    """Judges what happened to pods; also at the end of every test that asks for it."""
    async with Witness(cluster.plane) as watching:
        yield watching
        await watching.judge()
