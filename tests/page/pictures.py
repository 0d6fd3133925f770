"""
The pictures of the page in docs/images, taken in Chromium from the report of the example cluster.

`python -m tests.page.pictures` takes them anew; `--to FOLDER` somewhere else.
"""

from __future__ import annotations

import argparse
import io
import subprocess
import sys
import tempfile
from pathlib import Path

from PIL import Image
from playwright.sync_api import Browser

from tests.support.chromium import browser_or_skip

ROOT = Path(__file__).resolve().parents[2]
# Name, route, width, height, dark, media, and the node that is chosen on the map.
PICTURES = [
    ("map-laptop", "", 1280, 620, False, "screen", "eu-c-gpu"),
    ("pending-laptop", "pending", 1280, 800, True, "screen", ""),
    ("pod-phone", "pod/lab/report", 390, 844, False, "screen", ""),
    ("map-print", "", 794, 760, True, "print", ""),
]
COLOURS = 200


def report(folder: Path) -> Path:
    """What `bayplan simulate --report` writes; exit code 1 says that a pod is pending, which is to be seen."""
    path = folder / "report.html"
    command = [sys.executable, "-m", "bayplan", "simulate", "-f", "05-simulate", "--report", str(path)]
    done = subprocess.run(command, cwd=ROOT / "examples", capture_output=True, text=True, check=False)
    if done.returncode > 1:
        raise SystemExit(done.stderr)
    return path


def take(browser: Browser, page: Path, route: str, width: int, height: int, dark: bool, media: str, node: str) -> bytes:
    context = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme="dark" if dark else "light", device_scale_factor=1.5
    )
    tab = context.new_page()
    tab.goto(f"{page.as_uri()}#/{route}")
    tab.emulate_media(media="print" if media == "print" else "screen")
    if node:
        tab.locator("canvas[style]").focus()
        tab.keyboard.press("End")
        tab.get_by_label("Chosen node").get_by_text(node).first.wait_for()
        tab.evaluate("document.activeElement.blur()")
    tab.wait_for_timeout(300)
    taken = tab.screenshot()
    context.close()
    return taken


def small(picture: bytes) -> bytes:
    """A picture of few colours is a tenth as large and looks the same."""
    out = io.BytesIO()
    Image.open(io.BytesIO(picture)).convert("RGB").quantize(COLOURS, dither=Image.Dither.NONE).save(
        out, "PNG", optimize=True
    )
    return out.getvalue()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--to", type=Path, default=ROOT / "docs" / "images")
    folder = parser.parse_args().to
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary, browser_or_skip() as browser:
        page = report(Path(temporary))
        for name, *how in PICTURES:
            (folder / f"{name}.png").write_bytes(small(take(browser, page, *how)))


if __name__ == "__main__":
    main()
