"""``bayplan annotator`` refuses what cannot work before it contacts anything; tests/e2e runs it for real."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.e2e.replicas import run_cli


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        ([], "Missing option '--prometheus-address'"),
        (["--prometheus-address=ftp://x"], '--prometheus-address: "ftp://x" is not the address of a Prometheus'),
        (
            ["--prometheus-address=x:1", "--policy-config-path=/no/such"],
            "/no/such: no such file or folder; check the path",
        ),
        (
            ["--prometheus-address=x:1", "--policy-config-map=policy"],
            '--policy-config-map: "policy" is not a ConfigMap',
        ),
        (
            ["--prometheus-address=nonsense"],
            '--prometheus-address: "nonsense" is not the address of a Prometheus; write',
        ),
        (
            ["--prometheus-address=x:1", "--prometheus-timeout=0s"],
            "--prometheus-timeout: 0s leaves no time at all; write a duration such as 10s",
        ),
        (["--prometheus-address=x:1", "--prometheus-timeout=soon"], '--prometheus-timeout: "soon" is not a duration'),
    ],
)
def test_wrong_arguments_are_one_line_and_exit_code_2(flags: list[str], said: str) -> None:
    code, printed, complaint = run_cli(["annotator", *flags])
    assert (code, printed) == (2, "")
    assert complaint.startswith(f"error: {said}")
    assert complaint.count("\n") == 1


def test_every_mistake_in_the_policy_is_a_line(tmp_path: Path) -> None:
    file = tmp_path / "policy.yaml"
    head = "apiVersion: scheduler.policy.crane.io/v1alpha1\nkind: DynamicSchedulerPolicy\n"
    file.write_text(head + "spec: {syncPolicy: [{name: cpu, period: 3}], hotValue: [{timeRange: 5m, count: 0}]}\n")
    code, printed, complaint = run_cli(["annotator", "--prometheus-address=x:1", f"--policy-config-path={file}"])
    assert (code, printed) == (2, "")
    assert [line.partition(f"{file}: ")[2].split(": ")[0] for line in complaint.splitlines()] == [
        "spec.syncPolicy[0].period",
        "spec.hotValue[0].count",
    ]
