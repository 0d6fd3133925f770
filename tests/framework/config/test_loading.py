"""Reading a KubeSchedulerConfiguration: all fields, defaults, and mistakes in its shape with their paths."""

from __future__ import annotations

from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from bayplan.errors import ConfigError
from bayplan.framework.config.loading import load_config
from bayplan.framework.config.model import PluginRef, ProfileConfig, SchedulerConfig
from tests.framework.fakes import CONFIGS, complaints, config, from_file

HEAD = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}


def test_defaults_are_those_of_kube_scheduler() -> None:
    empty = config("")
    election, client = empty.leader_election, empty.client_connection
    assert empty.parallelism == 16
    assert (election.leader_elect, election.lease_duration_s, election.renew_deadline_s) == (True, 15.0, 10.0)
    assert (election.retry_period_s, election.resource_lock) == (2.0, "leases")
    assert (election.resource_name, election.resource_namespace) == ("kube-scheduler", "kube-system")
    assert (client.kubeconfig, client.accept_content_types) == ("", "")
    assert (client.content_type, client.qps, client.burst) == ("application/vnd.kubernetes.protobuf", 50.0, 100)
    assert (empty.enable_profiling, empty.enable_contention_profiling) == (True, None)
    assert empty.percentage_of_nodes_to_score is None
    assert (empty.pod_initial_backoff_seconds, empty.pod_max_backoff_seconds) == (1, 10)
    assert (empty.extenders, empty.delay_cache_until_active) == ((), False)
    assert empty.profiles == (ProfileConfig(scheduler_name="default-scheduler"),)


def test_every_field_is_read() -> None:
    read, warnings = from_file("everything-v1.yaml")
    election, client = read.leader_election, read.client_connection
    assert warnings == []
    assert read.parallelism == 8
    assert (election.leader_elect, election.lease_duration_s, election.renew_deadline_s) == (False, 90.0, 60.0)
    assert (election.retry_period_s, election.resource_name, election.resource_namespace) == (
        0.5,
        "mine",
        "my-system",
    )
    assert (client.kubeconfig, client.accept_content_types, client.content_type) == (
        "/etc/kubernetes/scheduler.conf",
        "application/json",
        "application/json",
    )
    assert (client.qps, client.burst) == (12.5, 25)
    assert (read.enable_profiling, read.enable_contention_profiling) == (False, False)
    assert (read.pod_initial_backoff_seconds, read.pod_max_backoff_seconds) == (2, 20)
    assert (read.percentage_of_nodes_to_score, read.delay_cache_until_active) == (40, True)


def test_every_field_of_a_profile_is_read() -> None:
    (profile,) = from_file("everything-v1.yaml")[0].profiles
    assert (profile.scheduler_name, profile.percentage_of_nodes_to_score) == ("packer", 0)
    assert profile.plugins.multi_point.enabled == (PluginRef(name="Mine", weight=4),)
    assert profile.plugins.multi_point.disabled == (PluginRef(name="ImageLocality"),)
    assert profile.plugins.placement_generate.enabled == (PluginRef(name="TopologyPlacementGenerator"),)
    assert profile.plugins.placement_score.enabled == (PluginRef(name="PodGroupPodsCount", weight=2),)
    assert profile.plugin_config[0].name == "NodeResourcesFit"
    assert profile.plugin_config[0].args["scoringStrategy"] == {"type": "MostAllocated"}


def test_every_field_of_an_extender_is_read() -> None:
    (extender,) = from_file("everything-v1.yaml")[0].extenders
    assert extender.url_prefix == "https://extender.example:8443/api"
    assert (extender.filter_verb, extender.preempt_verb) == ("filter", "preempt")
    assert (extender.prioritize_verb, extender.weight, extender.bind_verb) == ("prioritize", 5, "bind")
    assert (extender.enable_https, extender.node_cache_capable, extender.ignorable) == (True, True, True)
    assert extender.http_timeout_s == 0.25
    assert [(r.name, r.ignored_by_scheduler) for r in extender.managed_resources] == [("example.com/gpu", True)]
    tls = extender.tls_config
    assert tls is not None
    assert (tls.insecure, tls.server_name) == (False, "extender.example")
    assert (tls.cert_file, tls.key_file, tls.ca_file) == ("/tls/tls.crt", "/tls/tls.key", "/tls/ca.crt")
    assert (tls.cert_data, tls.key_data, tls.ca_data) == (b"cert", b"key", b"ca")
    assert "key_data" not in repr(tls)


