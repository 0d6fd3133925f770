"""Fixtures: Helm without a cluster."""

from __future__ import annotations

import pytest

from tests.deploy.charts import Helm, helm_or_skip


@pytest.fixture
def helm() -> Helm:
    return Helm(helm_or_skip())
