"""Plugins of versions before v1 in terms of today's, and old disabled lists that keep acting as they did."""

from __future__ import annotations

import pytest

from bayplan.framework.config.model import ProfileConfig
from tests.framework.fakes import complaints, config, from_file, loaded


def profile(plugins: str, version: str = "v1beta1", args: str = "[]") -> ProfileConfig:
    return config(f"profiles: [{{plugins: {plugins}, pluginConfig: {args}}}]", version).profiles[0]


def warned(plugins: str, version: str = "v1beta1", args: str = "[]") -> list[str]:
    text = f"profiles: [{{plugins: {plugins}, pluginConfig: {args}}}]"
    return [warning.removeprefix("cfg.yaml: profiles[0].") for warning in loaded(text, version)[1][1:]]


def args_of(read: ProfileConfig) -> dict[str, object]:
    return {entry.name: entry.args for entry in read.plugin_config}


def names(read: ProfileConfig, point: str, field: str) -> list[tuple[str, int | None]]:
    return [(ref.name, ref.weight) for ref in getattr(read.plugins.at(point), field)]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("NodePreferAvoidPods", "keep pods away from a node with a taint, or with a preferred node affinity"),
        ("EBSLimits", "NodeVolumeLimits counts all volumes now"),
        ("AzureDiskLimits", "NodeVolumeLimits counts all volumes now"),
    ],
)
@pytest.mark.parametrize("field", ["enabled", "disabled"])
def test_a_plugin_that_has_gone_is_left_out_with_a_warning(name: str, text: str, field: str) -> None:
    plugins = f"{{score: {{{field}: [{{name: {name}, weight: 3}}]}}}}"
    assert profile(plugins) == profile("{}")
    assert warned(plugins) == [f"plugins.score.{field}[0]: {name} has gone and is ignored; {text}"]


def test_a_plugin_that_has_gone_without_a_successor_must_be_replaced_by_hand() -> None:
    text = (
        "profiles: [{plugins: {filter: {enabled: [{name: NodeLabel}]}, score: {enabled: [{name: ServiceAffinity}]}}}]"
    )
    assert complaints(text, "v1beta1") == [
        'profiles[0].plugins.filter.enabled[0]: plugin "NodeLabel" has gone; '
        "set addedAffinity in the args of NodeAffinity",
        'profiles[0].plugins.score.enabled[0]: plugin "ServiceAffinity" has gone; give the pods an inter-pod affinity',
    ]


def test_a_plugin_that_has_gone_without_a_successor_may_be_disabled_or_configured_still() -> None:
    assert profile("{filter: {disabled: [{name: NodeLabel}]}}", args="[{name: NodeLabel}]") == profile("{}")
    assert warned("{}", args="[{name: NodeLabel}]") == [
        "pluginConfig[0]: NodeLabel has gone and is ignored; set addedAffinity in the args of NodeAffinity"
    ]


def test_selector_spread_is_what_pod_topology_spread_does_anyway() -> None:
    plugins = "{score: {enabled: [{name: SelectorSpread, weight: 2}]}, preScore: {enabled: [{name: SelectorSpread}]}}"
    assert profile(plugins) == profile("{}")
    assert warned(plugins) == [
        "plugins.preScore.enabled[0]: SelectorSpread is read as the default spreading of PodTopologySpread"
    ]


def test_selector_spread_alone_among_the_scores_brings_pod_topology_spread_back() -> None:
    read = profile("{score: {disabled: [{name: '*'}], enabled: [{name: SelectorSpread, weight: 2}]}}", "v1beta3")
    assert names(read, "score", "enabled") == [("PodTopologySpread", 2)]
    assert names(read, "pre_score", "enabled") == [("PodTopologySpread", None)]


def test_selector_spread_disabled_means_no_spreading_by_default() -> None:
    plugins = "{score: {disabled: [{name: SelectorSpread}]}}"
    assert args_of(profile(plugins)) == {"PodTopologySpread": {"defaultingType": "List"}}
    assert names(profile(plugins), "score", "disabled") == []
    assert warned(plugins) == [
        "plugins.score.disabled[0]: SelectorSpread is off, so PodTopologySpread spreads only pods that ask for it"
    ]


def test_default_constraints_without_a_type_were_the_default_before_v1beta2() -> None:
    args = "[{name: PodTopologySpread, args: {defaultConstraints: [{maxSkew: 1}]}}]"
    given = {"defaultConstraints": [{"maxSkew": 1}]}
    assert args_of(profile("{}", "v1beta1", args)) == {"PodTopologySpread": {**given, "defaultingType": "List"}}
    assert args_of(profile("{}", "v1beta2", args)) == {"PodTopologySpread": given}


def test_most_allocated_instead_of_least_allocated_is_a_strategy() -> None:
    plugins = """{score: {disabled: [{name: NodeResourcesLeastAllocated}],
                          enabled: [{name: NodeResourcesMostAllocated, weight: 5}]}}"""
    args = "[{name: NodeResourcesMostAllocated, args: {resources: [{name: cpu, weight: 2}]}}]"
    read = profile(plugins, args=args)
    assert names(read, "score", "enabled") == [("NodeResourcesFit", 5)]
    assert names(read, "score", "disabled") == []
    assert args_of(read) == {
        "NodeResourcesFit": {
            "scoringStrategy": {"type": "MostAllocated", "resources": [{"name": "cpu", "weight": 2}]},
        }
    }
    assert warned(plugins, args=args) == [
        "plugins.score.disabled[0]: NodeResourcesLeastAllocated is read as NodeResourcesFit",
        "plugins.score.enabled[0]: NodeResourcesMostAllocated is read as "
        "the strategy MostAllocated of NodeResourcesFit",
    ]


