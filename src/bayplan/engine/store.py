"""
The other objects a scheduler reads (Service, ReplicaSet, PodDisruptionBudget, Namespace …), by kind.

``engine.scheduler`` fills it from events; plugins read it through ``handle.objects``, a ``Shelf`` of what they declare.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any

from bayplan.engine.journal import Journal
from bayplan.errors import ConfigError
from bayplan.framework.config.mistakes import did_you_mean
from bayplan.objects import kinds


class Store:
    """Objects by kind, namespace and name."""

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, dict[str, Any]]] = {}
        self._generations: dict[str, int] = {}
        """Where the journal stood after the last change of a kind."""
        self._journal: Journal[tuple[str, str, str]] = Journal()
        self._unreadable: dict[str, str] = {}

    @property
    def version(self) -> int:
        """Moves whenever any object changes."""
        return self._journal.position

    def put(self, kind: str, namespace: str, name: str, value: Any) -> None:
        self._kinds.setdefault(kind, {}).setdefault(namespace, {})[name] = value
        self._moved(kind, namespace, name)

    def drop(self, kind: str, namespace: str, name: str) -> None:
        self._kinds.get(kind, {}).get(namespace, {}).pop(name, None)
        self._moved(kind, namespace, name)

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        return self._kinds.get(kind, {}).get(namespace, {}).get(name)

    def list(self, kind: str, namespace: str | None = None) -> Iterable[Any]:
        spaces = self._kinds.get(kind, {})
        if namespace is not None:
            return list(spaces.get(namespace, {}).values())
        return [value for space in spaces.values() for value in space.values()]

    def everything(self) -> Iterator[Any]:
        """Every object of every kind."""
        for kind in self._kinds:
            yield from self.list(kind)

    def refuse(self, kind: str, why: str) -> None:
        """Objects of the kind cannot be read; "" if they can again."""
        self._unreadable[kind] = why

    def unreadable(self, kind: str) -> str:
        return self._unreadable.get(kind, "")

    def generation(self, kind: str) -> int:
        return self._generations.get(kind, 0)

    def changes(self, kind: str, since: int) -> Sequence[tuple[str, str]] | None:
        """(namespace, name) of objects that changed since that generation; ``None`` if it is too long ago to tell."""
        changes = self._journal.since(since)
        return None if changes is None else [(namespace, name) for each, namespace, name in changes if each == kind]

    def _moved(self, kind: str, namespace: str, name: str) -> None:
        self._journal.append((kind, namespace, name))
        self._generations[kind] = self._journal.position


class Shelf:
    """
    The objects of the kinds that the plugins of one profile read.

    Others may be in the store or not, live and simulated, so a plugin that asks for them gets an error.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._reads: Collection[str] | None = None
        self.unreadable = store.unreadable
        self.generation = store.generation
        self.changes = store.changes

    def hold(self, reads: Collection[str]) -> None:
        """What the plugins read is known now: they have all been made."""
        self._reads = frozenset(reads)

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        if self._reads is not None and kind not in self._reads:
            raise _not_read(kind)
        return self._store.get(kind, namespace, name)

    def list(self, kind: str, namespace: str | None = None) -> Iterable[Any]:
        if self._reads is not None and kind not in self._reads:
            raise _not_read(kind)
        return self._store.list(kind, namespace)


def _not_read(kind: str) -> ConfigError:
    if kind in ("Node", "Pod"):
        return ConfigError(f"handle.objects has no {kind}s; they are in handle.snapshot().nodes")
    if not kinds.is_known(kind):
        known = (each.called for each in kinds.all_kinds())
        return ConfigError(f'there is no kind "{kind}"{did_you_mean(kind, known)}; add a Kind(...) to reads')
    return ConfigError(f'{kind} is not read; add it: reads = ("{kind}",)')
