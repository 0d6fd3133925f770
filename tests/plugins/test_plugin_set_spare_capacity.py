"""Where SpareCapacity is enabled, NodeResourcesFit leaves its resources alone."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.framework.config.loading import load_config
from bayplan.plugins.plugin_set import leaving_spare_capacity

PLUGIN = {"name": "SpareCapacity"}


def groups(plugins: dict[str, Any], args: Any = None) -> list[str] | None:
    """What NodeResourcesFit ignores in a profile; None if nothing is written."""
    profile: dict[str, Any] = {"schedulerName": "mine", "plugins": plugins}
    if args is not None:
        profile["pluginConfig"] = [{"name": "NodeResourcesFit", "args": args}]
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [profile],
    }
    (settled,) = leaving_spare_capacity(load_config(document, "test")[0]).profiles
    written = [each.args for each in settled.plugin_config if each.name == "NodeResourcesFit"]
    found: list[str] | None = written[0].get("ignoredResourceGroups") if written else None
    return found


@pytest.mark.parametrize(
    ("plugins", "args", "expected"),
    [
        ({}, None, None),
        ({"multiPoint": {"enabled": [PLUGIN]}}, None, ["spare.bayplan.io"]),
        ({"filter": {"enabled": [PLUGIN]}}, None, ["spare.bayplan.io"]),
        (
            {"multiPoint": {"enabled": [PLUGIN]}},
            {"ignoredResourceGroups": ["example.com"]},
            ["example.com", "spare.bayplan.io"],
        ),
        (
            {"multiPoint": {"enabled": [PLUGIN]}},
            {"ignoredResourceGroups": ["spare.bayplan.io"]},
            ["spare.bayplan.io"],
        ),
        ({"filter": {"disabled": [PLUGIN]}}, {"ignoredResourceGroups": ["example.com"]}, ["example.com"]),
    ],
)
def test_the_group_is_ignored_exactly_where_the_plugin_is_enabled(
    plugins: dict[str, Any], args: Any, expected: list[str] | None
) -> None:
    assert groups(plugins, args) == expected
