"""kubectl, as a person uses it."""

from __future__ import annotations

import subprocess

import yaml

from tests.support.api import Object
from tests.support.binaries import find_binaries
from tests.support.control_plane import ControlPlane


class Kubectl:
    """Runs the real kubectl as the admin."""

    def __init__(self, plane: ControlPlane) -> None:
        self._command = [str(find_binaries().path("kubectl")), f"--kubeconfig={plane.kubeconfig()}"]

    def __call__(self, *arguments: str, given: str | None = None) -> str:
        """What it prints; an error is raised with what it says."""
        ended = subprocess.run(
            [*self._command, *arguments], input=given, capture_output=True, text=True, timeout=60, check=False
        )
        assert ended.returncode == 0, ended.stderr
        return ended.stdout

    def apply(self, *documents: Object) -> str:
        return self("apply", "-f", "-", given=yaml.safe_dump_all(documents))
