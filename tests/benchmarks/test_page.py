"""The page about the benchmarks knows every workload, and the workload it shows can be run."""

from __future__ import annotations

import re
from pathlib import Path

from bayplan.simulator.benchmarks import workload_file
from bayplan.simulator.benchmarks.engine_speed import measure
from tests.docs.pages import ROOT, blocks

PAGE = ROOT / "docs" / "benchmarks.md"


def test_every_workload_is_in_the_page_and_in_the_reference() -> None:
    for page in (PAGE, ROOT / "docs/reference/cli.md"):
        told = set(re.findall(r"`([a-z-]+)`", page.read_text()))
        assert set(workload_file.shipped()) - told == set()


def test_the_workload_that_is_shown_runs(tmp_path: Path) -> None:
    (example,) = blocks(PAGE, "yaml")
    path = tmp_path / "mine.yaml"
    path.write_text(example.text)
    assert measure(workload_file.read(path), nodes=6, pods=12)["bound"] == 12


def test_the_folder_beside_the_benchmarks_is_the_one_that_is_shipped() -> None:
    assert (ROOT / "benchmarks" / "workloads").resolve() == workload_file.FOLDER.resolve()
