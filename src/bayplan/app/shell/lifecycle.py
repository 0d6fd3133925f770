"""
The life of a live process: its work, the tasks beside it that must not end, the lease, and the order of stopping.

Every ``app.shell.service.Service`` has one ``Supervisor``.  When a task that should run for ever ends,
all of it ends with that task's error, and the cluster starts the process anew with a fresh view.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any

from bayplan.errors import LeadershipLostError
from bayplan.kube.leader_election import LeaderElection

Stop = Callable[[bool], Awaitable[None]]
"""What to do once the work has ended and before its tasks and the lease go; told whether the lease was lost."""


class Supervisor:
    """Runs one piece of work, once."""

    def __init__(self, election: LeaderElection | None = None) -> None:
        self.election = election
        self.is_stopping = False
        self._tasks: list[asyncio.Task[None]] = []
        self._broken: asyncio.Future[None] | None = None

    def may_write(self) -> bool:
        """Does this replica lead?  Without an election it is the only one."""
        return self.election is None or self.election.is_leader()

    def check_lead(self) -> None:
        """``LeadershipLostError`` unless this replica leads; asked before every write."""
        if not self.may_write():
            raise LeadershipLostError("not the leader any more: nothing was written")

    async def run(self, work: Coroutine[Any, Any, None], stop: Stop) -> None:
        """Until cancelled, or until the lease is lost, or a part that should run for ever breaks."""
        self._broken = asyncio.get_running_loop().create_future()
        working = asyncio.ensure_future(work)
        lost = False
        try:
            await asyncio.wait({working, self._broken}, return_when=asyncio.FIRST_COMPLETED)
            (working if working.done() else self._broken).result()
        except LeadershipLostError:
            lost = True
            raise
        finally:
            self.is_stopping = True
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            await stop(lost)
            await self._end()

    def keep_running(self, work: Coroutine[Any, Any, None]) -> None:
        """A task that must not end: if it does, all of us ends."""
        task = asyncio.ensure_future(work)
        self._tasks.append(task)
        task.add_done_callback(self._task_ended)

    async def lead(self) -> None:
        """Wait until we lead, and keep it so."""
        if self.election is not None:
            await self.election.acquire()
            self.keep_running(self.election.hold())

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        if task.cancelled() or self._broken is None or self._broken.done():
            return
        self._broken.set_exception(task.exception() or RuntimeError(f"{task.get_coro()} ended"))

    async def _end(self) -> None:
        """The lease goes last, when nothing of ours writes any more."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        assert self._broken is not None
        self._broken.cancel()
        if self.election is not None:
            await self.election.release()
