"""``python -m tests.mutation --count 200000``; ``--case N`` shows and runs one."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.mutation.running import run
from tests.mutation.trying import Finding, attempt, case


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="the number of the first case")
    parser.add_argument("--count", type=int, default=2000, help="how many cases")
    parser.add_argument("--workers", type=int, default=2, help="how many processes")
    parser.add_argument("--case", type=int, help="show this case, and run it alone")
    options = parser.parse_args()
    if options.case is not None:
        return _one(options.case)
    started = time.monotonic()

    def tell(done: int, found: list[Finding]) -> None:
        print(f"{done} cases, {len(found)} found, {time.monotonic() - started:.0f} s", flush=True)

    found = run(options.first, options.count, options.workers, tell)
    tell(options.count, found)
    for each in sorted(found, key=lambda finding: finding.number):
        print(f"case {each.number}: {each.what}\n  bayplan {' '.join(each.command)}")
    return 1 if found else 0


def _one(number: int) -> int:
    made = case(number)
    print(f"bayplan {' '.join(made.command)}")
    for name, text in made.files.items():
        print(f"-- {name}\n{text}")
    with tempfile.TemporaryDirectory() as folder:
        found = attempt(number, Path(folder))
    print(f"-- {found}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
