"""The life of a live process: what ends it, and in which order it stops."""

from __future__ import annotations

import asyncio

import pytest

from bayplan.app.shell.lifecycle import Supervisor
from bayplan.errors import LeadershipLostError

pytestmark = pytest.mark.virtual_time


class Story:
    """Runs a supervisor and tells what happened."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.supervisor = Supervisor()

    async def stop(self, lost: bool) -> None:
        self.steps.append("stop after a lost lease" if lost else "stop")

    async def beside(self) -> None:
        try:
            await asyncio.sleep(60)
        finally:
            self.steps.append("task ended")


async def test_a_part_that_breaks_ends_all_with_its_error() -> None:
    story = Story()

    async def work() -> None:
        story.supervisor.keep_running(story.beside())
        story.supervisor.keep_running(breaks())
        await asyncio.sleep(60)

    async def breaks() -> None:
        raise IndexError("a mistake")

    with pytest.raises(IndexError, match="a mistake"):
        await story.supervisor.run(work(), story.stop)
    assert story.steps == ["stop", "task ended"]
    assert story.supervisor.is_stopping


async def test_a_part_that_just_ends_is_a_mistake_too() -> None:
    story = Story()

    async def ends() -> None:
        return None

    async def work() -> None:
        story.supervisor.keep_running(ends())
        await asyncio.sleep(60)

    with pytest.raises(RuntimeError, match="ended"):
        await story.supervisor.run(work(), story.stop)


async def test_a_lost_lease_is_told_to_those_who_stop() -> None:
    story = Story()

    async def work() -> None:
        raise LeadershipLostError("somebody else leads")

    with pytest.raises(LeadershipLostError):
        await story.supervisor.run(work(), story.stop)
    assert story.steps == ["stop after a lost lease"]


async def test_cancelled_it_stops_in_order() -> None:
    story = Story()

    async def work() -> None:
        story.supervisor.keep_running(story.beside())
        await asyncio.sleep(60)

    task = asyncio.ensure_future(story.supervisor.run(work(), story.stop))
    await asyncio.sleep(0.01)
    assert story.supervisor.may_write()
    story.supervisor.check_lead()
    assert not story.supervisor.is_stopping
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert story.steps == ["stop", "task ended"]
