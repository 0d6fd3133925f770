"""
Placements over the fleet of a hub, as ``bayplan place`` decides them, of the objects that an engine was told.

They are decided anew when one of these objects changed, but seldom, since a fleet may be large.
"""

from __future__ import annotations

import time
from collections.abc import Collection

from bayplan.app.ui.rights import Rights
from bayplan.framework.handle import ObjectStore
from bayplan.objects.kinds import all_kinds
from bayplan.objects.third_party import placement as api
from bayplan.placement import placing
from bayplan.placement.table import FOREVER
from bayplan.view.documents import Document
from bayplan.view.placement_view import placement_facts, placements_of

KINDS = tuple(kind.called for kind in all_kinds() if kind.group == api.GROUP)
"""All that placements are decided by."""
PLACEMENT, CLUSTER = api.Placement.__name__, api.ManagedCluster.__name__
EVERY_S = 5.0
SHARE = 10
"""Deciding may take one part in so many of a core: over a huge fleet it is done less often."""

State = tuple[tuple[int, str], ...]
"""Of each kind: which objects there are, and why they cannot be read."""


class Placements:
    """The placements of a hub, and how they stand."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._known: State = ()
        self._until = FOREVER
        self._due = 0.0
        self._shown: list[Document] = []

    def namespaces(self) -> Collection[str]:
        return {each.namespace for each in self._objects.list(PLACEMENT)}

    def is_behind(self, now: float) -> bool:
        """Whether they may stand otherwise than was decided last; ``now`` is the wall clock (epoch seconds)."""
        return now >= self._until or self._known != self._state()

    def shown(self, now: float, rights: Rights) -> tuple[list[Document], list[Document]]:
        """Facts, and placements, as far as these rights go."""
        started = time.monotonic()
        if started >= self._due and self.is_behind(now):
            self._decide(now)
            self._due = started + max(EVERY_S, SHARE * (time.monotonic() - started))
        seen = [each for each in self._shown if rights.sees_placements(each["placement"]["namespace"])]
        return (placement_facts(seen, len(list(self._objects.list(CLUSTER)))) if seen else []), seen

    def _decide(self, now: float) -> None:
        self._known, self._until, self._shown = self._state(), FOREVER, []
        # Without some of the kinds, what is decided would be wrong.
        is_readable = not any(why for _, why in self._known)
        if is_readable and any(True for _ in self._objects.list(PLACEMENT)):
            things = [each for kind in KINDS for each in self._objects.list(kind)]
            documents, state = placing.place(things, now=now)
            self._until = state.next_at
            self._shown = placements_of(documents, things)

    def _state(self) -> State:
        return tuple((self._objects.generation(kind), self._objects.unreadable(kind)) for kind in KINDS)
