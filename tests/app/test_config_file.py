"""The configuration file of the services: one document of the right kind, or one clear line."""

from __future__ import annotations

from pathlib import Path

import pytest
import structlog

from bayplan.app.config_file import read_config
from bayplan.errors import ConfigError

HEAD = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"


def written(folder: Path, text: str) -> Path:
    path = folder / "config.yaml"
    path.write_text(text)
    return path


def test_without_a_file_there_is_one_profile_with_a_lease_of_its_own() -> None:
    config = read_config(None)
    assert [profile.scheduler_name for profile in config.profiles] == ["bayplan"]
    assert config.leader_election.resource_name == "bayplan-scheduler", "never the real kube-scheduler's"
    assert config.leader_election.leader_elect


def test_a_file_is_read(tmp_path: Path) -> None:
    config = read_config(written(tmp_path, f"{HEAD}podMaxBackoffSeconds: 20\nprofiles: [{{schedulerName: mine}}]\n"))
    assert (config.pod_max_backoff_seconds, config.profiles[0].scheduler_name) == (20, "mine")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "holds no objects"),
        (f"{HEAD}---\n{HEAD}", "expected one KubeSchedulerConfiguration, found 2 documents"),
        (f"{HEAD}profiles: [", ""),
        (f"{HEAD}podMaxBackofSeconds: 3\n", "podMaxBackofSeconds"),
        ("apiVersion: v1\nkind: Pod\nmetadata: {name: a}\n", "KubeSchedulerConfiguration"),
    ],
)
def test_a_file_that_cannot_be_used_is_named_with_what_is_wrong(tmp_path: Path, text: str, says: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError) as raised:
        read_config(path)
    assert str(path) in str(raised.value)
    assert says in str(raised.value)


def test_no_file_at_all_is_said(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"missing\.yaml"):
        read_config(tmp_path / "missing.yaml")


def test_warnings_are_logged(tmp_path: Path) -> None:
    old = HEAD.replace("/v1\n", "/v1beta3\n")
    with structlog.testing.capture_logs() as logs:
        read_config(written(tmp_path, f"{old}healthzBindAddress: 0.0.0.0:10251\n"))
    assert {entry["log_level"] for entry in logs} == {"warning"}
    assert any("healthzBindAddress" in entry["text"] for entry in logs)
