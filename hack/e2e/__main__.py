"""
``python -m hack.e2e [kube-scheduler] [bayplan]``; ``make e2e`` runs this.

Exit code 0: Bayplan passes what kube-scheduler passes.  1: it does not.  2: something could not be started.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from hack.e2e.running import SCHEDULERS, RunError, run
from hack.e2e.verdicts import Verdict, only_bayplan_fails, read, table
from hack.kube import build as kube

FOCUS = r"\[sig-scheduling\]"
SKIP = r"\[Feature:OffByDefault\]|\[Disruptive\]|\[Flaky\]"


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m hack.e2e", description=__doc__)
    parser.add_argument("schedulers", nargs="*", metavar="SCHEDULER", help=f"default: {' and '.join(SCHEDULERS)}")
    parser.add_argument("--focus", default=FOCUS, help="the tests whose names match (default: %(default)s)")
    parser.add_argument("--skip", default=SKIP, help="but not these (default: %(default)s)")
    parser.add_argument("--nodes", type=int, default=4, help="how many nodes are played (default: %(default)s)")
    parser.add_argument("--results", type=Path, help="keep reports and logs in this folder")
    options = parser.parse_args(arguments)
    chosen = list(dict.fromkeys(options.schedulers or SCHEDULERS))
    if unknown := [each for each in chosen if each not in SCHEDULERS]:
        parser.error(f"no such scheduler: {unknown[0]}; write {' or '.join(SCHEDULERS)}")
    if subprocess.run([sys.executable, str(kube.MODULE_DIR / "build.py"), "--e2e"], check=False).returncode:
        return 2
    results: Path = options.results or Path(tempfile.mkdtemp(prefix="bayplan-e2e-"))
    verdicts: dict[str, dict[str, Verdict]] = {}
    try:
        for scheduler in chosen:
            print(f"{scheduler}: reports and logs in {results / scheduler}", flush=True)
            verdicts[scheduler] = read(run(scheduler, options.nodes, options.focus, options.skip, results / scheduler))
    except RunError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(table(verdicts))
    return 1 if only_bayplan_fails(verdicts) else 0


if __name__ == "__main__":
    raise SystemExit(main())
