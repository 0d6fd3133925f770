"""``python -m hack.dev_cluster up|down|status``; ``bayplan dev-cluster`` and ``make dev-cluster`` run this."""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Sequence

from hack.dev_cluster.programs import ROOT, Programs, ProgramsMissingError, find
from hack.dev_cluster.state import FOLDER, Settings, State, is_running, stop

STARTING_S = 120.0


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="dev-cluster", description=__doc__)
    actions = parser.add_subparsers(dest="action", required=True)
    up = actions.add_parser("up", help="start it, in the background")
    up.add_argument("--nodes", type=int, default=3)
    up.add_argument("--kube-scheduler", action="store_true", help="run kube-scheduler, too")
    actions.add_parser("down", help="end it and remove everything")
    actions.add_parser("status", help="is it running, and where is its kubeconfig")
    actions.add_parser("serve", help="what runs in the background")
    options = parser.parse_args(arguments)
    if options.action == "serve":
        from hack.dev_cluster.supervising import serve

        return serve()
    if options.action == "up":
        return _up(Settings(options.nodes, options.kube_scheduler))
    return _down() if options.action == "down" else _status()


def _up(settings: Settings) -> int:
    if settings.nodes < 0:
        return _complain(f"--nodes {settings.nodes}: write 0 or more")
    if is_running():
        return _complain("the cluster is running already; end it first: bayplan dev-cluster down")
    try:
        programs = find()
    except ProgramsMissingError as error:
        return _complain(str(error))
    _start(settings, programs)
    print(f"starting Kubernetes {programs.version} with {settings.nodes} fake nodes", flush=True)
    deadline = time.monotonic() + STARTING_S
    while (state := State.load()) is None or not state.ready:
        if not is_running():
            return _complain(f"it did not start: {_last_line()}; see {FOLDER}")
        if time.monotonic() > deadline:
            stop()
            return _complain(f"it was not ready after {STARTING_S:.0f} s; see {FOLDER}")
        time.sleep(0.1)
    print(f"ready.  To use it:\n\n  export KUBECONFIG={state.kubeconfig}\n  {programs.kubectl} get nodes")
    return 0


def _start(settings: Settings, programs: Programs) -> None:
    stop()  # what a killed one left behind
    FOLDER.mkdir(parents=True, mode=0o700)
    settings.save(programs)
    with (FOLDER / "dev-cluster.log").open("ab") as log:
        started = subprocess.Popen(
            [sys.executable, "-m", "hack.dev_cluster", "serve"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    # It takes the lock a moment later; until then it would look as if nothing ran.
    while not is_running() and started.poll() is None:
        time.sleep(0.02)


def _down() -> int:
    print("ended" if stop() else "it was not running")
    return 0


def _status() -> int:
    state = State.load()
    if state is None or not is_running():
        print("not running")
        return 1
    print(f"running: Kubernetes {state.version} at {state.server}\nKUBECONFIG={state.kubeconfig}\nlogs in {FOLDER}")
    return 0


def _last_line() -> str:
    lines = (FOLDER / "dev-cluster.log").read_text(errors="replace").splitlines()
    return lines[-1] if lines else "it said nothing"


def _complain(text: str) -> int:
    print(f"error: {text}", file=sys.stderr)
    return 2


if __name__ == "__main__":
    raise SystemExit(main())
