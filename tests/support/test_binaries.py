"""What hack/kube/build.py promises: it finds what is there, builds nothing when asked not to, and says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.binaries import BUILD, BinariesMissingError, binaries_or_skip, find_binaries

PROGRAMS = ("kube-apiserver", "kube-scheduler", "kube-controller-manager", "kubectl")


def run_build(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(BUILD), *arguments]
    clean = {name: value for name, value in os.environ.items() if name != "KUBEBUILDER_ASSETS"}
    return subprocess.run(command, env=clean | environment, capture_output=True, text=True, check=False)


def fill(folder: Path, *programs: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for program in programs:
        (folder / program).touch(mode=0o755)
    return folder


def test_the_cache_is_per_user_and_per_version(tmp_path: Path) -> None:
    asked = run_build("--where", XDG_CACHE_HOME=str(tmp_path))
    folder = Path(asked.stdout.strip())
    assert (asked.returncode, folder.parent) == (3, tmp_path / "bayplan" / "kube")
    assert folder.name.startswith("v1.36.")


def test_nothing_is_built_when_all_is_there(tmp_path: Path) -> None:
    folder = Path(run_build("--where", XDG_CACHE_HOME=str(tmp_path)).stdout.strip())
    fill(folder, *PROGRAMS)
    built = run_build(XDG_CACHE_HOME=str(tmp_path), PATH="")
    assert (built.returncode, built.stdout) == (0, f"Kubernetes {folder.name} is in {folder}\n")


def test_given_assets_win(tmp_path: Path) -> None:
    assets = fill(tmp_path / "assets", *PROGRAMS)
    asked = run_build("--where", KUBEBUILDER_ASSETS=str(assets))
    assert (asked.returncode, asked.stdout.strip()) == (0, str(assets))


def test_given_assets_that_lack_something_are_refused_in_one_line(tmp_path: Path) -> None:
    assets = fill(tmp_path / "assets", *PROGRAMS[:3])
    built = run_build(KUBEBUILDER_ASSETS=str(assets))
    assert built.returncode == 1
    assert built.stderr == (
        f"hack/kube/build.py: KUBEBUILDER_ASSETS={assets} lacks kubectl: add them, or unset the variable\n"
    )


def test_missing_programs_skip_the_test_and_say_what_to_run(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("CI", "")
    with pytest.raises(BinariesMissingError, match=r"run hack/kube/build\.py once"):
        find_binaries()
    with pytest.raises(pytest.skip.Exception):
        binaries_or_skip()


def test_continuous_integration_never_skips(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KUBEBUILDER_ASSETS", str(tmp_path))
    monkeypatch.setenv("CI", "true")
    with pytest.raises(subprocess.CalledProcessError):
        binaries_or_skip()
