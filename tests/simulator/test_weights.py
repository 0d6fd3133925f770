"""Other weights go before those of a profile, wherever these are written."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework.config.loading import load_config
from bayplan.simulator.weights import weighted

HEADER = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
FIT = [{"name": "NodeResourcesFit", "weight": 3}]


@pytest.mark.parametrize(
    "plugins", [{}, {"score": {"enabled": FIT}}, {"multiPoint": {"enabled": FIT}}, {"score": {"disabled": FIT}}]
)
def test_a_weight_counts_once(plugins: dict[str, Any]) -> None:
    config, _ = load_config({**HEADER, "profiles": [{"plugins": plugins}]}, "given")
    (profile,) = weighted(config, {"NodeResourcesFit": 7}).profiles
    assert [each.weight for each in profile.plugins.score.enabled if each.name == "NodeResourcesFit"] == [7]
