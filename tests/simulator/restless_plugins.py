"""Plugins that keep themselves, or each other, busy for ever; for the tests of ``patience``."""

from __future__ import annotations

import asyncio
from typing import Any

from bayplan.framework import (
    Code,
    FilterPlugin,
    Nomination,
    PermitPlugin,
    PostBindPlugin,
    PostFilterPlugin,
    PostFilterResult,
    PreBindPlugin,
    Reason,
    ReservePlugin,
    Wait,
)


class Gang(PermitPlugin, ReservePlugin):
    """All or none, and the gang is never complete: who goes takes the others with it."""

    name = "Gang"

    def permit(self, state: Any, pod: Any, node_name: str) -> Wait:
        return Wait(60)

    def reserve(self, state: Any, pod: Any, node_name: str) -> None:
        return None

    def unreserve(self, state: Any, pod: Any, node_name: str) -> None:
        assert self.handle is not None
        for held in self.handle.waiting.list():
            held.reject(self.name, "node(s) are for complete gangs only")


class NoPatience(PermitPlugin):
    """Waits for no time at all."""

    name = "NoPatience"

    def permit(self, state: Any, pod: Any, node_name: str) -> Wait:
        return Wait(0)


class Quarrel(PermitPlugin):
    """Each pod that comes sends away the one that is held."""

    name = "Quarrel"

    def permit(self, state: Any, pod: Any, node_name: str) -> Wait:
        assert self.handle is not None
        for held in self.handle.waiting.list():
            held.reject(self.name, "node(s) are taken by another")
        return Wait(60)


class Beside(PostBindPlugin):
    def post_bind(self, state: Any, pod: Any, node_name: str) -> None:
        return None


class Spins(Beside):
    """Asks again and again without waiting."""

    name = "Spins"

    async def background(self) -> None:
        while True:
            await asyncio.sleep(0)


class Hurries(Beside):
    """Waits for less than a clock can tell."""

    name = "Hurries"

    async def background(self) -> None:
        while True:
            await asyncio.sleep(1e-12)


class Scribbles(Beside):
    """Writes without a pause, and does not even let others have a turn."""

    name = "Scribbles"
    pause_s: float | None = None

    async def background(self) -> None:
        assert self.handle is not None
        number = 0
        while True:
            number += 1
            patch = {"metadata": {"annotations": {"number": str(number)}}}
            await self.handle.writer.patch("PodDisruptionBudget", "default", "b", patch)
            if self.pause_s is not None:
                await asyncio.sleep(self.pause_s)


class ScribblesInTurn(Scribbles):
    name = "ScribblesInTurn"
    pause_s = 0.0


class ScribblesEverySecond(Scribbles):
    name = "ScribblesEverySecond"
    pause_s = 1.0


class Fails(FilterPlugin):
    name = "Fails"

    def filter_node(self, state: Any, pod: Any, node: Any) -> None:
        raise RuntimeError("out of order")


class Undoes(PostBindPlugin):
    """Deletes every pod that was bound; its controller makes another."""

    name = "Undoes"

    async def post_bind(self, state: Any, pod: Any, node_name: str) -> None:
        assert self.handle is not None
        await self.handle.writer.delete_pod(pod)


class Nominates(FilterPlugin, PostFilterPlugin):
    """Says no to every node, then sets one aside, now this one and now that."""

    name = "Nominates"
    number = 0

    def filter_node(self, state: Any, pod: Any, node: Any) -> Reason:
        return Reason(Code.UNSCHEDULABLE, "node(s) are not good enough")

    def post_filter(self, state: Any, pod: Any, diagnosis: Any) -> PostFilterResult:
        self.number += 1
        return PostFilterResult(Nomination(f"n{1 + self.number % 2}"))


class NeverReady(PreBindPlugin):
    """Works before the bind, without waiting and without an end."""

    name = "NeverReady"

    async def pre_bind(self, state: Any, pod: Any, node_name: str) -> None:
        while True:
            await asyncio.sleep(0)
