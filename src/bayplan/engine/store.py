"""
The other objects a scheduler reads (Service, ReplicaSet, PodDisruptionBudget, Namespace …), by kind.

``engine.scheduler`` fills it from events; plugins read it through ``handle.objects``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any


class Store:
    """Objects by kind, namespace and name."""

    def __init__(self) -> None:
        self._kinds: dict[str, dict[str, dict[str, Any]]] = {}
        self._generations: dict[str, int] = {}

    def put(self, kind: str, namespace: str, name: str, value: Any) -> None:
        self._kinds.setdefault(kind, {}).setdefault(namespace, {})[name] = value
        self._generations[kind] = self.generation(kind) + 1

    def drop(self, kind: str, namespace: str, name: str) -> None:
        self._kinds.get(kind, {}).get(namespace, {}).pop(name, None)
        self._generations[kind] = self.generation(kind) + 1

    def get(self, kind: str, namespace: str, name: str) -> Any | None:
        return self._kinds.get(kind, {}).get(namespace, {}).get(name)

    def list(self, kind: str, namespace: str | None = None) -> Iterable[Any]:
        spaces = self._kinds.get(kind, {})
        if namespace is not None:
            return list(spaces.get(namespace, {}).values())
        return [value for space in spaces.values() for value in space.values()]

    def generation(self, kind: str) -> int:
        return self._generations.get(kind, 0)
