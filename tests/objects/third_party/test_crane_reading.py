"""A policy is read as it is published; whatever is wrong with one is told at once, field by field."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from bayplan.errors import InputError
from bayplan.objects.third_party.crane import DynamicSchedulerPolicy, LoadLimit, published_policy
from bayplan.objects.third_party.crane_reading import load_policy, parse_policy, policy_in_config_map

PUBLISHED = """\
apiVersion: scheduler.policy.crane.io/v1alpha1
kind: DynamicSchedulerPolicy
spec:
  syncPolicy:
    ##cpu usage
    - name: cpu_usage_avg_5m
      period: 3m
    - name: cpu_usage_max_avg_1h
      period: 15m
    - name: cpu_usage_max_avg_1d
      period: 3h
    ##memory usage
    - name: mem_usage_avg_5m
      period: 3m
    - name: mem_usage_max_avg_1h
      period: 15m
    - name: mem_usage_max_avg_1d
      period: 3h

  predicate:
    - name: cpu_usage_avg_5m
      maxLimitPecent: 0.65
    - name: cpu_usage_max_avg_1h
      maxLimitPecent: 0.75
    - name: mem_usage_avg_5m
      maxLimitPecent: 0.65
    - name: mem_usage_max_avg_1h
      maxLimitPecent: 0.75

  priority:
    - name: cpu_usage_avg_5m
      weight: 0.2
    - name: cpu_usage_max_avg_1h
      weight: 0.3
    - name: cpu_usage_max_avg_1d
      weight: 0.5
    - name: mem_usage_avg_5m
      weight: 0.2
    - name: mem_usage_max_avg_1h
      weight: 0.3
    - name: mem_usage_max_avg_1d
      weight: 0.5

  hotValue:
    - timeRange: 5m
      count: 5
    - timeRange: 1m
      count: 2
