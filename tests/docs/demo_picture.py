"""Makes the picture that the README begins with: the demo's own report, in Chromium.  ``make picture`` runs it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from bayplan.cli.main import main
from tests.docs.pages import ROOT
from tests.page.opened import OpenedPage
from tests.support.chromium import browser_or_skip

PICTURE = ROOT / "docs" / "images" / "demo.png"


def make(target: Path) -> None:
    target.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.html"
        main(["simulate", "-f", str(ROOT / "examples" / "05-simulate"), "-o", "name", "--report", str(report)])
        with browser_or_skip() as browser:
            opened = OpenedPage(browser, report.as_uri(), width=1000)
            opened.sees("eu-a")
            opened.page.screenshot(path=target, clip={"x": 0, "y": 0, "width": 1000, "height": 640})
            opened.close()


if __name__ == "__main__":
    make(PICTURE)
