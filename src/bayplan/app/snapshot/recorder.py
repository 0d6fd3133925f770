"""
Records what changes in a live cluster: ``bayplan snapshot --watch`` calls ``record``.  Reads only.

Informers tell what happens; events are put into the order in which the API server made them, objects are cut down to
what scheduling reads, and what is left of a change goes into the file.  A change of which nothing is left, such as the
heartbeat of a node, is not written.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from bayplan.app.scheduler.informers import ALWAYS_READ, ESSENTIAL, EngineInformers
from bayplan.app.shell.process import until_stopped
from bayplan.app.snapshot.anonymizing import Pseudonyms
from bayplan.app.snapshot.recording_file import RecordingFile, refuse_to_overwrite
from bayplan.app.snapshot.trimming import Trimming
from bayplan.clock import SystemClock, wait_at_most
from bayplan.controllers.shadow.event_order import Dated, EventOrder, subject_of
from bayplan.engine.events import Event, KindRefused, NodeDeleted, ObjectDeleted, PodDeleted
from bayplan.errors import ForbiddenError, NotFoundError
from bayplan.framework.ports import NoMetrics
from bayplan.kube.auth import Credentials
from bayplan.kube.client import Client, path_of
from bayplan.kube.informer import Informer
from bayplan.objects.kinds import Kind, kind_of, named, those
from bayplan.objects.pod import Pod
from bayplan.objects.times import format_micro_time
from bayplan.plugins.plugin_set import Plugins
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.replay.merge_patch import difference
from bayplan.simulator.replay.recording import KIND, Key

SETTLE_S = 0.5
Warn = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class RecorderOptions:
    """What the command line says."""

    path: Path
    plugins: Plugins
    kubeconfig: str | None = None
    context: str | None = None
    annotations: Sequence[str] = ()
    """Those to keep beside what scheduling reads."""
    is_anonymous: bool = False
    run_for_s: float | None = None


@dataclass(frozen=True, slots=True)
class Recorded:
    """How much was written."""

    objects: int
    changes: int


def record(options: RecorderOptions, warn: Warn) -> Recorded:
    """Until interrupted, or for as long as was asked."""
    refuse_to_overwrite(options.path)
    credentials = Credentials(options.kubeconfig, options.context)
    return asyncio.run(_record(options, credentials, warn))


async def _record(options: RecorderOptions, credentials: Credentials, warn: Warn) -> Recorded:
    client = Client(credentials)
    try:
        kinds = those({*ALWAYS_READ, *options.plugins.reads})
        wanted = [kind for kind in kinds if await _is_readable(client, kind, warn)]
        with RecordingFile(options.path) as file:
            recorder = Recorder(client, wanted, file, options, warn)
            await until_stopped(recorder.run())
            recorder.end()
        return Recorded(recorder.objects, recorder.changes)
    finally:
        await client.close()


async def _is_readable(client: Client, kind: Kind, warn: Warn) -> bool:
    """A cluster need not have every kind; those that one can do without need not be allowed."""
    try:
        await client.get_raw(path_of(kind), {"limit": "1"})
    except NotFoundError:
        return False
    except ForbiddenError as error:
        if kind.called in ESSENTIAL:
            raise
        warn(f"{kind.plural} are left out: {error.message}")
        return False
    return True


class Recorder:
    """One recording of one cluster."""

    def __init__(
        self, client: Client, wanted: Sequence[Kind], file: RecordingFile, options: RecorderOptions, warn: Warn
    ) -> None:
        self._clock = SystemClock()
        self._started_at = self._clock.now()
        self._file = file
        self._order = EventOrder(SETTLE_S)
        self._trimming = Trimming(options.annotations, warn)
        self._pseudonyms = Pseudonyms(warn) if options.is_anonymous else None
        self._run_for_s = options.run_for_s
        self._known: dict[Key, bytes] = {}
        """What was written of each object, to tell what changed."""
        following = EngineInformers(client, self._tell, NoMetrics())
        self._informers: list[Informer[Any]] = [following.informer(kind) for kind in wanted]
        self._pods = next(each for each in self._informers if each.kind.called == "Pod")
        self._woken = asyncio.Event()
        self._is_synced = False
        self.objects = 0
        self.changes = 0
        header = {"apiVersion": API_VERSION, "kind": KIND, "startedAt": format_micro_time(self._started_at)}
        file.add({**header, "isAnonymous": options.is_anonymous, "annotations": list(options.annotations)})

    async def run(self) -> None:
        tasks = [asyncio.ensure_future(informer.run()) for informer in self._informers]
        try:
            await asyncio.gather(*(informer.synced.wait() for informer in self._informers))
            self._begin()
            await self._follow()
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    def end(self) -> None:
        """What is held back goes into the file as well, and that this is the end."""
        if not self._is_synced:
            return
        while (dated := self._order.take(float("inf"))) is not None:
            self._write(dated)
        self._file.add({"t": self._since(self._clock.now()), "end": True})
        self._file.flush()

    def _begin(self) -> None:
        """All that is there: nodes before pods, so that pods find their nodes."""
        self._is_synced = True
        first = []
        while (dated := self._order.take(float("inf"))) is not None:
            first.append(dated)
        for dated in sorted(first, key=lambda dated: isinstance(subject_of(dated.event), Pod)):
            self._write(dated, at=self._started_at)
        self.objects, self.changes = len(self._known), 0
        self._file.add({"t": self._since(self._clock.now()), "synced": True})
        self._file.flush()

    async def _follow(self) -> None:
        ends = float("inf") if self._run_for_s is None else self._clock.now() + self._run_for_s
        while self._clock.now() < ends:
            while (dated := self._order.take(self._clock.now())) is not None:
                self._write(dated)
            self._file.flush()
            self._woken.clear()
            await wait_at_most(self._woken, min(self._order.next_at(), ends) - self._clock.now())

    def _tell(self, event: Event) -> None:
        if isinstance(event, KindRefused):
            return
        is_late = self._is_synced and isinstance(subject_of(event), Pod) and self._pods.is_listing
        self._order.put(Dated(self._clock.now(), event, is_late))
        self._woken.set()

    # -- writing --

    def _since(self, at: float) -> float:
        return round(max(0.0, at - self._started_at), 3)

    def _write(self, dated: Dated, at: float | None = None) -> None:
        thing = subject_of(dated.event)
        if thing is None:
            return
        kind = named(kind_of(thing))
        document = self._trimming.written(kind, thing)
        if self._pseudonyms is not None:
            found = self._pseudonyms.document(document)
            if found is None:
                return
            document = found
        meta = document["metadata"]
        key = kind.called, meta.get("namespace", ""), meta["name"]
        line = self._line(key, document, is_gone=isinstance(dated.event, PodDeleted | NodeDeleted | ObjectDeleted))
        if line is None:
            return
        self.changes += 1
        late = {"late": True} if dated.is_late else {}
        self._file.add({"t": self._since(dated.at if at is None else at), **line, **late})

    def _line(self, key: Key, document: dict[str, Any], *, is_gone: bool) -> dict[str, Any] | None:
        """What to write of it; nothing if nothing changed that is written."""
        before = self._known.get(key)
        if is_gone:
            return None if self._known.pop(key, None) is None else {"delete": key}
        # Through JSON, as it will be read.
        written = msgspec.json.encode(document)
        self._known[key] = written
        if before is None:
            return {"add": document}
        patch = difference(msgspec.json.decode(before), msgspec.json.decode(written))
        return {"change": key, "patch": patch} if patch else None
