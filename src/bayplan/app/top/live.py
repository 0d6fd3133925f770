"""
``bayplan top`` on a live cluster: the cluster that the page in the browser follows, drawn in the terminal.

Nothing is written.  ``cli.top`` says how each document is shown.
"""

from __future__ import annotations

import asyncio
import io
import time
from collections.abc import Callable
from typing import Any

from bayplan.app.top.bind_rate import BindRate
from bayplan.app.top.figures import top_document
from bayplan.app.ui.live import LiveCluster
from bayplan.app.ui.rights import EVERYTHING
from bayplan.engine.events import Event, PodChanged
from bayplan.engine.scheduler import MakeProfiles
from bayplan.kube.client import Client

Show = Callable[[dict[str, Any]], None]


class LastLine(io.StringIO):
    """Where logs go while the screen is drawn: the last of them is shown in its last line."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def write(self, text: str, /) -> int:
        self.text = text.strip() or self.text
        return len(text)


class LiveTop(LiveCluster):
    """A cluster that is shown again and again."""

    def __init__(self, client: Client, make: MakeProfiles, show: Show, every_s: float | None) -> None:
        super().__init__(client, make, "bayplan top")
        self._show = show
        self._every_s = every_s
        """None: once."""
        self._rate = BindRate(time.monotonic())

    def _tell(self, event: Event) -> None:
        super()._tell(event)
        if isinstance(event, PodChanged) and event.new.node_name and not event.old.node_name:
            self._rate.note(time.monotonic())

    def document(self) -> dict[str, Any]:
        return top_document(self.view(EVERYTHING)["clusters"][0], self._rate.at(time.monotonic()))

    async def work(self) -> None:
        self._show(self.document())
        while self._every_s is not None:
            await asyncio.sleep(self._every_s)
            self._show(self.document())
