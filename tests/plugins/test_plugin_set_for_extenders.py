"""The profiles of a run: what extenders manage and want ignored reaches NodeResourcesFit in all of them."""

from __future__ import annotations

from typing import Any

import pytest

from bayplan.errors import InvalidArgsError
from bayplan.framework.config.loading import load_config
from bayplan.framework.profile import Profile
from bayplan.plugins.node_resources_fit import NodeResourcesFit
from bayplan.plugins.plugin_set import make_profiles, registry

GPU = {"name": "example.com/gpu", "ignoredByScheduler": True}
FPGA = {"name": "example.com/fpga", "ignoredByScheduler": True}
SEEN = {"name": "example.com/seen"}


def profiles_of(*managed: dict[str, Any], args: Any = None, **profile: Any) -> dict[str, Profile]:
    """Two profiles, the second with args of its own for NodeResourcesFit."""
    own = {"schedulerName": "own", "pluginConfig": [{"name": "NodeResourcesFit", "args": args}], **profile}
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": "plain"}, own],
        "extenders": [{"urlPrefix": "http://x", "filterVerb": "f", "managedResources": [one]} for one in managed],
    }
    config, _ = load_config(document, "test")
    known, _ = registry(discover=False)
    return dict(make_profiles(config, known)(lambda name: None))  # type: ignore[arg-type, return-value]


def ignored(profile: Profile) -> tuple[str, ...]:
    plugin = profile.instances["NodeResourcesFit"]
    assert isinstance(plugin, NodeResourcesFit)
    return tuple(plugin.args.ignored_resources)


@pytest.mark.parametrize(
    ("managed", "args", "plain", "own"),
    [
        ((), {"ignoredResources": ["example.com/a"]}, (), ("example.com/a",)),
        ((SEEN,), {"ignoredResources": ["example.com/a"]}, (), ("example.com/a",)),
        ((GPU, SEEN, FPGA), None, ("example.com/gpu", "example.com/fpga"), ("example.com/gpu", "example.com/fpga")),
        ((GPU,), {"ignoredResources": ["example.com/a"]}, ("example.com/gpu",), ("example.com/gpu",)),
    ],
    ids=["no extender", "a resource that is not ignored", "two extenders", "instead of the profile's own"],
)
def test_resources_of_extenders_are_left_alone(
    managed: tuple[dict[str, Any], ...], args: Any, plain: tuple[str, ...], own: tuple[str, ...]
) -> None:
    made = profiles_of(*managed, args=args)
    assert (ignored(made["plain"]), ignored(made["own"])) == (plain, own)


def test_the_other_args_of_a_profile_stay() -> None:
    strategy = {"type": "MostAllocated"}
    plugin = profiles_of(GPU, args={"scoringStrategy": strategy})["own"].instances["NodeResourcesFit"]
    assert plugin.args.scoring_strategy.type == "MostAllocated"


def test_args_that_are_no_mapping_are_still_a_mistake() -> None:
    with pytest.raises(InvalidArgsError, match=r"profiles\[1\].pluginConfig\[0\].args: must be a mapping"):
        profiles_of(GPU, args=["nonsense"])
