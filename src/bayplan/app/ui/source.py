"""
What the page looks at: a live cluster, files, or a simulation.  ``app.ui.server`` asks one ``Source`` for everything.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Protocol

from bayplan.app.ui.picture import Attempts
from bayplan.app.ui.rights import Rights

View = dict[str, Any]


class Source(Protocol):
    """Something to look at."""

    name: str
    """``live``, ``files`` or ``simulate``."""

    @property
    def revision(self) -> int:
        """Another number whenever something changed."""

    @property
    def problem(self) -> str:
        """Why what is shown may not be what is there; "" if all is well."""

    def namespaces(self) -> Collection[str]:
        """Those that have something to show."""

    def view(self, rights: Rights) -> View:
        """Everything, as far as these rights go."""

    def pod(self, rights: Rights, key: str, attempts: Attempts) -> View | None:
        """The page of one pod (``NAMESPACE/NAME``); None if there is none that may be seen."""

    async def run(self) -> None:
        """Follow what happens; for ever."""
