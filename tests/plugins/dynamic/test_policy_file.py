"""The policy follows its file."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bayplan.clock import VirtualClock
from bayplan.objects.third_party.crane import published_policy
from bayplan.plugins.dynamic.policy_file import PolicyFile

TEXT = """apiVersion: scheduler.policy.crane.io/v1alpha1
kind: DynamicSchedulerPolicy
spec:
  syncPolicy: [{name: cpu_usage_avg_5m, period: 3m}]
  predicate: [{name: cpu_usage_avg_5m, maxLimitPecent: LIMIT}]
"""


def write(path: Path, limit: str, version: int) -> None:
    path.write_text(TEXT.replace("LIMIT", limit))
    os.utime(path, ns=(version, version))


def test_without_a_file_the_published_policy_holds() -> None:
    assert PolicyFile("", lambda: 0.0).policy() == published_policy()


def test_a_changed_file_is_read_again_and_one_with_a_mistake_is_not_used(tmp_path: Path) -> None:
    clock, path = VirtualClock(), tmp_path / "policy.yaml"
    write(path, "0.5", 1)
    followed = PolicyFile(str(path), clock.now)
    assert followed.policy().predicate[0].limit == 0.5
    for version, (written, limit) in enumerate([("0.6", 0.6), ("six", 0.6), ("0.7", 0.7)], start=2):
        write(path, written, version)
        clock.advance(1)
        assert followed.policy().predicate[0].limit == limit
    path.unlink()
    clock.advance(1)
    assert followed.policy().predicate[0].limit == 0.7


def test_a_file_that_is_wrong_from_the_start_is_refused_with_its_place(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"policyConfigPath: .*none\.yaml: no such file"):
        PolicyFile(str(tmp_path / "none.yaml"), lambda: 0.0)
