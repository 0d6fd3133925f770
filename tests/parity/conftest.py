"""One control plane for all parity tests of a process; without the programs they are skipped with one line."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.parity.oracle import Oracle
from tests.support.binaries import binaries_or_skip
from tests.support.control_plane import ControlPlane


@pytest.fixture(scope="session")
def oracle() -> Iterator[Oracle]:
    with ControlPlane(binaries_or_skip()) as plane:
        yield Oracle(plane)