def test_the_configuration_can_be_written_as_it_was_read() -> None:
    read, _ = from_file("everything-v1.yaml")
    again, _ = load_config(HEAD | read.model_dump(mode="json", by_alias=True), "everything-v1.yaml")
    assert again == read


def test_null_and_zero_leave_the_defaults_alone() -> None:
    read = config("""
parallelism: null
leaderElection: {leaseDuration: 0s, resourceName: "", resourceLock: null}
clientConnection: {qps: 0, burst: 0, contentType: ""}
profiles: [{plugins: {filter: null}, pluginConfig: null}]
extenders: [{urlPrefix: "http://x", httpTimeout: 0s}]
""")
    assert read == config("extenders: [{urlPrefix: 'http://x'}]")
    assert read.extenders[0].http_timeout_s == 5.0


def test_leader_election_can_be_switched_off() -> None:
    assert config("leaderElection: {leaderElect: false}").leader_election.leader_elect is False


def test_the_only_profile_needs_no_name_and_no_profile_is_one() -> None:
    assert config("profiles: []").profiles[0].scheduler_name == "default-scheduler"
    assert config("profiles: [{percentageOfNodesToScore: 5}]").profiles == (
        ProfileConfig(scheduler_name="default-scheduler", percentage_of_nodes_to_score=5),
    )
    assert SchedulerConfig().profiles[0].scheduler_name == "default-scheduler"


def test_plugin_args_stay_as_they_are() -> None:
    text = "profiles: [{pluginConfig: [{name: A, args: {x: null, y: [1]}}, {name: B, args: words}, {name: C}]}]"
    assert [entry.args for entry in config(text).profiles[0].plugin_config] == [
        {"x": None, "y": [1]},
        "words",
        None,
    ]


def test_the_file_is_remembered_for_later_messages() -> None:
    assert config("").source == "cfg.yaml"
    assert SchedulerConfig().source == ""


def test_documents_that_are_something_else_are_refused() -> None:
    with pytest.raises(ConfigError, match=r"^cfg.yaml: must be a KubeSchedulerConfiguration .* not \[1\]$"):
        load_config([1], "cfg.yaml")
    with pytest.raises(ConfigError) as caught:
        load_config({"kind": "Pod", "apiVersion": "v1", "spec": {}}, "cfg.yaml")
    assert str(caught.value).splitlines()[:2] == [
        'cfg.yaml: kind: must be "KubeSchedulerConfiguration", not "Pod"',
        'cfg.yaml: apiVersion: must be "kubescheduler.config.k8s.io/v1", not "v1"',
    ]


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("parallelism: x", 'parallelism: must be an integer, not "x"'),
        ("parallelism: true", "parallelism: must be an integer, not true"),
        ("paralelism: 3", 'paralelism: unknown field; did you mean "parallelism"?'),
        ("enableProfiling: 'yes'", 'enableProfiling: must be true or false, not "yes"'),
        ("leaderElection: [1]", "leaderElection: must be a mapping, not [1]"),
        ("leaderElection: {leaseDuration: 15}", "leaderElection.leaseDuration: 15 is not a duration; "
         'write text with a unit, such as "15s"'),
        ("leaderElection: {retryPeriod: soon}", 'leaderElection.retryPeriod: "soon" is not a duration; '
         'write a number and a unit, such as "15s" or "1m30s"'),
        ("clientConnection: {qps: fast}", 'clientConnection.qps: must be a number, not "fast"'),
        ("clientConnection: {kubeConfig: /x}", 'clientConnection.kubeConfig: unknown field; '
         'did you mean "kubeconfig"?'),
        ("profiles: {}", "profiles: must be a list, not {}"),
        ("profiles: [one]", 'profiles[0]: must be a mapping, not "one"'),
        ("profiles: [{scheduler_name: a}]", 'profiles[0].scheduler_name: unknown field; '
         'did you mean "schedulerName"?'),
        ("profiles: [{plugins: {scoring: {}}}]", 'profiles[0].plugins.scoring: unknown field; did you mean "score"?'),
        ("profiles: [{plugins: {filter: {enabled: [foo]}}}]", 'profiles[0].plugins.filter.enabled[0]: '
         'must be a mapping, not "foo"'),
        ("profiles: [{plugins: {filter: {enable: [{name: foo}]}}}]", 'profiles[0].plugins.filter.enable: '
         'unknown field; did you mean "enabled"?'),
        ("profiles: [{plugins: {score: {enabled: [{name: a}, {name: b, weight: heavy}]}}}]",
         'profiles[0].plugins.score.enabled[1].weight: must be an integer, not "heavy"'),
        ("profiles: [{plugins: {bind: {disabled: [{weight: 1}]}}}]", 'profiles[0].plugins.bind.disabled[0].name: '
         'is missing, but required'),
        ("extenders: [{filterVerb: f}]", "extenders[0].urlPrefix: is missing, but required"),
        ("extenders: [{urlPrefix: u, tlsConfig: {keyData: '%%'}}]", "extenders[0].tlsConfig.keyData: "
         "must be base64 text"),
    ],
)  # fmt: skip
def test_a_mistake_gets_one_line_with_its_path(text: str, line: str) -> None:
    assert complaints(text) == [line]


