"""
The other objects a scheduler reads (Service, ReplicaSet, PodDisruptionBudget, Namespace …), by kind.

``engine.scheduler`` fills it from events; plugins read it through ``handle.objects``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

# A reader that fell this far behind must read the whole kind again.
MAX_JOURNAL = 1 << 15


class Store:
    """Objects by kind, namespace and name."""

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, dict[str, Any]]] = {}
        self._generations: dict[str, int] = {}
        self._journals: dict[str, list[tuple[str, str]]] = {}
        self._unreadable: dict[str, str] = {}
        self.version = 0
        """Moves whenever any object changes."""

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

    def refuse(self, kind: str, why: str) -> None:
        """Objects of the kind cannot be read; "" if they can again."""
        self._unreadable[kind] = why

    def unreadable(self, kind: str) -> str:
        return self._unreadable.get(kind, "")

    def generation(self, kind: str) -> int:
        return self._generations.get(kind, 0)

    def changes(self, kind: str, since: int) -> Sequence[tuple[str, str]] | None:
        """(namespace, name) of objects that changed since that generation; ``None`` if it is too long ago to tell."""
        journal = self._journals.get(kind, [])
        behind = self.generation(kind) - since
        return None if behind > len(journal) else journal[len(journal) - behind :]

    def _moved(self, kind: str, namespace: str, name: str) -> None:
        self._generations[kind] = self.generation(kind) + 1
        self.version += 1
        journal = self._journals.setdefault(kind, [])
        journal.append((namespace, name))
        if len(journal) > MAX_JOURNAL:
            del journal[: MAX_JOURNAL // 2]