"""


def document(**spec: Any) -> str:
    good = {"syncPolicy": [{"name": "cpu", "period": "3m"}]}
    return json.dumps(
        {
            "apiVersion": "scheduler.policy.crane.io/v1alpha1",
            "kind": "DynamicSchedulerPolicy",
            "spec": {**good, **spec},
        }
    )


def said(text: str) -> list[str]:
    with pytest.raises(InputError) as caught:
        parse_policy(text, "policy.yaml")
    return str(caught.value).splitlines()


def test_the_published_policy_is_read() -> None:
    assert parse_policy(PUBLISHED, "policy.yaml") == published_policy()


def test_the_limit_may_be_spelt_properly() -> None:
    assert parse_policy(PUBLISHED.replace("maxLimitPecent", "maxLimitPercent"), "p") == published_policy()


def test_lists_that_are_not_written_are_empty_and_zero_switches_a_limit_off() -> None:
    policy = parse_policy(document(predicate=[{"name": "cpu", "maxLimitPecent": 0}], priority=None), "p")
    assert policy.predicate == (LoadLimit("cpu", 0.0),)
    assert policy.priority == policy.hot_value == ()


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- 1\n", "policy.yaml: expected a DynamicSchedulerPolicy, found [1]; begin with apiVersion, kind and spec"),
        ("", "policy.yaml: expected one DynamicSchedulerPolicy, found 0 documents; write one"),
        ("a: 1\n---\nb: 1\n", "policy.yaml: expected one DynamicSchedulerPolicy, found 2 documents; keep one of them"),
        (
            PUBLISHED.replace("v1alpha1", "v1"),
            'policy.yaml: apiVersion: "scheduler.policy.crane.io/v1" is not scheduler.policy.crane.io/v1alpha1; '
            "write apiVersion: scheduler.policy.crane.io/v1alpha1",
        ),
        (
            PUBLISHED.replace("kind: DynamicSchedulerPolicy\n", ""),
            "policy.yaml: kind: is missing; write kind: DynamicSchedulerPolicy",
        ),
        (
            PUBLISHED.replace("  hotValue:", "  hotValues:"),
            "policy.yaml: spec.hotValues: unknown field; write hotValue",
        ),
        (
            document(syncPolicy="often"),
            'policy.yaml: spec.syncPolicy: "often" is not a list; begin each entry with "- "',
        ),
        (
            document(hotValue=[3]),
            "policy.yaml: spec.hotValue[0]: 3 is not a mapping; write its fields below each other",
        ),
        (
            document(syncPolicy=[{"name": "cpu", "period": 3}]),
            'policy.yaml: spec.syncPolicy[0].period: 3 is not a duration; write a number and a unit, such as "3m"',
        ),
        (
            document(syncPolicy=[{"name": "cpu", "period": "3"}]),
            'policy.yaml: spec.syncPolicy[0].period: "3" is not a duration; '
            'write a number and a unit, such as "15s" or "1m30s"',
        ),
        (
            document(syncPolicy=[{"name": "cpu", "period": "0s"}]),
            'policy.yaml: spec.syncPolicy[0].period: "0s" is no time at all; write more than 0, such as "3m"',
        ),
        (
            document(syncPolicy=[{"name": "a:b", "period": "3m"}]),
            'policy.yaml: spec.syncPolicy[0].name: "a:b" cannot be both a metric and an annotation; '
            "write at most 63 letters, digits and inner underscores, not beginning with a digit",
        ),
        (
            document(syncPolicy=[{"name": "node_hot_value", "period": "3m"}]),
            'policy.yaml: spec.syncPolicy[0].name: "node_hot_value" is the annotation of the hot value; write another name',
        ),
        (
            document(syncPolicy=[{"period": "3m"}]),
            "policy.yaml: spec.syncPolicy[0].name: is missing; write one such as cpu_usage_avg_5m",
        ),
        (
            document(syncPolicy=[{"name": "cpu", "period": "3m"}, {"name": "cpu", "period": "5m"}]),
            'policy.yaml: spec.syncPolicy[1].name: "cpu" is at spec.syncPolicy[0] already; keep one of them',
        ),
        (
            document(predicate=[{"name": "cpu", "maxLimitPecent": 65}]),
            "policy.yaml: spec.predicate[0].maxLimitPecent: 65 is not a fraction; write a number from 0 to 1 such as 0.65",
        ),
        (
            document(predicate=[{"name": "cpu", "maxLimitPercent": -0.1}]),
            "policy.yaml: spec.predicate[0].maxLimitPercent: -0.1 is not a fraction; write a number from 0 to 1",
        ),
        (
            document(predicate=[{"name": "cpu", "maxLimitPecent": "0.65"}]),
            'policy.yaml: spec.predicate[0].maxLimitPecent: "0.65" is not a number; write one such as 0.65, without quotes',
        ),
        (
            document(predicate=[{"name": "cpu"}]),
            "policy.yaml: spec.predicate[0].maxLimitPecent: is missing; write one such as 0.65, without quotes",
        ),
        (
            document(predicate=[{"name": "cpu", "maxLimitPecent": 0.5, "maxLimitPercent": 0.6}]),
            "policy.yaml: spec.predicate[0].maxLimitPercent: maxLimitPecent says the same; keep one of them",
        ),
        (
            document(predicate=[{"name": "memory", "maxLimitPecent": 0.5}]),
            'policy.yaml: spec.predicate[0].name: "memory" is never measured; add it, with a period, to spec.syncPolicy',
        ),
        (
            document(
                syncPolicy=[{"name": "cpu_usage_avg_5m", "period": "3m"}],
                priority=[{"name": "cpu_usage_avg5m", "weight": 1}],
            ),
            'policy.yaml: spec.priority[0].name: "cpu_usage_avg5m" is never measured; '
            'write "cpu_usage_avg_5m", or add it to spec.syncPolicy',
        ),
        (
            document(priority=[{"name": "cpu", "weight": -1}]),
            "policy.yaml: spec.priority[0].weight: -1 is less than nothing; write a number from 0 to 1000000",
        ),
        (
            document(priority=[{"name": "cpu", "weight": 1e300}]),
            "policy.yaml: spec.priority[0].weight: 1e+300 is too much; write a number from 0 to 1000000",
        ),
        (
            document(priority=[{"name": "cpu", "weight": 10**400}]),
            "policy.yaml: spec.priority[0].weight: inf is too much; write a number from 0 to 1000000",
        ),
        (
            document(predicate=[{"name": "cpu", "maxLimitPecent": -(10**400)}]),
            "policy.yaml: spec.predicate[0].maxLimitPecent: -inf is not a fraction; write a number from 0 to 1",
        ),
        (
            document(priority=5),
            'policy.yaml: spec.priority: 5 is not a list; begin each entry with "- "',
        ),
        (
            document(syncPolicy=[{"name": "cpu", "period": "1ms"}]),
            'policy.yaml: spec.syncPolicy[0].period: "1ms" is less than a second; write "1s" or more, such as "3m"',
        ),
        (
            document(priority=[{"name": "cpu", "weight": 0}]),
            "policy.yaml: spec.priority: the weights are all 0; write one above 0, or leave the list out",
        ),
        (
            document(hotValue=[{"timeRange": "5m", "count": 0}]),
            "policy.yaml: spec.hotValue[0].count: 0 pods cannot make a node hotter; write 1 or more",
        ),
        (
            document(hotValue=[{"timeRange": "5m", "count": "5"}]),
            'policy.yaml: spec.hotValue[0].count: "5" is not a whole number; write 1 or more, without quotes',
        ),
        (
            document(hotValue=[{"timeRange": "-5m", "count": 5}]),
            'policy.yaml: spec.hotValue[0].timeRange: "-5m" is no time at all; write more than 0, such as "5m"',
        ),
    ],
)
def test_a_mistake_is_one_line_that_says_what_to_write(text: str, line: str) -> None:
    assert said(text) == [line]


def test_every_mistake_is_told_at_once() -> None:
    lines = said(
        PUBLISHED.replace("period: 3m", "period: 3", 1)
        .replace("maxLimitPecent: 0.65", "maxLimitPecent: 65", 1)
        .replace("weight: 0.2", "wieght: 0.2", 1)
        .replace("count: 5", "count: 0")
    )
    fields = [line.split(": ")[1] for line in lines]
    assert fields == [
        "spec.syncPolicy[0].period",
        "spec.predicate[0].maxLimitPecent",
        "spec.priority[0].wieght",
        "spec.priority[0].weight",
        "spec.hotValue[0].count",
    ]


def test_a_key_that_is_there_twice_is_told_with_its_line() -> None:
    assert said(PUBLISHED.replace("  hotValue:", "  priority:")) == [
        'policy.yaml:44: the key "priority" occurs twice in one mapping; keep one of them'
    ]


def test_a_policy_comes_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    file.write_text(PUBLISHED)
    assert load_policy(file) == published_policy()


@pytest.mark.parametrize(("content", "problem"), [(None, "no such file"), (b"\xff\xfe", "this is UTF-16 text")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: bytes | None, problem: str) -> None:
    file = tmp_path / "policy.yaml"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(InputError, match=f"{file}: {problem}"):
        load_policy(file)


def test_a_config_map_with_one_key_needs_no_name_for_it() -> None:
    policy = policy_in_config_map({"policy.yaml": PUBLISHED}, "ConfigMap kube-system/policy")
    assert isinstance(policy, DynamicSchedulerPolicy)
    assert policy == policy_in_config_map({"a": "", "b": PUBLISHED}, "ConfigMap kube-system/policy", "b")


@pytest.mark.parametrize(
    ("data", "key", "line"),
    [
        (None, "", "ConfigMap a/b: data: several keys, or none, could hold the policy (keys: none); "),
        ({"x": "", "y": ""}, "", "ConfigMap a/b: data: several keys, or none, could hold the policy (keys: x, y); "),
        ({"x": ""}, "y", 'ConfigMap a/b: data: there is no key "y" (keys: x); '),
    ],
)
def test_a_config_map_without_the_policy_is_told_apart(data: dict[str, str] | None, key: str, line: str) -> None:
    with pytest.raises(InputError) as caught:
        policy_in_config_map(data, "ConfigMap a/b", key)
    assert str(caught.value) == f"{line}name the key that holds it"


def test_mistakes_in_a_config_map_name_it_and_the_key() -> None:
    with pytest.raises(InputError, match=r"ConfigMap a/b: p\.yaml: apiVersion: is missing"):
        policy_in_config_map({"p.yaml": "kind: DynamicSchedulerPolicy\nspec: {}\n"}, "ConfigMap a/b")
