"""Fixtures for tests that need real servers. A ``conftest.py`` imports the ones it wants."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

import pytest

from tests.support.binaries import binaries_or_skip
from tests.support.control_plane import ControlPlane


@cache
def _shared_plane() -> ControlPlane:
    return ControlPlane(binaries_or_skip()).__enter__()


@pytest.fixture(scope="session")
def control_plane() -> Iterator[ControlPlane]:
    """The one control plane of this test process, however many folders ask for it. Leave it as you found it."""
    plane = _shared_plane()
    yield plane
    # Session fixtures end when all tests are over, so the first to end may close it for all.
    plane.close()
