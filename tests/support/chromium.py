"""A real Chromium without a window, for tests of the page.

It is the one on PATH; otherwise Debian's packages are downloaded once, with all that they need, and unpacked into a
per-user cache, which needs no root.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from playwright.sync_api import Browser, sync_playwright

PACKAGES = ("chromium", "fonts-liberation", "fonts-dejavu-core")
MISSING = "no chromium: apt-get install --no-install-recommends chromium fonts-liberation"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@contextmanager
def browser_or_skip() -> Iterator[Browser]:
    """For fixtures: skip the test with one line where there is none and none can be had, and fail under CI=true."""
    program = find_chromium()
    if program is None:
        if os.environ.get("CI") == "true":
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=program, args=FLAGS, env=_environment(program))
        try:
            yield browser
        finally:
            browser.close()


def find_chromium() -> str | None:
    """On PATH, in the cache, or downloaded into it."""
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if found := shutil.which(name):
            return found
    return _cached() or _downloaded()


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "bayplan" / "chromium"


def _cached() -> str | None:
    program = _cache() / "usr" / "lib" / "chromium" / "chromium"
    return str(program) if program.exists() else None


def _environment(program: str) -> dict[str, str | float | bool]:
    """An unpacked Chromium finds its libraries and fonts beside itself."""
    variables: dict[str, str | float | bool] = dict(os.environ)
    root = _cache()
    if Path(program).is_relative_to(root):
        folders = {str(path.parent) for path in root.glob("usr/lib/**/*.so*")} | {
            str(path.parent) for path in root.glob("lib/**/*.so*")
        }
        variables["LD_LIBRARY_PATH"] = ":".join(sorted(folders))
        variables["FONTCONFIG_FILE"] = str(root / "fonts.conf")
    return variables


def _downloaded() -> str | None:
    """Debian's packages and what they depend on, unpacked; None where there is no apt, no network or no such package."""
    if not (shutil.which("apt-get") and shutil.which("dpkg")):
        return None
    cache = _cache()
    cache.parent.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(dir=cache.parent))
    try:
        subprocess.run(["apt-get", "download", *_needed()], cwd=folder, check=True, capture_output=True, timeout=600)
        for package in folder.glob("*.deb"):
            subprocess.run(["dpkg", "-x", str(package), str(folder)], check=True, capture_output=True, timeout=120)
            package.unlink()
        (folder / "fonts.conf").write_text(
            f"<fontconfig><dir>{cache}/usr/share/fonts</dir><dir>/usr/share/fonts</dir>"
            f"<cachedir>{cache}/fontcache</cachedir></fontconfig>"
        )
        # Another test process may have been quicker; then its folder is as good.
        if not cache.exists():
            folder.rename(cache)
    except (subprocess.SubprocessError, OSError):
        return None
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return _cached()


def _needed() -> list[str]:
    """What apt would install, without installing it: a simulated run needs no root."""
    told = subprocess.run(
        ["apt-get", "install", "--simulate", "--no-install-recommends", *PACKAGES],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    return [line.split()[1] for line in told.splitlines() if line.startswith("Inst ")]
