"""
Events of several watches, put into the order in which the API server made them.

Each kind has a watch of its own, and what comes from two of them comes in any order.  The versions of objects count
the writes of the whole cluster, so events are held back for a moment and handed on by version.  That moment also
shows what comes next: pods whose binds were under way when another pod was decided.  ``app.shadow`` and the recorder
of ``bayplan snapshot --watch`` use it.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import Any

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
from bayplan.objects.meta import ApiObject


@dataclass(frozen=True, slots=True)
class Dated:
    """An event, and when it was seen (epoch seconds)."""

    at: float
    event: Event
    is_late: bool = False
    """It was found by listing again after a watch broke: what happened in between, and in which order, is not known."""


class EventOrder:
    """Holds events back for ``settle_s`` and gives them out by version."""

    def __init__(self, settle_s: float) -> None:
        self._settle_s = settle_s
        self._heap: list[tuple[int, int, Dated]] = []
        self._newest = 0
        self._number = 0

    def __len__(self) -> int:
        return len(self._heap)

    def put(self, dated: Dated) -> None:
        version = 0 if dated.is_late else version_of(dated.event)
        # What has no version of its own comes after all that is known.
        version = version or self._newest
        self._newest = max(self._newest, version)
        self._number += 1
        heapq.heappush(self._heap, (version, self._number, dated))

    def take(self, now: float) -> Dated | None:
        """The next event, if it has been held back for long enough."""
        if not self._heap or self.next_at() > now:
            return None
        return heapq.heappop(self._heap)[2]

    def next_at(self) -> float:
        """When the next event may be taken; infinity if there is none."""
        return self._heap[0][2].at + self._settle_s if self._heap else float("inf")

    def ahead(self) -> list[Dated]:
        """What is held back, in order."""
        return [dated for _, _, dated in sorted(self._heap, key=lambda entry: entry[:2])]


def version_of(event: Event) -> int:
    """The resource version that the event is about, as a number; 0 if there is none."""
    thing = subject_of(event)
    version = thing.metadata.resource_version if thing is not None else ""
    return int(version) if version.isdigit() else 0


def subject_of(event: Event) -> ApiObject | None:
    """The object that came, changed or went, as it was last."""
    found: Any = None
    match event:
        case PodAdded(found) | PodDeleted(found) | PodChanged(_, found):
            pass
        case NodeAdded(found) | NodeDeleted(found) | NodeChanged(_, found):
            pass
        case ObjectAdded(_, found) | ObjectDeleted(_, found) | ObjectChanged(_, _, found):
            pass
        case _:
            return None
    return found if isinstance(found, ApiObject) else None
