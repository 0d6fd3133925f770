"""Fixtures of the tests of the support code itself."""

from __future__ import annotations

from tests.support.fixtures import control_plane

__all__ = ["control_plane"]
