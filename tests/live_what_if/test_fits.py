"""Fit agrees with a real cluster that is filled up pod by pod."""

from __future__ import annotations

import pytest

from tests.live_what_if.fits import fill
from tests.support.control_plane import ControlPlane
from tests.support.fixtures import control_plane

__all__ = ["control_plane"]
pytestmark = [pytest.mark.kube, pytest.mark.slow]


@pytest.mark.parametrize("seed", [0, 1])
async def test_as_many_fit_as_was_said(control_plane: ControlPlane, seed: int) -> None:
    filled = await fill(control_plane, seed)
    assert filled.agrees, filled
