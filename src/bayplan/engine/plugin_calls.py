"""
Calling plugins: names the one that raised or returned nonsense, and the one that was slow.

Every call from the engine into a plugin goes through ``Calls.run``.  A plugin can fail its pod, never the
scheduler.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from itertools import count
from typing import Any, TypeVar

import structlog

from bayplan.engine.thread_time import ThreadTime, ThreadTimes
from bayplan.errors import GO_THROUGH, PluginError
from bayplan.framework.config.mistakes import one_line
from bayplan.framework.plugin import Plugin, QueuedPod, QueueSortPlugin
from bayplan.framework.ports import MetricSink, NoMetrics
from bayplan.framework.status import SKIP, SUCCESS, Code, Reason, Status, as_status
from bayplan.objects.pod import Pod
from bayplan.raising import place_of

log = structlog.get_logger()

T = TypeVar("T")

# Slower than this in one call, a plugin is named: at 5,000 nodes an in-tree plugin takes well under 1 ms.
SLOW_S = 0.1
# Of how many cycles one has the time of each plugin measured.
SAMPLE = 10
_cycles = count()
_NO_METRICS = NoMetrics()
_THREAD_TIMES = ThreadTimes()


class CycleError(Exception):
    """A plugin or an extender ended the cycle with an error status."""

    def __init__(self, status: Status) -> None:
        super().__init__(status.message)
        self.status = status


class Calls:
    """Runs plugins for one pod and remembers what was slow."""

    __slots__ = ("pod", "slow", "_metrics", "is_sampled", "_thread", "_timer")

    def __init__(
        self,
        pod: Pod,
        metrics: MetricSink | None = None,
        timer: Callable[[], float] = time.perf_counter,
        thread: ThreadTimes = _THREAD_TIMES,
    ) -> None:
        self.pod = pod
        self.slow: dict[str, float] = {}
        self._metrics = metrics or _NO_METRICS
        self._timer = timer
        self._thread = thread
        self.is_sampled = metrics is not None and next(_cycles) % SAMPLE == 0

    def run(self, plugin: Plugin, point: str, call: Callable[..., T], *args: Any) -> T:
        """Call a plugin; whatever it raises becomes a ``PluginError`` that names plugin and point."""
        started = self._timer()
        thread = self._thread
        before = thread.latest if started < thread.stale_at else thread.renew(started)
        try:
            answer = call(*args)
        except GO_THROUGH:
            raise
        except BaseException as error:
            self._report(plugin, point, self._timer() - started, before, Code.ERROR)
            raise raised(plugin, point, self.pod, error) from error
        took = self._timer() - started
        if took > SLOW_S or self.is_sampled:
            self._report(plugin, point, took, before, _code_of(answer))
        return answer

    def verdict(self, plugin: Plugin, point: str, call: Callable[..., Any], *args: Any) -> Status:
        """Call a plugin that answers with a verdict."""
        answer = self.run(plugin, point, call, *args)
        return self.status(plugin, point, answer)

    def status(self, plugin: Plugin, point: str, answer: object) -> Status:
        """The answer as a status stamped with the plugin's name."""
        if answer is None:
            return SUCCESS
        if answer is SKIP:
            return SKIP
        try:
            return as_status(answer).by(plugin.name)
        except TypeError as error:
            raise PluginError(plugin.name, point, self.pod.key, error) from error

    def refuse(self, plugin: Plugin, point: str, problem: str) -> PluginError:
        """The error for an answer that makes no sense."""
        return PluginError(plugin.name, point, self.pod.key, ValueError(problem))

    @staticmethod
    def complaint(status: Status) -> str:
        """What an answer that has no place here said, or at least which answer it was."""
        return status.message or f"answered {status.code.title}"

    @classmethod
    def misplaced(cls, plugin: Plugin, point: str, status: Status) -> Status:
        """The error that an answer becomes which has no place at a point."""
        text = f'running {point} plugin "{plugin.name}": {cls.complaint(status)}'
        return Status(Code.ERROR, (text,), plugin.name, status.error)

    @classmethod
    def yes_or_no(cls, plugin: Plugin, point: str, status: Status) -> Status:
        """A yes or a no stays what it is; any other answer becomes an error that names plugin and point."""
        return status if status.is_success or status.is_rejected else cls.misplaced(plugin, point, status)

    def _report(self, plugin: Plugin, point: str, took: float, before: ThreadTime, code: Code) -> None:
        if self.is_sampled:
            self._metrics.observe(
                "plugin_execution_duration_seconds", took, plugin=plugin.name, extension_point=point, status=code.title
            )
        if took <= SLOW_S:
            return
        own, cpu = self._thread.of_its_own(took, before)
        if own <= SLOW_S:
            return  # a busy machine is no fault of the plugin's
        slow = f"{plugin.name}/{point}"
        self.slow[slow] = self.slow.get(slow, 0.0) + took
        self._metrics.counter("slow_plugin_calls_total", plugin=plugin.name, extension_point=point)
        log.warning(
            "slow plugin",
            plugin=plugin.name,
            point=point,
            pod=self.pod.key,
            seconds=round(took, 3),
            cpu_seconds=round(cpu, 3),
            mostly="computing" if cpu > own / 2 else "waiting",
        )


