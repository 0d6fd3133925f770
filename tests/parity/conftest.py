"""The oracle, on the one control plane of the process; without the programs its tests are skipped with one line."""

from __future__ import annotations

import pytest

from tests.parity.oracle import Oracle
from tests.support.control_plane import ControlPlane
from tests.support.fixtures import control_plane

__all__ = ["control_plane"]


@pytest.fixture(scope="session")
def oracle(control_plane: ControlPlane) -> Oracle:
    return Oracle(control_plane)
