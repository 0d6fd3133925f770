"""What a configuration must not say, rule by rule; and what kube-scheduler takes, although it may look odd."""

from __future__ import annotations

import pytest

from tests.framework.fakes import complaints, config


@pytest.mark.parametrize(
    ("text", "line"),
    [
        # numbers
        (f"parallelism: {10**20}", f"parallelism: must be at most 2147483647, not {10**20}"),
        ("clientConnection: {burst: 2147483648}", "clientConnection.burst: must be at most 2147483647, not 2147483648"),
        ("parallelism: 0", "parallelism: must be greater than 0, not 0"),
        ("percentageOfNodesToScore: 101", "percentageOfNodesToScore: must be from 0 to 100, not 101"),
        ("percentageOfNodesToScore: -1", "percentageOfNodesToScore: must be from 0 to 100, not -1"),
        ("podInitialBackoffSeconds: 0", "podInitialBackoffSeconds: must be greater than 0, not 0"),
        ("podInitialBackoffSeconds: 20", "podMaxBackoffSeconds: must be at least podInitialBackoffSeconds (20), "
         "not 10"),
        ("clientConnection: {burst: -1}", "clientConnection.burst: must be 0 or more, not -1"),
        ("profiles: [{plugins: {score: {enabled: [{name: A, weight: 3000000000}]}}}]",
         "profiles[0].plugins.score.enabled[0].weight: must be at most 2147483647, not 3000000000"),
        ("profiles: [{plugins: {multiPoint: {enabled: [{name: A, weight: 2147483648}]}}}]",
         "profiles[0].plugins.multiPoint.enabled[0].weight: must be at most 2147483647, not 2147483648"),
        (f"extenders: [{{urlPrefix: 'http://a', prioritizeVerb: p, weight: {2**63}}}]",
         f"extenders[0].weight: must be at most {2**63 - 1}, not {2**63}"),
        (f"podMaxBackoffSeconds: {2**63}", f"podMaxBackoffSeconds: must be at most {2**63 - 1}, not {2**63}"),
        # leader election
        ("leaderElection: {leaseDuration: 10s}", "leaderElection.leaseDuration: must be greater than renewDeadline"),
        ("leaderElection: {retryPeriod: -1s}", "leaderElection.retryPeriod: must be greater than 0s"),
        ("leaderElection: {resourceLock: endpoints}", 'leaderElection.resourceLock: must be "leases", '
         'not "endpoints"'),
        # profiles
        ("profiles: [{schedulerName: ''}]", "profiles[0].schedulerName: is missing, but required: "
         "pods choose the profile by it"),
        ("profiles: [{schedulerName: a}, {}]", "profiles[1].schedulerName: is missing, but required: "
         "pods choose the profile by it"),
        ("profiles: [{schedulerName: a}, {schedulerName: a}]", 'profiles[1].schedulerName: "a" is taken by '
         "profiles[0].schedulerName; names must differ"),
        ("profiles: [{percentageOfNodesToScore: 200}]", "profiles[0].percentageOfNodesToScore: "
         "must be from 0 to 100, not 200"),
        ("profiles: [{plugins: {filter: {enabled: [{name: A}, {name: A}]}}}]",
         'profiles[0].plugins.filter.enabled[1].name: "A" is listed twice; keep one'),
        ("profiles: [{plugins: {multiPoint: {enabled: [{name: A}, {name: B}, {name: A}]}}}]",
         'profiles[0].plugins.multiPoint.enabled[2].name: "A" is listed twice; keep one'),
        ("profiles: [{plugins: {filter: {enabled: [{name: '*'}]}}}]", "profiles[0].plugins.filter.enabled[0].name: "
         '"*" stands for all plugins under disabled only; name one plugin here'),
        ("profiles: [{plugins: {filter: {disabled: [{name: ''}]}}}]", "profiles[0].plugins.filter.disabled[0].name: "
         "must not be empty"),
        ("profiles: [{plugins: {score: {enabled: [{name: A, weight: -1}]}}}]",
         "profiles[0].plugins.score.enabled[0].weight: must be 0 or more, not -1"),
        ("profiles: [{plugins: {filter: {enabled: [{name: EBSLimits}]}}}]",
         'profiles[0].plugins.filter.enabled[0].name: "EBSLimits" is not part of v1; remove it, '
         "NodeVolumeLimits does its work"),
        ("profiles: [{pluginConfig: [{name: GCEPDLimits}]}]", 'profiles[0].pluginConfig[0].name: "GCEPDLimits" '
         "is not part of v1; remove it, NodeVolumeLimits does its work"),
        ("profiles: [{pluginConfig: [{name: A}, {name: A}]}]", 'profiles[0].pluginConfig[1].name: "A" is listed '
         "twice; keep one"),
        ("profiles: [{plugins: {placementGenerate: {enabled: [{name: A}, {name: B}]}}}]",
         "profiles[0].plugins.placementGenerate.enabled: at most one plugin can generate placements"),
        # one queue
        ("profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: X}, {name: Y}]}}}]",
         "profiles[0].plugins.queueSort.enabled: only one queue sort plugin can be enabled"),
        ("profiles: [{schedulerName: a, plugins: {queueSort: {enabled: [{name: X}]}}}, {schedulerName: b}]",
         "profiles[1].plugins.queueSort: must be the same as in profiles[0]: there is one queue"),
        ("""
profiles:
- schedulerName: a
  plugins: &sort {queueSort: {enabled: [{name: X}]}}
  pluginConfig: [{name: X, args: {by: age}}]
- schedulerName: b
  plugins: *sort
  pluginConfig: [{name: Z}, {name: X, args: {by: size}}]
""", "profiles[1].pluginConfig[1].args: the args of queue sort plugin X must be the same as in profiles[0]"),
        # extenders
        ("extenders: [{urlPrefix: ''}]", 'extenders[0].urlPrefix: must not be empty; write the address, '
         'such as "http://host:port/path"'),
        ("extenders: [{urlPrefix: u, prioritizeVerb: p}]", "extenders[0].weight: must be greater than 0 with a "
         "prioritizeVerb, not 0"),
        ("extenders: [{urlPrefix: u, bindVerb: b}, {urlPrefix: v, bindVerb: b}]", "extenders[1].bindVerb: "
         "only one extender can bind, and extenders[0] does already"),
        ("extenders: [{urlPrefix: u, managedResources: [{name: cpu}]}]", "extenders[0].managedResources[0].name: "
         '"cpu" is not an extended resource; write a name such as "example.com/gpu"'),
        ("extenders: [{urlPrefix: u, managedResources: [{name: 'a b/c'}]}]",
         'extenders[0].managedResources[0].name: "a b/c" is not an extended resource; write a name such as '
         '"example.com/gpu"'),
        ("""
extenders:
- {urlPrefix: u, managedResources: [{name: a.io/x}]}
- {urlPrefix: v, managedResources: [{name: a.io/x}]}
""", 'extenders[1].managedResources[0].name: "a.io/x" is managed already; name each resource once'),
    ],
)  # fmt: skip
def test_a_broken_rule_gets_one_line_with_its_path(text: str, line: str) -> None:
    assert complaints(text) == [line]


@pytest.mark.parametrize(
    "text",
    [
        "leaderElection: {leaderElect: false, leaseDuration: 1s, resourceLock: endpoints}",
        "podInitialBackoffSeconds: 5\npodMaxBackoffSeconds: 5",
        "percentageOfNodesToScore: 0",
        "percentageOfNodesToScore: 100",
        "profiles: [{plugins: {filter: {disabled: [{name: EBSLimits}, {name: '*'}]}}}]",
        "profiles: [{plugins: {score: {enabled: [{name: A, weight: 0}]}}}]",
        "profiles: [{plugins: {score: {enabled: [{name: A}]}, filter: {enabled: [{name: A}]}}}]",
        "profiles: [{schedulerName: a, pluginConfig: [{name: X}]}, {schedulerName: b}]",
    ],
)
def test_what_kube_scheduler_takes_is_taken(text: str) -> None:
    assert config(text).profiles