_told: set[tuple[type[Plugin], str]] = set()
"""Plugins, and where in their code they raised."""


def raised(plugin: Plugin, point: str, pod: Pod, error: BaseException) -> PluginError:
    """What a plugin raised, as an error that names it; the whole traceback is told with ``-v``, once for each place."""
    where = type(plugin), place_of(error)
    if where not in _told:
        _told.add(where)
        log.debug("plugin raised", plugin=plugin.name, point=point, pod=pod.key, exc_info=error)
    return PluginError(plugin.name, point, pod.key, error)


def complain(problem: str, plugin: Plugin | str, error: BaseException, **where: str) -> None:
    """Log in one line what a plugin raised where that fails no pod; where in its code it was is told with ``-v``."""
    name = plugin if isinstance(plugin, str) else plugin.name
    log.error(problem, plugin=name, **where, error=one_line(error))
    log.debug("raised there", plugin=name, exc_info=error)


def queue_key_of(plugin: QueueSortPlugin) -> Callable[[QueuedPod], Any]:
    """Its ``queue_key``, which names the plugin when it fails."""
    own = plugin.queue_key

    def key(queued: QueuedPod) -> Any:
        try:
            return own(queued)
        except GO_THROUGH:
            raise
        except BaseException as error:
            raise raised(plugin, "QueueSort", queued.pod, error) from error

    return key


def is_ended(error: BaseException, task: asyncio.Task[Any] | None) -> bool:
    """Whether what came out of something that ``task`` awaited is not its own doing: the task or the process ends."""
    if isinstance(error, asyncio.CancelledError):
        return task is None or task.cancelling() > 0
    if isinstance(error, GeneratorExit):
        # A task that is thrown away while it waits is not the one that runs.
        return task is None or _running_task() is not task
    return isinstance(error, GO_THROUGH)


def _running_task() -> asyncio.Task[Any] | None:
    try:
        return asyncio.current_task()
    except RuntimeError:  # no loop runs any more
        return None


async def beside(plugin: Plugin) -> None:
    """What a plugin does beside scheduling.  When that fails, scheduling goes on without it."""
    task = asyncio.current_task()
    try:
        await plugin.background()
    except BaseException as error:
        if is_ended(error, task):
            raise
        complain("background failed, scheduling goes on without it", plugin, error)


def _code_of(answer: object) -> Code:
    """What a plugin's answer says; one that is no verdict, an array for one, is as good as a yes."""
    return answer.code if isinstance(answer, (Reason, Status)) else Code.SUCCESS


def error_status(error: PluginError) -> Status:
    """The status of a cycle that a plugin broke."""
    text = {
        "Filter": f'running "{error.plugin}" filter plugin: {error}',
        "AddPod": f'running AddPod on PreFilter plugin "{error.plugin}": {error}',
        "RemovePod": f'running RemovePod on PreFilter plugin "{error.plugin}": {error}',
        "Score": f'running Score plugins: plugin "{error.plugin}" failed with: {error}',
        "NormalizeScore": f"running Normalize on Score plugins: {error}",
    }.get(error.extension_point, f'running {error.extension_point} plugin "{error.plugin}": {error}')
    return Status(Code.ERROR, (text,), error.plugin, error)
