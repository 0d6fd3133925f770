"""``python -m tests.parity``: record what kube-scheduler decides, replay it, compare with Bayplan, print coverage.

Examples: ``--seeds 0:50`` records and compares; ``--seeds 0:40 --record DIR`` keeps the cases; ``--replay DIR``
compares recorded cases and needs no programs; ``--summary`` counts the rules that the cases exercised.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from itertools import chain
from pathlib import Path

from tests.parity.case import Case, read_cases, write_case
from tests.parity.comparing import compare, gave_up, write_mismatch
from tests.parity.device_driving import TAINT_RULE_FLAGS
from tests.parity.generating import generate
from tests.parity.generating.device_style import FIRST_TAINT_RULE_SEED
from tests.parity.oracle import Oracle
from tests.parity.replaying import Follower, judge
from tests.parity.scenarios import SCENARIOS
from tests.parity.summarising import Tally
from tests.support.binaries import BinariesMissingError
from tests.support.control_plane import ControlPlane

README = """One JSON file per case, <cluster>-<number>-<pod>.json: one decision of the real kube-scheduler v1.36.
pod: {namespace, name}      the pod that was judged
objects: kind List          all the API server held just before, the pod included, with server defaults
result:
  node                      where it was bound, or null
  message, reason           of the PodScheduled condition (empty when bound)
  feasible                  the feasible nodes; null: only the nominated node was looked at
  scores                    {plugin: {node: weighted score}}; null: nothing was scored (at most one feasible node)
  nominated_node, victims   preemption: the node, and the pods to go (evicted: those not terminating already)
fact-* are hand-written clusters (tests/parity/scenarios), the others are named by their seed.
Compare: python -m tests.parity --replay <this folder> [--only GLOB]; coverage: add --summary.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    options = _parse(arguments)
    cases: Iterator[Case] = _replay(options) if options.replay else _record(options)
    tally = Tally() if options.summary else None
    if tally is not None:
        cases = tally.watch(cases)
    try:
        if options.no_compare:
            deque(cases, maxlen=0)
            return 0
        return _compare_all(cases, options)
    except (BinariesMissingError, FileNotFoundError) as error:
        print(f"tests.parity: {error}", file=sys.stderr)
        return 2
    finally:
        if tally is not None:
            print("\n".join(tally.lines()))


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.parity", description=__doc__)
    parser.add_argument("--seeds", type=_seeds, default=range(10), metavar="A:B", help="clusters to generate (0:10)")
    parser.add_argument("--scenarios", action="store_true", help="the hand-written clusters too")
    parser.add_argument("--record", type=Path, metavar="DIR", help="keep the cases there")
    parser.add_argument("--compress", action="store_true", help="keep them as .json.gz")
    parser.add_argument("--replay", type=Path, metavar="DIR", help="take recorded cases instead of recording")
    parser.add_argument("--only", default="*", metavar="GLOB", help="replay only cases with such names")
    parser.add_argument("--summary", action="store_true", help="count which rules the cases exercised")
    parser.add_argument("--no-compare", action="store_true", help="do not ask Bayplan")
    parser.add_argument("--mismatches", type=Path, metavar="DIR", help="where to write manifests of mismatches")
    return parser.parse_args(arguments)


def _seeds(text: str) -> range:
    first, _, last = text.partition(":")
    return range(int(first), int(last) if last else int(first) + 1)


def _replay(options: argparse.Namespace) -> Iterator[Case]:
    return (case for case in read_cases(options.replay) if Path(case.name).match(options.only))


def _record(options: argparse.Namespace) -> Iterator[Case]:
    if options.record:
        options.record.mkdir(parents=True, exist_ok=True)
        (options.record / "README").write_text(README)
    clusters = (generate(seed) for seed in options.seeds)
    scenarios = (scenario.cluster() for scenario in SCENARIOS if options.scenarios)
    has_taint_rules = any(seed >= FIRST_TAINT_RULE_SEED for seed in options.seeds)
    with ControlPlane(extra_flags=TAINT_RULE_FLAGS if has_taint_rules else ()) as plane:
        oracle = Oracle(plane, has_taint_rules=has_taint_rules)
        for cluster in chain(clusters, scenarios):
            started = time.monotonic()
            cases = oracle.record(cluster)
            told = f"{len(cluster.objects)} objects, {len(cluster.pending)} pods, {len(cases)} cases"
            print(f"{cluster.name} ({cluster.style}): {told}, {time.monotonic() - started:.1f} s", file=sys.stderr)
            for case in cases:
                if options.record:
                    write_case(case, options.record, compress=options.compress)
                yield case


def _compare_all(cases: Iterable[Case], options: argparse.Namespace) -> int:
    folder = options.mismatches or Path(tempfile.gettempdir()) / "bayplan-parity"
    follower = Follower()
    bad = count = open = 0
    for case in cases:
        if gave_up(case):
            open += 1
            continue
        count += 1
        alone = judge(case)
        differences = compare(case, (alone if options.replay else follower.explain)(case))
        if differences:
            bad += 1
            print(f"{case.name} ({case.style}), see {write_mismatch(case, differences, folder)}")
            print("\n".join(f"  {line}" for line in differences), flush=True)
            if not options.replay and not compare(case, alone(case)):
                print("  (not if it is asked about this case alone: look at what it keeps between cases)")
    print(f"{count - bad} of {count} cases agree")
    if open:
        print(f"{open} more were not compared: kube-scheduler gave up the search for devices after ten seconds")
    return 1 if bad else 0


if __name__ == "__main__":
    raise SystemExit(main())
