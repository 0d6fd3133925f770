"""
The file that ``--report`` names: checked before any work is done, and written whole or not at all.
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

from bayplan.errors import InputError

PAGE, PICTURES = ".html", (".svg", ".png")
OPTION = "--report"


class ReportFile:
    """Where a report goes."""

    def __init__(self, path: str) -> None:
        """InputError if no report could be written there."""
        self.path = Path(path)
        suffix = self.path.suffix.lower()
        if suffix not in (PAGE, *PICTURES):
            fix = f"write a name that ends in {', '.join((PAGE, *PICTURES))}"
            raise InputError(f'"{path}" is neither a page nor a picture', field=OPTION, fix=fix)
        self._is_page = suffix == PAGE
        if not self._is_page:
            _need_matplotlib()
        folder = self.path.parent
        if self.path.is_dir() or not folder.is_dir():
            problem = f"{path} is a folder" if self.path.is_dir() else f"there is no folder {folder}"
            raise InputError(problem, field=OPTION, fix="name a file in a folder that is there")
        if not os.access(folder, os.W_OK):
            raise InputError(f"{folder} cannot be written to", field=OPTION, fix="name a file somewhere else")

    def write(self, view: dict[str, Any]) -> None:
        """Whoever opens the file sees the old report or the new one, never half of one."""
        if self._is_page:
            from bayplan.view.report import html

            content = html(view)
        else:
            from bayplan.view.pictures import picture

            content = picture(view, self.path.suffix.lower().removeprefix("."))
        try:
            _replace(self.path, content)
        except OSError as error:
            raise InputError(f"{self.path} cannot be written: {error.strerror}", field=OPTION) from None


def _replace(path: Path, content: bytes) -> None:
    number, beside = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(number, "wb") as file:
            file.write(content)
        os.chmod(beside, 0o666 & ~_umask())
        os.replace(beside, path)
    except BaseException:
        os.unlink(beside)
        raise


def _umask() -> int:
    """As any other file of the user's: a temporary one is for its owner alone."""
    before = os.umask(0)
    os.umask(before)
    return before


def _need_matplotlib() -> None:
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        raise InputError("a picture needs matplotlib", field=OPTION, fix="pip install 'bayplan[plots]'") from None
