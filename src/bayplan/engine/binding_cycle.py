"""
The binding cycle of one pod: wait on Permit, PreBind, Bind, PostBind.

Runs as a task of its own beside the scheduling of the next pods; ``app`` and ``simulator`` start it for every
``Bind`` intent and hand the event it returns back to ``Scheduler.handle``.
"""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable, Iterator
from itertools import groupby
from operator import attrgetter
from typing import Any

from bayplan.engine.events import BindFailed, Bound
from bayplan.engine.extender_calls import NOBODY, Extending
from bayplan.engine.intents import Bind
from bayplan.engine.plugin_calls import Calls, is_ended, log, raised
from bayplan.engine.waiting_pods import WaitingPods
from bayplan.errors import PluginError
from bayplan.framework.plugin import BindPlugin, Plugin, PostBindPlugin, PreBindPlugin
from bayplan.framework.ports import ClusterWriter
from bayplan.framework.profile import Profile
from bayplan.framework.status import SUCCESS, Code, Status, failed

# A plugin that never answers must not hold a pod's place for ever.
PRE_BIND_DEADLINE_S = 15 * 60.0
BIND_DEADLINE_S = 60.0
POST_BIND_DEADLINE_S = 60.0


class BindingCycle:
    """One pod on its way to its node."""

    def __init__(
        self,
        bind: Bind,
        profile: Profile,
        waiting: WaitingPods,
        writer: ClusterWriter,
        permitted: Callable[[str], None],
        extending: Extending = NOBODY,
    ) -> None:
        self._bind = bind
        self._decision = bind.decision
        self._profile = profile
        self._waiting = waiting
        self._writer = writer
        self._permitted = permitted
        self._extending = extending
        self._calls = Calls(bind.decision.pod)

    async def run(self) -> Bound | BindFailed:
        """To the end; never raises for what a plugin or the API server does."""
        uid = self._decision.pod.uid
        held = self._waiting.get(uid)
        status, working = self._pre_flight()
        if status.is_success and (working or held is not None):
            await self._announce()
        if status.is_success and held is not None:
            status = await self._timed("WaitOnPermit", held.wait())
            self._waiting.pop(uid, None)
            if status.is_rejected:
                return self._failed(status, waited=True)
            if not status.is_success:
                text = f"waiting on permit for pod: {status.message}"
                return self._failed(Status(Code.ERROR, (text,), status.plugin))
        self._permitted(uid)
        if status.is_success:
            status = await self._timed("PreBind", self._pre_bind(working))
        if status.is_success:
            status = await self._timed("Bind", self._bind_now())
        if not status.is_success:
            return self._failed(status)
        await self._post_bind()
        return Bound(self._bind.queued, self._decision)

    async def _timed(self, point: str, work: Awaitable[Status]) -> Status:
        started = time.perf_counter()
        try:
            return await work
        finally:
            self._decision.timings[point] = time.perf_counter() - started

    def _failed(self, status: Status, waited: bool = False) -> BindFailed:
        return BindFailed(self._bind.queued, self._decision, status, waited)

    # -- PreBind --

    def _pre_flight(self) -> tuple[Status, list[PreBindPlugin]]:
        """Who will have work to do before the bind."""
        working = []
        for plugin in self._profile.extension("pre_bind"):
            assert isinstance(plugin, PreBindPlugin)
            try:
                status = self._calls.verdict(plugin, "PreBindPreFlight", plugin.pre_bind_pre_flight, *self._args)
            except PluginError as error:
                return failed(error).by(plugin.name), []
            if status.is_skip:
                self._decision.state.skip_pre_bind.add(plugin.name)
            elif status.is_success:
                working.append(plugin)
            else:
                text = f'running PreBindPreFlight "{plugin.name}": {self._calls.complaint(status)}'
                return Status(Code.ERROR, (text,), plugin.name), []
        return SUCCESS, working

    async def _announce(self) -> None:
        """Tell others where the pod is about to go, since work or waiting lies before the bind."""
        if self._decision.pod.nominated_node_name == self._decision.node:
            return
        try:
            patch = {"nominatedNodeName": self._decision.node}
            await self._writer.patch_pod_status(self._decision.pod, patch)
        except Exception as error:  # whatever the edge raises, the pod can be bound all the same
            log.warning("nominated node not written", pod=self._decision.pod.key, error=str(error))

    async def _pre_bind(self, working: list[PreBindPlugin]) -> Status:
        for group in self._groups(working):
            tasks = [asyncio.ensure_future(self._one_pre_bind(plugin)) for plugin in group]
            try:
                for done in asyncio.as_completed(tasks):
                    status = await done
                    if not status.is_success:
                        return status
            finally:
                for task in tasks:
                    task.cancel()
        return SUCCESS

    def _groups(self, working: list[PreBindPlugin]) -> Iterator[list[PreBindPlugin]]:
        """Neighbours in configured order that allow it run side by side."""
        for side_by_side, plugins in groupby(self._profile.extension("pre_bind"), attrgetter("allows_parallel")):
            group = [plugin for plugin in plugins if plugin in working]
            if side_by_side and group:
                yield group
            elif not side_by_side:
                yield from ([plugin] for plugin in group)

    async def _one_pre_bind(self, plugin: PreBindPlugin) -> Status:
        try:
            deadline_s = self._pre_bind_deadline_s(plugin)
        except PluginError as error:
            return failed(error).by(plugin.name)
        status = await self._ask(plugin, "PreBind", plugin.pre_bind, deadline_s)
        return self._calls.yes_or_no(plugin, "PreBind", status)

    def _pre_bind_deadline_s(self, plugin: PreBindPlugin) -> float:
        asked = self._calls.run(plugin, "PreBind", plugin.pre_bind_timeout_s)
        if asked is not None and (not isinstance(asked, (int, float)) or not asked >= 0):
            problem = f"pre_bind_timeout_s returned {asked!r}; return a number of seconds, or None"
            raise self._calls.refuse(plugin, "PreBind", problem)
        return asked or PRE_BIND_DEADLINE_S

    # -- Bind and after --

    async def _bind_now(self) -> Status:
        """An extender that binds pods like this one, else the first Bind plugin that does not skip."""
        assert self._decision.node is not None
        done = await self._extending.bind(self._decision.pod, self._decision.node)
        if done is not None:
            return done
        for plugin in self._profile.extension("bind"):
            assert isinstance(plugin, BindPlugin)
            status = await self._ask(plugin, "Bind", plugin.bind, BIND_DEADLINE_S)
            if not status.is_skip:
                return self._calls.yes_or_no(plugin, "Bind", status)
        return Status(Code.ERROR, ("no bind plugin took the pod",))

    async def _post_bind(self) -> None:
        for plugin in self._profile.extension("post_bind"):
            assert isinstance(plugin, PostBindPlugin)
            status = await self._ask(plugin, "PostBind", plugin.post_bind, POST_BIND_DEADLINE_S)
            if not status.is_success:
                # The pod is bound; nothing that fails here may change that.
                log.error("post bind failed", plugin=plugin.name, pod=self._decision.pod.key, error=status.message)

    @property
    def _args(self) -> tuple[Any, ...]:
        return self._decision.state, self._decision.pod, self._decision.node

    async def _ask(self, plugin: Plugin, point: str, call: Callable[..., Any], deadline_s: float) -> Status:
        """Call a plugin that may be a coroutine; its errors and its silence become error statuses."""
        deadline, task = asyncio.timeout(deadline_s), asyncio.current_task()
        try:
            answer = self._calls.run(plugin, point, call, *self._args)
            if inspect.isawaitable(answer):
                async with deadline:
                    answer = await answer
            return self._calls.status(plugin, point, answer)
        except PluginError as error:
            return failed(error).by(plugin.name)
        except BaseException as error:
            if is_ended(error, task):
                raise
            if deadline.expired():
                return failed(f"no answer within {deadline_s:g} s").by(plugin.name)
            return failed(raised(plugin, point, self._decision.pod, error)).by(plugin.name)
