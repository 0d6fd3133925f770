"""Helm on the charts of ``deploy/``, as a person runs it."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from hack.helm import __main__ as built
from tests.support.control_plane import ControlPlane

ROOT = Path(__file__).resolve().parents[2]
CHART = ROOT / "deploy" / "chart"
CRDS = ROOT / "deploy" / "chart-crds"
VALUE_FILES = sorted((CHART / "ci").glob("*.yaml"))

Key = tuple[str, str]
Objects = dict[Key, dict[str, Any]]


def helm_or_skip() -> Path:
    """For fixtures: skip with one line where Helm was not built; under CI=true build it instead."""
    program = built.helm()
    if not os.access(program, os.X_OK):
        if os.environ.get("CI") != "true":
            pytest.skip(f"no Helm in {program.parent}: run python -m hack.helm once (minutes, needs network)")
        built.build(program)
    return program


class Helm:
    """Runs the real helm; on a control plane if it is given one."""

    def __init__(self, program: Path, plane: ControlPlane | None = None) -> None:
        self._command = [str(program), *([f"--kubeconfig={plane.kubeconfig()}"] if plane else [])]

    def run(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        command = [*self._command, *(str(each) for each in arguments)]
        return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)

    def __call__(self, *arguments: str | Path) -> str:
        """What it prints; an error is raised with what it says."""
        ended = self.run(*arguments)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def rendered(self, *arguments: str | Path, chart: Path = CHART) -> Objects:
        return by_name(self("template", "bayplan", chart, "--namespace=kube-system", *arguments))


def by_name(stream: str) -> Objects:
    found: Objects = {}
    for document in filter(None, yaml.safe_load_all(stream)):
        key = document["kind"], document["metadata"]["name"]
        assert key not in found, f"{key} is rendered twice"
        found[key] = document
    return found
