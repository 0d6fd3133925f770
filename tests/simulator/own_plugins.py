"""Plugins that hold, break and bind slowly, for simulations of what takes time."""

from __future__ import annotations

import asyncio
from typing import Any

from bayplan.framework import BindPlugin, Code, FilterPlugin, PermitPlugin, PreBindPlugin, Reason, Wait

NOT_YET = Reason(Code.UNSCHEDULABLE, "node(s) are not ready yet")


class Pair(PermitPlugin):
    """Holds a pod until another one with the same ``pair`` label is held, too."""

    name = "Pair"

    def permit(self, state: Any, pod: Any, node_name: str) -> Wait | None:
        assert self.handle is not None
        wanted = pod.labels.get("pair")
        if wanted is None:
            return None
        partners = [each for each in self.handle.waiting.list() if each.pod.labels.get("pair") == wanted]
        for each in partners:
            each.allow(self.name)
        return None if partners else Wait(60)


class Broken(FilterPlugin):
    """Raises for pods that ask for it: always, or only in the first second."""

    name = "Broken"
    started_at: float | None = None

    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        assert self.handle is not None
        if self.started_at is None:
            self.started_at = self.handle.clock.now()
        is_early = self.handle.clock.now() < self.started_at + 1
        if pod.labels.get("breaks") == "always" or (is_early and "breaks" in pod.labels):
            raise RuntimeError("out of order")


class Late(FilterPlugin):
    """No node suits before a minute has passed."""

    name = "Late"
    started_at: float | None = None

    def requeue_on(self) -> tuple[()]:
        return ()

    def filter_node(self, state: Any, pod: Any, node: Any) -> Reason | None:
        assert self.handle is not None
        if self.started_at is None:
            self.started_at = self.handle.clock.now()
        return NOT_YET if self.handle.clock.now() - self.started_at < 60 else None


class Slow(PreBindPlugin):
    """Needs ten seconds before each bind."""

    name = "Slow"

    async def pre_bind(self, state: Any, pod: Any, node_name: str) -> None:
        await asyncio.sleep(10)


class Refusing(BindPlugin):
    """Never binds."""

    name = "Refusing"

    def bind(self, state: Any, pod: Any, node_name: str) -> Reason:
        return Reason(Code.ERROR, "no binds today")
