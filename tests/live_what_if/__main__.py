"""
``python -m tests.live_what_if --seeds 0:20``: drain a node of each random cluster, and say where what-if was wrong.

``--fill`` fills clusters up instead.  It needs the real control plane (``make kube``).
"""

from __future__ import annotations

import argparse
import asyncio
import sys

from tests.live_what_if.drains import drain
from tests.live_what_if.fits import fill
from tests.support.control_plane import ControlPlane


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.live_what_if", description=__doc__)
    parser.add_argument("--seeds", default="0:20", help="from:to")
    parser.add_argument("--fill", action="store_true", help="fill clusters up instead of draining a node")
    given = parser.parse_args()
    first, _, last = given.seeds.partition(":")
    play, wrong = fill if given.fill else drain, 0
    seeds = range(int(first), int(last))
    with ControlPlane() as plane:
        for seed in seeds:
            outcome = asyncio.run(play(plane, seed))
            print(outcome, flush=True)
            wrong += not outcome.agrees
    print(f"{len(seeds)} clusters, {wrong} differ")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