def test_all_mistakes_are_listed_at_once() -> None:
    assert complaints("""
parallelism: 0
leaderElection: {leaseDuration: 5s, renewDeadlin: 3s}
profiles:
- schedulerName: a
  plugins: {score: {enabled: [{name: A, weight: x}, {weight: 3}, {name: A}]}}
- schedulerName: a
extenders:
- {prioritizeVerb: p}
""") == [
        'leaderElection.renewDeadlin: unknown field; did you mean "renewDeadline"?',
        'profiles[0].plugins.score.enabled[0].weight: must be an integer, not "x"',
        "profiles[0].plugins.score.enabled[1].name: is missing, but required",
        "extenders[0].urlPrefix: is missing, but required",
        "parallelism: must be greater than 0, not 0",
        "leaderElection.leaseDuration: must be greater than renewDeadline",
        'profiles[0].plugins.score.enabled[2].name: "A" is listed twice; keep one',
        'profiles[1].schedulerName: "a" is taken by profiles[0].schedulerName; names must differ',
        "extenders[0].weight: must be greater than 0 with a prioritizeVerb, not 0",
    ]


@pytest.mark.parametrize("path", sorted(CONFIGS.glob("*.yaml")), ids=lambda path: path.stem)
def test_the_sample_configurations_load_and_old_ones_say_so(path: Any) -> None:
    _, warnings = from_file(path.name)
    is_old = not path.stem.endswith("-v1")
    assert any(" apiVersion: " in warning for warning in warnings) is is_old


_SCALARS = st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from(["", "x", "15s", "*", "NodeLabel"])
_KEYS = st.sampled_from([
    "profiles", "plugins", "pluginConfig", "schedulerName", "filter", "score", "scoring", "unreserve", "enabled",
    "disabled", "name", "weight", "args", "leaderElection", "leaseDuration", "lockObjectName", "extenders",
    "urlPrefix", "tlsConfig", "caData", "managedResources", "disablePreemption", "bindTimeoutSeconds",
    "hardPodAffinitySymmetricWeight", "topologySpreadConstraints", "algorithmSource", "nonsense",
])  # fmt: skip
_ANYTHING = st.recursive(_SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner))


@given(st.dictionaries(_KEYS, _ANYTHING), st.sampled_from(["v1", "v1beta3", "v1beta2", "v1beta1", "v1alpha1"]))
def test_whatever_stands_in_the_file_it_loads_or_gets_lines_with_paths(body: dict[str, Any], version: str) -> None:
    head = {"apiVersion": f"kubescheduler.config.k8s.io/{version}", "kind": "KubeSchedulerConfiguration"}
    before = yaml.safe_dump(body)
    assert all(line.startswith("cfg.yaml: ") for line in _lines_about(head | body))
    assert yaml.safe_dump(body) == before


def _lines_about(document: dict[str, Any]) -> list[str]:
    try:
        return load_config(document, "cfg.yaml")[1]
    except ConfigError as error:
        return str(error).splitlines()
