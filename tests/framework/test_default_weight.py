"""A score plugin may say how much it counts where a profile writes no weight; what is written always wins."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework.config.loading import load_config
from bayplan.framework.profile import build_profiles
from bayplan.plugins.defaults import DEFAULT_PLUGINS, OWN_PLUGINS
from bayplan.plugins.plugin_set import registry

OWN = "LeafNodeWorkloadPolicy"


def weight(plugins: dict[str, Any], extra: tuple[str, ...] = ()) -> int:
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "s", "plugins": plugins}],
    }
    known, _ = registry(discover=False)
    profiles, _ = build_profiles(load_config(document, "test")[0], known, DEFAULT_PLUGINS, None, extra)
    return profiles["s"].weights[OWN]


@pytest.mark.parametrize(
    ("plugins", "extra", "found"),
    [
        ({"multiPoint": {"enabled": [{"name": OWN}]}}, (), 2000),
        ({"score": {"enabled": [{"name": OWN}]}}, (), 2000),
        ({"score": {"enabled": [{"name": OWN, "weight": 7}]}}, (), 7),
        ({"multiPoint": {"enabled": [{"name": OWN, "weight": 1}]}}, (), 1),
        ({}, OWN_PLUGINS, 2000),
    ],
)
def test_a_plugins_own_weight_counts_unless_one_is_written(
    plugins: dict[str, Any], extra: tuple[str, ...], found: int
) -> None:
    assert weight(plugins, extra) == found
