"""
A recording: what a scheduler saw of a cluster over time, as JSON lines, possibly compressed.

``app.snapshot.recorder`` writes it, ``replaying`` reads it.  The first line says what it is.  Then come objects that
are there, ``synced``, and what happened after that, each with its time in seconds from the start::

    {"apiVersion": "bayplan.io/v1alpha1", "kind": "Recording", "startedAt": "2026-01-31T10:00:00Z", ...}
    {"t": 0, "add": {"apiVersion": "v1", "kind": "Node", ...}}
    {"t": 0, "synced": true}
    {"t": 1.25, "change": ["Pod", "default", "web-0"], "patch": {"spec": {"nodeName": "node-1"}}}
    {"t": 9, "delete": ["Pod", "default", "web-0"]}
    {"t": 60, "end": true}

Lines are only ever added, so that a recorder that was killed leaves a file that can be read up to its last line.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import msgspec

from bayplan.controllers.shadow.event_order import Dated
from bayplan.engine.events import (
    Event,
    NodeAdded,
    NodeChanged,
    NodeDeleted,
    ObjectAdded,
    ObjectChanged,
    ObjectDeleted,
    PodAdded,
    PodChanged,
    PodDeleted,
)
from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.times import parse_time
from bayplan.simulator.explain.explanation import API_VERSION
from bayplan.simulator.replay.merge_patch import merged

KIND = "Recording"
_GZIP = b"\x1f\x8b"
NOT_ONE = "this is not a recording"
FIX = "write one with bayplan snapshot --watch FILE"

Key = tuple[str, str, str]
"""Kind, namespace and name."""


class Header(msgspec.Struct, rename="camel", kw_only=True):
    """The first line."""

    api_version: str
    kind: str
    started_at: str
    is_anonymous: bool = False
    annotations: list[str] = []
    """Those that were kept beside the ones that Bayplan's own plugins read; ``*``: all."""


class Line(msgspec.Struct):
    """Any other line."""

    t: float
    add: dict[str, Any] | None = None
    change: Key | None = None
    patch: dict[str, Any] | None = None
    delete: Key | None = None
    late: bool = False
    synced: bool = False
    end: bool = False


@dataclass(slots=True)
class Recording:
    """An open recording: its header, and what is in it, once."""

    path: Path
    header: Header
    _lines: Iterator[tuple[int, bytes]]
    is_synced: bool = False
    """Whether all that has been read so far was more than what was there in the beginning."""
    is_whole: bool = False
    """Whether it ends as a recorder ends it.  Known when all has been read."""
    last_s: float = 0.0
    lines: int = 1
    """How many have been read."""

    @property
    def started_at(self) -> float:
        return parse_time(self.header.started_at) or 0.0

    def events(self) -> Iterator[tuple[Dated, bool]]:
        """Everything that happened, and whether it was there in the beginning.  ``InputError`` for a wrong line."""
        known: dict[Key, tuple[dict[str, Any], ApiObject]] = {}
        decoder = msgspec.json.Decoder(Line)
        previous: tuple[int, str] | None = None
        for number, text in self._lines:
            if previous is not None:
                raise InputError(previous[1], source=str(self.path), line=previous[0], fix=FIX)
            try:
                line = decoder.decode(text)
            except msgspec.MsgspecError as error:
                # The last line may be cut off; any other may not.
                previous = number, f"not a line of a recording: {error}"
                continue
            self.lines = number
            self.last_s = max(self.last_s, line.t)
            self.is_synced |= line.synced
            self.is_whole |= line.end
            try:
                event = _event(line, known)
            except InputError as error:
                raise error.located(str(self.path), number) from None
            if event is not None:
                yield Dated(self.started_at + self.last_s, event, line.late), not self.is_synced


def read(path: str | Path) -> Recording:
    """Open a recording.  ``InputError`` if it is none."""
    where = Path(path)
    lines = _lines(where)
    first = next(lines, None)
    if first is None:
        raise InputError(NOT_ONE + ": it is empty", source=str(where), fix=FIX)
    try:
        header = msgspec.json.decode(first[1], type=Header)
        if (header.api_version, header.kind) != (API_VERSION, KIND):
            raise ValueError(f"it is a {header.kind} of {header.api_version}")
        parse_time(header.started_at)
    except (msgspec.MsgspecError, ValueError) as error:
        reason = str(error) if isinstance(error, ValueError) and not isinstance(error, msgspec.MsgspecError) else ""
        raise InputError(NOT_ONE + (f": {reason}" if reason else ""), source=str(where), fix=FIX) from None
    return Recording(where, header, lines)


def length(path: str | Path) -> int:
    """How many lines a recording has."""
    return sum(1 for _ in _lines(Path(path)))


def event_of(old: ApiObject | None, new: ApiObject | None) -> Event:
    """What the engine is told of an object that came, changed or went."""
    thing = new if new is not None else old
    assert thing is not None, "something has happened to something"
    if isinstance(thing, Pod):
        return _three(old, new, PodAdded, PodChanged, PodDeleted)
    if isinstance(thing, Node):
        return _three(old, new, NodeAdded, NodeChanged, NodeDeleted)
    kind = kinds.kind_of(thing)
    return _three(
        old,
        new,
        lambda value: ObjectAdded(kind, value),
        lambda before, value: ObjectChanged(kind, before, value),
        lambda value: ObjectDeleted(kind, value),
    )


def _three(old: Any, new: Any, added: Any, changed: Any, deleted: Any) -> Event:
    event: Event = added(new) if old is None else deleted(old) if new is None else changed(old, new)
    return event


def _event(line: Line, known: dict[Key, tuple[dict[str, Any], ApiObject]]) -> Event | None:
    if line.add is not None:
        made = kinds.decode(line.add)
        known[kinds.kind_of(made), made.namespace, made.name] = line.add, made
        return event_of(None, made)
    key = line.change or line.delete
    if key is None:
        return None
    before = known.get(key)
    if before is None:
        raise InputError(f"{key[0]} {'/'.join(filter(None, key[1:]))} was never added", fix=FIX)
    if line.delete is not None:
        del known[key]
        return event_of(before[1], None)
    document = merged(before[0], line.patch or {})
    made = kinds.decode(document)
    known[key] = document, made
    return event_of(before[1], made)


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Numbered lines, up to where the file ends or its compression breaks off."""
    try:
        with path.open("rb") as plain:
            is_compressed = plain.peek(2)[:2] == _GZIP
            found: Iterable[bytes] = _uncompressed(plain) if is_compressed else plain
            for number, line in enumerate(found, 1):
                if line.strip():
                    yield number, line
    except OSError as error:
        problem = f"cannot be read: {error.strerror or error}"
        raise InputError(problem, source=str(path), fix="give a file of bayplan snapshot --watch") from None


def _uncompressed(plain: IO[bytes]) -> Iterator[bytes]:
    try:
        with gzip.GzipFile(fileobj=plain) as file:
            yield from file
    except (EOFError, zlib.error):
        return  # killed in the middle of a block: what was flushed before it has been read
