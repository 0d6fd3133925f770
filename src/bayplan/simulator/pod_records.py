"""
The pods of a simulation and each one's story: those that live, by name and by owner, and all there ever were.

``cluster`` writes them; reports and ``what_if`` read them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from bayplan.errors import NotFoundError
from bayplan.objects.pod import Pod

EVICTED, SCALED_IN, LOST, DELETED = "Evicted", "ScaledIn", "Lost", "Deleted"
"""How pods go: pushed off a node, one too many, with their node, or on request."""


@dataclass(slots=True)
class Record:
    """One pod's story."""

    pod: Pod
    """The newest version; the last one for a pod that is gone."""
    attempts: int = 0
    message: str = ""
    has_failed: bool = False
    """Whether it was an error, rather than a no, that kept it from a node last."""
    bound_at: float | None = None
    """Seconds since the start; None for a pod that is on no node or was there from the start."""
    is_gone: bool = False
    ended: str = ""
    """How it went, if it was not evicted."""
    replaces: str = ""
    """The uid of the pod that went and whose controller made this one."""
    lineage: str = ""
    """The uid of the pod it replaces, where that went in the moment in which it came; else its own."""
    came_at: float = 0.0
    evictions: int = 0
    """How many before it were evicted, each of which it or another replaced."""


class PodRecords:
    """Every pod's record."""

    def __init__(self) -> None:
        self.all: dict[str, Record] = {}
        """By uid, in the order the pods appeared."""
        self._living: dict[str, Record] = {}
        self._owned: dict[tuple[str, str, str], dict[str, Record]] = {}

    def add(self, pod: Pod, at: float, instead_of: Record | None = None) -> Record:
        """A pod appears, perhaps in place of one that went."""
        record = Record(pod, lineage=pod.uid, came_at=at)
        if instead_of is not None:
            record.replaces = instead_of.pod.uid
            record.evictions = instead_of.evictions + (instead_of.ended == EVICTED)
            if instead_of.came_at == record.came_at:
                record.lineage = instead_of.lineage
        self.all[pod.uid] = self._living[pod.key] = record
        if (owner := _owner(pod)) is not None:
            self._owned.setdefault(owner, {})[pod.uid] = record
        return record

    def end(self, record: Record) -> None:
        del self._living[record.pod.key]
        record.is_gone = True
        if (owner := _owner(record.pod)) is not None:
            self._owned[owner].pop(record.pod.uid)

    def named(self, key: str) -> Record | None:
        """The living pod of that ``namespace/name``."""
        return self._living.get(key)

    def same(self, pod: Pod) -> Record | None:
        """The record of this very pod while it lives; one made anew under its name is another."""
        record = self._living.get(pod.key)
        return record if record is not None and record.pod.uid == pod.uid else None

    def found(self, pod: Pod) -> Record:
        record = self.same(pod)
        if record is None:
            raise NotFoundError(404, f'pods "{pod.name}" not found')
        return record

    def living(self) -> Iterable[Record]:
        return self._living.values()

    def owned(self, kind: str, namespace: str, name: str) -> list[Record]:
        """The living pods of one controller, in the order they appeared."""
        return list(self._owned.get((kind, namespace, name), {}).values())


def _owner(pod: Pod) -> tuple[str, str, str] | None:
    owner = pod.controller
    return None if owner is None else (owner.kind, pod.namespace, owner.name)
