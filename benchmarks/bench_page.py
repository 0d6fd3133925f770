"""
How long a large report takes in Chromium: until its map is drawn, a search, another view, and a box chosen by key.

`python -m benchmarks.bench_page` measures 5,000 nodes and 50,000 pods, five times, and prints the medians.
"""

from __future__ import annotations

import statistics
import tempfile
from pathlib import Path

from playwright.sync_api import Browser

from bayplan.view.report import html
from tests.page.documents import large
from tests.support.chromium import browser_or_skip

TIMES = 5
# Two frames after something was done, what it changed has been painted.
PAINTED = "await new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)));"
STEPS = {
    "search by reason": """field = document.querySelector("input[type=search]"); field.value = "insufficient";
        field.dispatchEvent(new Event("input"));""",
    "search by name": """field = document.querySelector("input[type=search]"); field.value = "web-3-0012";
        field.dispatchEvent(new Event("input"));""",
    "scroll to the end": "field.value = ''; field.dispatchEvent(new Event('input')); scrollTo(0, 1e9);",
}


def measured(browser: Browser, report: Path) -> dict[str, float]:
    """Milliseconds by what was done."""
    page = browser.new_page(viewport={"width": 1280, "height": 800})
    took = {}
    page.goto(report.as_uri())
    page.locator("canvas").wait_for()
    took["open, until the map is painted"] = page.evaluate(f"async () => {{ {PAINTED} return performance.now() }}")
    took["arrow key on the map"] = page.evaluate(
        f"""async () => {{ const start = performance.now();
        document.querySelector("canvas").dispatchEvent(new KeyboardEvent("keydown", {{key: "ArrowRight"}}));
        {PAINTED} return performance.now() - start }}"""
    )
    page.evaluate("location.hash = '#/pods'")
    page.locator("table.rows").wait_for()
    for name, code in STEPS.items():
        took[name] = page.evaluate(
            f"async () => {{ const start = performance.now(); let field = document.querySelector('input'); {code}"
            f"{PAINTED} return performance.now() - start }}"
        )
    page.close()
    return took


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, browser_or_skip() as browser:
        report = Path(folder) / "report.html"
        report.write_bytes(html(large()))
        print(f"report: {report.stat().st_size / 1e6:.1f} MB")
        runs = [measured(browser, report) for _ in range(TIMES)]
    for name in runs[0]:
        print(f"{name}: {statistics.median(run[name] for run in runs):.0f} ms")


if __name__ == "__main__":
    main()
