"""Fields of versions before v1: each is read as something, or left out, and each says so."""

from __future__ import annotations

import pytest

from bayplan.framework.config.model import PluginRef, ProfileConfig
from tests.framework.fakes import complaints, config, from_file, loaded


def warned(text: str, version: str) -> list[str]:
    """The warnings about a configuration, without the file in front and the one about its version."""
    first, *rest = (warning.removeprefix("cfg.yaml: ") for warning in loaded(text, version)[1])
    assert first.startswith(f"apiVersion: {version} is read as v1")
    return rest


def args_of(profile: ProfileConfig) -> dict[str, object]:
    return {entry.name: entry.args for entry in profile.plugin_config}


@pytest.mark.parametrize("version", ["v1beta3", "v1beta2", "v1beta1", "v1alpha2", "v1alpha1"])
def test_an_old_version_is_read_with_one_warning(version: str) -> None:
    read, warnings = loaded("profiles: [{schedulerName: a}]", version)
    assert read == config("profiles: [{schedulerName: a}]")
    assert warnings == [
        f"cfg.yaml: apiVersion: {version} is read as v1, with v1's default plugins and weights; "
        "kube-scheduler no longer takes it, write kubescheduler.config.k8s.io/v1"
    ]


@pytest.mark.parametrize(
    ("text", "same", "warnings"),
    [
        ("healthzBindAddress: 0.0.0.0:10251", "",
         ["healthzBindAddress: is ignored: health is served on the secure port; use --secure-port"]),
        ("metricsBindAddress: ''", "",
         ["metricsBindAddress: is ignored: metrics are served on the secure port; use --secure-port"]),
        ("algorithmSource: {provider: DefaultProvider}", "",
         ["algorithmSource: is ignored: no policy or provider is read; name plugins in profiles[].plugins instead"]),
        ("featureGates: {X: true}", "", ["featureGates: is ignored: there are no feature gates in the file"]),
        ("leaderElection: {lockObjectName: n, lockObjectNamespace: s}",
         "leaderElection: {resourceName: n, resourceNamespace: s}",
         ["leaderElection.lockObjectNamespace: is read as resourceNamespace",
          "leaderElection.lockObjectName: is read as resourceName"]),
        ("leaderElection: {resourceLock: endpointsleases}", "",
         ['leaderElection.resourceLock: "endpointsleases" is read as "leases", the only lock there is now']),
        ("hardPodAffinitySymmetricWeight: 7",
         "profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 7}}]}]",
         ["hardPodAffinitySymmetricWeight: is read as the arg hardPodAffinityWeight of InterPodAffinity"]),
        ("bindTimeoutSeconds: 9\nprofiles: [{pluginConfig: [{name: VolumeBinding}]}]",
         "profiles: [{pluginConfig: [{name: VolumeBinding, args: {bindTimeoutSeconds: 9}}]}]",
         ["bindTimeoutSeconds: is read as the arg bindTimeoutSeconds of VolumeBinding"]),
        ("topologySpreadConstraints: []",
         "profiles: [{pluginConfig: [{name: PodTopologySpread, "
         "args: {defaultConstraints: [], defaultingType: List}}]}]",
         ["topologySpreadConstraints: is read as the arg defaultConstraints of PodTopologySpread"]),
        ("disablePreemption: false", "",
         ["disablePreemption: is ignored: preemption is on unless DefaultPreemption is disabled"]),
        ("disablePreemption: true",
         "profiles: [{plugins: {postFilter: {disabled: [{name: DefaultPreemption}]}, "
         "preEnqueue: {disabled: [{name: DefaultPreemption}]}}}]",
         ["disablePreemption: is read as DefaultPreemption under profiles[].plugins.postFilter.disabled"]),
        ("profiles: [{plugins: {scoring: {enabled: [{name: A}]}, score: {enabled: [{name: B}]}}}]",
         "profiles: [{plugins: {score: {enabled: [{name: B}, {name: A}]}}}]",
         ["profiles[0].plugins.scoring: is read as score"]),
        ("profiles: [{plugins: {unreserve: {enabled: [{name: A}]}, reserve: {enabled: [{name: A}]}}}]",
         "profiles: [{plugins: {reserve: {enabled: [{name: A}]}}}]",
         ["profiles[0].plugins.unreserve: is read as reserve"]),
        ("profiles: [{plugins: {normalizeScore: {enabled: [{name: A}]}}}]", "",
         ["profiles[0].plugins.normalizeScore: is ignored: plugins at score normalize their own scores"]),
    ],
)  # fmt: skip
@pytest.mark.parametrize("version", ["v1beta1", "v1alpha2"])
def test_an_old_field_is_read_as_a_new_one(text: str, same: str, warnings: list[str], version: str) -> None:
    assert config(text, version) == config(same)
    assert warned(text, version) == warnings