def test_two_strategies_cannot_be_had() -> None:
    warnings = warned("{score: {enabled: [{name: NodeResourcesMostAllocated}]}}")
    assert warnings[-1] == (
        "plugins.score.enabled[0]: NodeResourcesFit has one strategy at a time; MostAllocated is used"
    )


def test_requested_to_capacity_ratio_brings_its_shape() -> None:
    args = "[{name: RequestedToCapacityRatio, args: {shape: [{utilization: 0, score: 10}]}}]"
    read = profile("{score: {disabled: [{name: '*'}], enabled: [{name: RequestedToCapacityRatio}]}}", "v1alpha2", args)
    assert args_of(read) == {
        "NodeResourcesFit": {
            "scoringStrategy": {
                "type": "RequestedToCapacityRatio",
                "requestedToCapacityRatio": {"shape": [{"utilization": 0, "score": 10}]},
            }
        }
    }


def test_args_of_the_default_strategy_count_although_it_is_not_named() -> None:
    read = profile("{}", args="[{name: NodeResourcesLeastAllocated, args: {resources: [{name: cpu}]}}]")
    assert args_of(read) == {
        "NodeResourcesFit": {"scoringStrategy": {"type": "LeastAllocated", "resources": [{"name": "cpu"}]}}
    }
    assert names(read, "score", "enabled") == []


def test_a_strategy_that_is_set_already_stays() -> None:
    strategy = {"scoringStrategy": {"type": "LeastAllocated"}}
    read = profile(
        "{score: {enabled: [{name: NodeResourcesMostAllocated}]}}",
        args="[{name: NodeResourcesFit, args: {scoringStrategy: {type: LeastAllocated}}}]",
    )
    assert args_of(read) == {"NodeResourcesFit": strategy}


def test_least_allocated_disabled_takes_the_resources_out_of_the_scores() -> None:
    read = profile("{score: {disabled: [{name: NodeResourcesLeastAllocated}]}}")
    assert names(read, "score", "disabled") == [("NodeResourcesFit", None)]
    assert names(read, "pre_score", "disabled") == [("NodeResourcesFit", None)]


@pytest.mark.parametrize(
    ("disabled_at", "name", "also"),
    [
        ("filter", "VolumeZone", {"preFilter"}),
        ("filter", "NodeVolumeLimits", {"preFilter"}),
        ("filter", "VolumeRestrictions", {"preFilter"}),
        ("filter", "VolumeBinding", {"preScore", "score"}),
        ("filter", "TaintToleration", set()),
        ("preFilter", "NodeAffinity", set()),
        ("score", "NodeResourcesBalancedAllocation", {"preScore"}),
        ("postFilter", "DefaultPreemption", {"preEnqueue"}),
    ],
)
def test_a_plugin_taken_off_a_point_leaves_the_companion_points_it_has_gained(
    disabled_at: str, name: str, also: set[str]
) -> None:
    written = f"{{{disabled_at}: {{disabled: [{{name: {name}}}]}}}}"
    points = ", ".join(f"{point}: {{disabled: [{{name: {name}}}]}}" for point in (disabled_at, *sorted(also)))
    assert profile(written, "v1beta2") == profile(f"{{{points}}}", "v1")
    assert profile(written, "v1beta3") == profile(written, "v1")


def test_all_plugins_taken_off_filter_take_their_new_pre_filters_along() -> None:
    read = profile("{filter: {disabled: [{name: '*'}], enabled: [{name: VolumeZone}]}}")
    assert names(read, "pre_filter", "disabled") == [("VolumeRestrictions", None), ("NodeVolumeLimits", None)]


def test_the_kosmos_sample_has_no_volume_binding_anywhere() -> None:
    read, warnings = from_file("kosmos-v1beta1.yaml")
    (kosmos,) = read.profiles
    assert kosmos.scheduler_name == "kosmos-scheduler"
    for point in ("pre_filter", "filter", "pre_score", "score", "reserve", "pre_bind"):
        assert ("VolumeBinding", None) in names(kosmos, point, "disabled")
    assert args_of(kosmos)["LeafNodeVolumeBinding"] == {"bindTimeoutSeconds": 5}
    assert len(warnings) == 1


@pytest.mark.parametrize("name", ["crane-v1beta2.yaml", "crane-v1beta3.yaml"])
def test_the_crane_samples_enable_dynamic_with_its_weight(name: str) -> None:
    (crane,) = from_file(name)[0].profiles
    assert names(crane, "filter", "enabled") == [("Dynamic", None)]
    assert names(crane, "score", "enabled") == [("Dynamic", 3)]
    assert args_of(crane) == {"Dynamic": {"policyConfigPath": "/etc/kubernetes/policy.yaml"}}
