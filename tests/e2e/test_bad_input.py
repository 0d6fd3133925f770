"""Bad flags, configurations and kubeconfigs: one clear line that says what to change, and exit code 2."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from tests.e2e.replicas import run_cli

KUBECONFIG = """
apiVersion: v1
kind: Config
clusters: [{name: c, cluster: {server: "https://127.0.0.1:9"}}]
users: [{name: u, user: {token: t}}]
contexts: [{name: x, context: {cluster: c, user: u}}]
current-context: x
"""
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: bayplan, plugins: {filter: {enabled: [{name: NodeAfinity}]}}}]
"""

# arguments after "scheduler --kubeconfig good.yaml", and what the line must contain
MISTAKES = {
    "unknown flag": (["--leader-elec=true"], ["--leader-elec", "--leader-elect"]),
    "not a truth": (["--leader-elect=maybe"], ["--leader-elect", "maybe", "true", "false"]),
    "not a port": (["--secure-port=https"], ["--secure-port", "integer"]),
    "no such port": (["--secure-port=65536"], ["--secure-port", "65535"]),
    "not a log format": (["--log-format=xml"], ["--log-format", "xml", "json"]),
    "no such config": (["--config=missing.yaml"], ["missing.yaml", "no such file"]),
    "not a config": (["--config=good.yaml"], ["good.yaml", "KubeSchedulerConfiguration"]),
    "not YAML": (["--config=broken.yaml"], ["broken.yaml:3"]),
    "unknown plugin": (["--config=typo.yaml"], ["typo.yaml", "NodeAfinity", "NodeAffinity"]),
    "no such plugin module": (["--plugin=nowhere:Plugin"], ["--plugin nowhere:Plugin"]),
    "no such certificate": (["--cert-dir=nowhere"], ["--cert-dir nowhere", "tls.crt"]),
    "no such kubeconfig": (["--kubeconfig=missing.yaml"], ["missing.yaml", "--kubeconfig"]),
    "not a kubeconfig": (["--kubeconfig=typo.yaml"], ["typo.yaml", "kubeconfig"]),
    "no such context": (["--context=elsewhere"], ["good.yaml", "elsewhere"]),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in {"good.yaml": KUBECONFIG, "typo.yaml": CONFIG, "broken.yaml": "a: b\nc: [\n"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("arguments", "told"), MISTAKES.values(), ids=MISTAKES.keys())
def test_a_mistake_gives_one_clear_line_and_exit_code_2(arguments: list[str], told: list[str], folder: Path) -> None:
    code, printed, complaints = run_cli(["scheduler", "--kubeconfig=good.yaml", *arguments])

    assert (code, printed) == (2, "")
    first, *more = complaints.splitlines()
    assert first.startswith("error: ")
    assert "should not have happened" not in first
    assert [words for words in told if words not in first] == []
    # One line for each mistake in a file, one line for anything else.
    assert all(line.startswith("error: good.yaml: ") for line in more)


def test_a_port_that_is_taken_gives_one_clear_line(folder: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("0.0.0.0", 0))
        taken.listen()
        port = taken.getsockname()[1]
        code, _, complaints = run_cli(["scheduler", "--kubeconfig=good.yaml", f"--secure-port={port}"])

    (line,) = complaints.splitlines()
    assert code == 2
    assert line.startswith("error: ")
    assert str(port) in line
    assert "--secure-port" in line


@pytest.mark.parametrize("command", [["snapshot"], ["explain", "pod", "web"]], ids=" ".join)
def test_a_cluster_that_does_not_answer_gives_one_clear_line(command: list[str], folder: Path) -> None:
    code, printed, complaints = run_cli([*command, "--kubeconfig=good.yaml"])

    (line,) = complaints.splitlines()
    assert (code, printed) == (2, "")
    assert line.startswith("error: ")
    assert "127.0.0.1:9" in line
