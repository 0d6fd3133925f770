"""Fixtures of the tests of ``kube/``: the shared control plane, an empty cluster on it, plain logs."""

from __future__ import annotations

import pytest

from tests.support.control_plane import ControlPlane
from tests.support.fixtures import control_plane
from tests.support.live import Cluster
from tests.support.quiet import plain_logs

__all__ = ["control_plane", "plain_logs"]


@pytest.fixture
async def cluster(control_plane: ControlPlane) -> Cluster:
    made = Cluster(control_plane)
    await made.start()
    return made
