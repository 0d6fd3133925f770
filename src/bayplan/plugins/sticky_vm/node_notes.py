"""
Noting nodes: what is written to owners' annotations, and what is kept in mind until it is.

A pod is bound first and its node is noted after that, so what was decided is true from the moment it is kept here;
the annotation follows.  Writes are on condition that the object did not change since it was last seen.  Whoever set
the annotation to something else meanwhile has decided otherwise, and that holds.  All that is to be noted in one object
is written at once: pods of a large StatefulSet would be in one another's way.  ``plugin`` owns the one ``Notes``.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field

import structlog

from bayplan.backoff import Backoff
from bayplan.errors import BayplanError, ConflictError, ForbiddenError, NotFoundError
from bayplan.framework import Handle
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.plugins.sticky_vm.owners import Place

log = structlog.get_logger()

FREE = ""
"""What is written in place of a node for a machine that was released."""

RETRY_S = 15.0
MAX_WRITING = 16
"""Writes under way at once: binds matter more."""
# Another client writes to the object too: by the end of the waits the watch has told of that.
CONFLICT_TRIES = 7
CONFLICT_WAIT_S = 0.05


@dataclass(slots=True)
class Note:
    """A node that shall be written."""

    node: str
    over: set[str | None]
    """What the annotation may say until then: anything else was written by another client, on purpose."""
    pod: Pod | None = None
    """Whose events tell of trouble."""
    is_written: bool = False
    complained: str = ""
    beside: dict[str, str] = field(default_factory=dict)
    """Other annotations that are written with it."""


class Notes:
    """Nodes by the place where they are noted."""

    def __init__(self, handle: Handle) -> None:
        self._handle = handle
        self._notes: dict[str, dict[Place, Note]] = {}
        """By the uid of their owner."""
        self._at_work: set[str] = set()
        """Owners that are being written to."""
        self._slots = asyncio.Semaphore(MAX_WRITING)
        self.woken = asyncio.Event()
        """Set when there is something new to write."""

    def node(self, place: Place, owner: ApiObject) -> str | None:
        """The node that is noted, ``FREE`` for one that was released, None if none was ever."""
        note = self._of(place.uid).get(place)
        return owner.annotations.get(place.annotation) if note is None else note.node

    def take(
        self,
        place: Place,
        owner: ApiObject,
        node: str,
        pod: Pod | None = None,
        beside: dict[str, str] | None = None,
    ) -> None:
        """Keep in mind that this is the node from now on."""
        over: set[str | None] = {owner.annotations.get(place.annotation)}
        before = self._of(place.uid).get(place)
        if before is not None:
            over |= {*before.over, before.node}
        self._notes.setdefault(place.uid, {})[place] = Note(node, over, pod, beside=beside or {})
        self.woken.set()

    def heard(self, owner: ApiObject) -> None:
        """An owner changed: what it says now confirms a note, or overrules it."""
        for place, note in list(self._of(owner.uid).items()):
            said = owner.annotations.get(place.annotation)
            if said == note.node:
                self._drop(place)
            elif said not in note.over:
                log.info("left as somebody set it", owner=str(place), node=said, instead_of=note.node)
                self._drop(place)

    def forget(self, owner: ApiObject) -> None:
        """An owner is gone, and its notes with it."""
        self._notes.pop(owner.uid, None)

    def _of(self, uid: str) -> dict[Place, Note]:
        return self._notes.get(uid, {})

    def _drop(self, place: Place) -> None:
        notes = self._of(place.uid)
        notes.pop(place, None)
        if not notes:
            self._notes.pop(place.uid, None)

    # -- writing --

    @property
    def is_behind(self) -> bool:
        """Is anything not written yet, writes under way included?"""
        return any(self._due(uid) for uid in self._notes)

    def unwritten(self, *, with_refused: bool = True) -> list[Place]:
        """What is not being written now, one of each owner; what was refused before, only if that is tried again."""
        found = {}
        for uid in self._notes.keys() - self._at_work:
            for place, note in self._due(uid).items():
                if with_refused or not note.complained:
                    found[uid] = place
        return list(found.values())

    def _due(self, uid: str) -> dict[Place, Note]:
        return {place: note for place, note in self._of(uid).items() if not note.is_written}

    async def write(self, place: Place) -> None:
        """Write all notes of this owner; if that fails they stay in mind, and are written later."""
        if place.uid in self._at_work:
            # The write under way goes on until nothing is left.
            return
        self._at_work.add(place.uid)
        try:
            async with self._slots:
                while self._due(place.uid) and await self._write(place):
                    pass
        finally:
            self._at_work.discard(place.uid)

    async def _write(self, one: Place) -> bool:
        """One write of all that is due, tried again after conflicts; false if it must be left for later."""
        due = self._due(one.uid)
        backoff = Backoff(CONFLICT_WAIT_S)
        while True:
            owner = self._handle.objects.get(one.kind, one.namespace, one.name)
            if owner is None or owner.uid != one.uid:
                return self._lose(one.uid, due)
            self.heard(owner)
            due = self._due(one.uid)
            if not due:
                return True
            try:
                version = owner.metadata.resource_version
                patch = {"metadata": {"annotations": _annotations(due)}}
                await self._handle.writer.patch(one.kind, one.namespace, one.name, patch, version)
            except ConflictError as error:
                wait = backoff.failed()
                if backoff.failures == CONFLICT_TRIES:
                    return self._complain(due, error)
                log.debug("changed by another client, trying again", owner=str(one))
                await asyncio.sleep(wait)
            except NotFoundError:
                return self._lose(one.uid, due)
            except BayplanError as error:
                return self._complain(due, error)
            else:
                for place, note in due.items():
                    note.is_written = True
                    log.info("node annotated", owner=str(place), node=note.node)
                return True

    def _lose(self, uid: str, due: dict[Place, Note]) -> bool:
        """There is nothing left that could stick to a node."""
        self._notes.pop(uid, None)
        for place, note in due.items():
            log.info("owner is gone, nothing to annotate", owner=str(place), node=note.node)
            if note.pod is not None:
                text = f"{place} is gone, so node {note.node} is noted nowhere"
                self._emit(note.pod, "StickyOwnerGone", text)
        return False

    def _complain(self, due: dict[Place, Note], error: BayplanError) -> bool:
        """Once for each kind of trouble, however often it is tried."""
        for place, note in due.items():
            if note.complained == type(error).__name__:
                continue
            note.complained = type(error).__name__
            what = f"node {note.node} could not be noted in {place}"
            text = f"{what}: {_told(place, error)}; it is kept in mind and tried again"
            log.warning("node not annotated", owner=str(place), node=note.node, error=_told(place, error))
            if note.pod is not None:
                self._emit(note.pod, "StickyNodeNotWritten", text)
        return False

    def _emit(self, pod: Pod, reason: str, note: str) -> None:
        self._handle.events.emit(pod, type="Warning", reason=reason, action="Binding", note=note)


def _annotations(due: dict[Place, Note]) -> dict[str, str]:
    written: dict[str, str] = {}
    for place, note in due.items():
        written |= {place.annotation: note.node, **note.beside}
    return written


def _told(place: Place, error: BayplanError) -> str:
    if not isinstance(error, ForbiddenError):
        return str(error)
    plural = f"{place.kind.lower()}s"
    group = "apps" if place.pod_name else "kubevirt.io"
    return (
        f"may not patch {plural} ({error.message}); add to the ClusterRole: "
        f'apiGroups: ["{group}"], resources: ["{plural}"], verbs: ["get", "patch"]'
    )