def test_v1alpha1_had_one_scheduler_at_the_top() -> None:
    text = "schedulerName: mine\nplugins: {score: {enabled: [{name: A}]}}\npluginConfig: [{name: A, args: {x: 1}}]"
    profile = "{schedulerName: mine, plugins: {score: {enabled: [{name: A}]}}, pluginConfig: [{name: A, args: {x: 1}}]}"
    assert config(text, "v1alpha1") == config(f"profiles: [{profile}]")
    assert warned(text, "v1alpha1") == [
        "schedulerName: is read as profiles[0].schedulerName",
        "plugins: is read as profiles[0].plugins",
        "pluginConfig: is read as profiles[0].pluginConfig",
    ]


def test_post_filter_meant_pre_score_in_v1alpha1_only() -> None:
    text = "profiles: [{plugins: {postFilter: {enabled: [{name: A}]}}}]"
    assert config(text, "v1alpha1").profiles[0].plugins.pre_score.enabled == (PluginRef(name="A"),)
    assert warned(text, "v1alpha1") == ["profiles[0].plugins.postFilter: is read as preScore"]
    assert config(text, "v1beta1").profiles[0].plugins.post_filter.enabled == (PluginRef(name="A"),)


def test_args_that_are_given_win_over_an_old_setting() -> None:
    text = """
hardPodAffinitySymmetricWeight: 7
profiles: [{pluginConfig: [{name: InterPodAffinity, args: {hardPodAffinityWeight: 3}}]}]
"""
    assert args_of(config(text, "v1alpha2").profiles[0]) == {"InterPodAffinity": {"hardPodAffinityWeight": 3}}


def test_mistakes_in_an_old_version_still_get_their_lines() -> None:
    assert complaints("plugins: {scoring: {enabled: [{nam: x}]}}\nnonsense: 1", "v1alpha1") == [
        "profiles[0].plugins.score.enabled[0].name: is missing, but required",
        'profiles[0].plugins.score.enabled[0].nam: unknown field; did you mean "name"?',
        "nonsense: unknown field; known here: parallelism, leaderElection, clientConnection, enableProfiling, "
        "enableContentionProfiling, percentageOfNodesToScore, podInitialBackoffSeconds, podMaxBackoffSeconds, "
        "profiles, extenders, delayCacheUntilActive",
    ]


def test_the_v1alpha1_sample_without_a_name_loads() -> None:
    read, warnings = from_file("foo-v1alpha1.yaml")
    (profile,) = read.profiles
    assert profile.scheduler_name == "default-scheduler"
    assert [ref.name for ref in profile.plugins.filter.enabled] == ["foo", "bar"]
    assert [ref.name for ref in profile.plugins.score.enabled] == ["foo"]
    assert args_of(profile) == {"foo": "anything the plugin foo can read\n"}
    assert [warning.split(": ")[1] for warning in warnings] == [
        "apiVersion",
        "plugins",
        "pluginConfig",
        "profiles[0].plugins.scoring",
    ]


def test_the_v1alpha1_sample_with_a_name_loads() -> None:
    read, warnings = from_file("named-v1alpha1.yaml")
    (profile,) = read.profiles
    assert profile.scheduler_name == "sample-scheduler"
    assert read.leader_election.resource_name == "sample-scheduler"
    assert profile.plugins.pre_score.enabled == profile.plugins.reserve.enabled == (PluginRef(name="sample-plugin"),)
    assert args_of(profile)["InterPodAffinity"] == {"hardPodAffinityWeight": 7}
    assert args_of(profile)["VolumeBinding"] == {"bindTimeoutSeconds": 30}
    assert len(warnings) == 13
