"""``python -m hack.dev_cluster up|down|status``; ``bayplan dev-cluster`` and ``make dev-cluster`` run this."""

from __future__ import annotations

import argparse
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from typing import NoReturn

from hack.dev_cluster.asking import answers, is_alive
from hack.dev_cluster.programs import ROOT, Programs, ProgramsMissingError, find
from hack.dev_cluster.state import FOLDER, Settings, State, is_running, stop

STARTING_S = 120.0
INTERRUPTED = 130


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
    try:
        _be_interruptible()
        if options.action == "up":
            return _up(Settings(options.nodes, options.kube_scheduler))
        return _down() if options.action == "down" else _status()
    except KeyboardInterrupt:
        return INTERRUPTED


def _be_interruptible() -> None:
    """Once: the terminal and ``bayplan`` may both send the signal.  It was blocked while Python started."""
    signal.signal(signal.SIGINT, _interrupt)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {signal.SIGINT})


def _interrupt(*_: object) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    raise KeyboardInterrupt


def _up(settings: Settings) -> int:
    if settings.nodes < 0:
        return _complain(f"--nodes {settings.nodes}: write 0 or more")
    if is_running():
        return _complain("the cluster is running already; end it first: bayplan dev-cluster down")
    try:
        programs = find()
    except ProgramsMissingError as error:
        return _complain(str(error))
    try:
        return _start_and_wait(settings, programs)
    except KeyboardInterrupt:
        stop()
        print("interrupted; what was started is ended", file=sys.stderr)
        return INTERRUPTED


def _start_and_wait(settings: Settings, programs: Programs) -> int:
    print(f"starting Kubernetes {programs.version} with {settings.nodes} fake nodes", flush=True)
    _start(settings, programs)
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
    # It takes the lock and says its number a moment later; until then nobody could end it.
    try:
        while State.load() is None and started.poll() is None:
            time.sleep(0.02)
    except KeyboardInterrupt:
        started.terminate()
        started.wait()
        raise


def _down() -> int:
    print("ended" if stop() else "it was not running")
    return 0


def _status() -> int:
    state = State.load()
    if not is_running():
        print("not running")
        return 1
    if state is None or not state.ready:
        print(f"starting, and not ready yet\nlogs in {FOLDER}\nto end it: bayplan dev-cluster down")
        return 1
    if not is_alive(state.pid) or not answers(state.server):
        what = f"{state.server} does not answer" if is_alive(state.pid) else "nobody looks after it any more"
        print(f"broken: {what}\nlogs in {FOLDER}\nto end it: bayplan dev-cluster down")
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
