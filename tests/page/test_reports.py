"""Reports of commands opened as files: everything is in them, and nothing is fetched or complained about."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.docs.pages import ROOT
from tests.page.opened import OpenedPage

pytestmark = [pytest.mark.browser, pytest.mark.slow]

EXAMPLES = ROOT / "examples"
ASKED = EXAMPLES / "13-what-if"
CLUSTER = ["-f", str(ASKED / "cluster.yaml")]
POLICY = EXAMPLES / "workload-policy" / "rebalance.yaml"


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Made by processes of their own: Chromium's driver and a simulation each want an event loop."""
    folder = tmp_path_factory.mktemp("reports")
    for name, command in {
        "simulate": ["simulate", "-f", str(EXAMPLES / "05-simulate")],
        "what-if": ["what-if", *CLUSTER, "--drain", "n1"],
        "compare": ["compare", *CLUSTER, "--config", str(ASKED / "packing.yaml"), "--afresh"],
        "fit": ["fit", *CLUSTER, "--node-template", str(ASKED / "m5.yaml")],
        "place": ["place", "-f", str(EXAMPLES / "placement"), "--now", "2026-01-31T10:30:00Z"],
        "rebalancer": ["rebalancer", "--dry-run", "-f", str(POLICY)],
    }.items():
        made = [sys.executable, "-m", "bayplan", *command, "--report", str(folder / f"{name}.html")]
        assert subprocess.run(made, stdout=subprocess.DEVNULL, check=False).returncode in (0, 1)
    return folder


@pytest.mark.parametrize(
    ("name", "route", "text"),
    [
        ("simulate", "", "eu-a"),
        ("simulate", "pending", "It waits: 5 of 6 nodes lack cpu"),
        ("simulate", "time", "attempts"),
        ("simulate", "pod/shop/db-0", "NodeResourcesFit"),
        ("what-if", "compare", "before"),
        ("compare", "tables", "cpu imbalance"),
        ("fit", "tables", "Shopping list"),
        ("place", "placements", "eu-a"),
        ("rebalancer", "policies", "Satisfied"),
    ],
)
def test_a_report_shows_its_view(
    reports: Path, open_page: Callable[..., OpenedPage], name: str, route: str, text: str
) -> None:
    page = open_page((reports / f"{name}.html").as_uri())
    page.go(route)
    page.sees(text)
