"""
Build Helm once, into the cache beside the control plane: ``python -m hack.helm`` prints where it is.

The version is the one that ``go.mod`` beside this file requires.  ``HELM`` names one that is there already.
``scripts/test`` and ``tests/deploy`` call this.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from hack.kube import build as kube

MODULE_DIR = Path(__file__).resolve().parent
MODULE = "helm.sh/helm/v3"


def helm() -> Path:
    """Where it is, or will be."""
    given = os.environ.get("HELM")
    version = kube.required_version(MODULE, MODULE_DIR / "go.mod")
    return Path(given) if given else kube.cache_home() / "helm" / version / "helm"


def build(program: Path) -> None:
    """Build it if it is not there.  Without a cluster, charts are rendered for the Kubernetes that tests run on."""
    program.parent.mkdir(parents=True, exist_ok=True)
    with kube.alone(program.parent / ".lock"):
        if os.access(program, os.X_OK):
            return
        version = kube.required_version(MODULE, MODULE_DIR / "go.mod")
        major, minor = kube.kube_version().removeprefix("v").split(".")[:2]
        stamps = {
            f"{MODULE}/internal/version.version": version,
            f"{MODULE}/pkg/lint/rules.k8sVersionMajor": major,
            f"{MODULE}/pkg/lint/rules.k8sVersionMinor": minor,
            f"{MODULE}/pkg/chartutil.k8sVersionMajor": major,
            f"{MODULE}/pkg/chartutil.k8sVersionMinor": minor,
        }
        print(f"building Helm {version} into {program.parent}", file=sys.stderr, flush=True)
        flags = " ".join(["-s", "-w", *(f"-X {name}={value}" for name, value in stamps.items())])
        staging = program.with_name(f".helm.tmp-{os.getpid()}")
        command = [
            str(kube.find_go()),
            "build",
            "-trimpath",
            "-ldflags",
            flags,
            "-o",
            str(staging),
            f"{MODULE}/cmd/helm",
        ]
        try:
            kube.run(command, MODULE_DIR, CGO_ENABLED="0")
            os.replace(staging, program)
        finally:
            staging.unlink(missing_ok=True)


def main() -> int:
    try:
        build(helm())
    except kube.BuildError as error:
        print(f"hack.helm: {error}", file=sys.stderr)
        return 1
    print(helm())
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
