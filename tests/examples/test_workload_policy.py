"""
examples/workload-policy: the published manifests and configuration, as printed, give what the .out files show.

After a change on purpose: python -m tests.examples.test_workload_policy.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter
from typing import Any

import pytest
import yaml

from tests.support.kosmos import EXAMPLES

ROOT = EXAMPLES.parents[1]
COMMON = ["-f", "nodes.yaml", "-f", "clusterlink-floater-deployment-mix.yaml", "--config", "scheduler-config.yaml"]
RUNS = {
    "test-1": ["simulate", *COMMON, "-f", "workloadpolicy-example-1.yaml"],
    "test-2": ["simulate", *COMMON, "-f", "workloadpolicy-example-2.yaml"],
    "rebalance": ["simulate", "-f", "rebalance.yaml"],
}
EXIT_CODES = {"test-1": 0, "test-2": 1, "rebalance": 0}


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    environment = os.environ | {"PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "COLUMNS": "120"}
    command = [sys.executable, "-m", "bayplan", *arguments]
    return subprocess.run(command, cwd=EXAMPLES, env=environment, capture_output=True, text=True, timeout=120)


def shown(name: str) -> str:
    ended = run(*RUNS[name])
    return f"$ bayplan {' '.join(RUNS[name])}\n{ended.stdout}{ended.stderr}"


@pytest.mark.parametrize("name", RUNS)
def test_the_output_is_the_one_that_is_shown(name: str) -> None:
    assert shown(name) == (EXAMPLES / f"{name}.out").read_text()


def counts(name: str, *more: str) -> dict[str, int]:
    """Pods by domain, those that wait under "-"."""
    ended = run(*RUNS[name], *more, "-o", "yaml")
    result: dict[str, Any] = yaml.safe_load(ended.stdout)
    domains = {
        each["metadata"]["name"]: each["metadata"]["labels"]["workload-test"]
        for each in yaml.safe_load_all((EXAMPLES / "nodes.yaml").read_text())
    }
    return dict(Counter(domains.get(each["node"], "-") for each in result["pods"]))


@pytest.mark.parametrize("seed", range(4))
def test_published_test_1_places_all_six_pods(seed: int) -> None:
    found = counts("test-1", "--seed", str(seed))
    assert sum(found.values()) == 6
    assert "-" not in found
    assert found["member"] >= 1
    assert found["host"] >= 3


@pytest.mark.parametrize("seed", range(4))
def test_published_test_2_places_one_and_three_and_two_wait(seed: int) -> None:
    assert counts("test-2", "--seed", str(seed)) == {"member": 1, "host": 3, "-": 2}


def test_exit_codes_say_whether_pods_wait() -> None:
    assert {name: run(*RUNS[name]).returncode for name in RUNS} == EXIT_CODES


@pytest.mark.parametrize("seed", range(4))
def test_new_numbers_take_two_moves(seed: int) -> None:
    document: dict[str, Any] = yaml.safe_load(run(*RUNS["rebalance"], "--seed", str(seed), "-o", "yaml").stdout)
    nodes = Counter(each["node"][0] for each in document["pods"] if each["state"] == "Bound")
    assert nodes == {"a": 3, "b": 5}
    assert [(each["fromDomain"], each["toDomain"]) for each in document["moves"]] == [("regionA", "regionB")] * 2


def test_the_policy_with_the_old_field_name_is_read_with_a_warning() -> None:
    ended = run("simulate", "-f", "nodes.yaml", "-f", "workloadpolicy-design.yaml")
    assert "spec.scheduleStrategy is read as allocationMethod: Fill; write that" in ended.stderr


if __name__ == "__main__":
    for each in RUNS:
        (EXAMPLES / f"{each}.out").write_text(shown(each))
