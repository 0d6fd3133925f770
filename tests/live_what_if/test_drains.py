"""What-if agrees with what a real drain leads to; ``python -m tests.live_what_if`` tries many more clusters."""

from __future__ import annotations

import pytest

from tests.live_what_if.drains import drain
from tests.support.control_plane import ControlPlane
from tests.support.fixtures import control_plane

__all__ = ["control_plane"]
pytestmark = [pytest.mark.kube, pytest.mark.slow]


@pytest.mark.parametrize("seed", [1, 3, 6])
async def test_the_same_pods_wait_after_a_real_drain(control_plane: ControlPlane, seed: int) -> None:
    outcome = await drain(control_plane, seed)
    assert outcome.agrees, outcome
