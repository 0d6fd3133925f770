"""
Which nodes have an image, and how large it is.  ``engine.table`` keeps it up to date with node objects.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from bayplan.framework.snapshot import ImageState
from bayplan.objects.node import Node


class NodeImages:
    """Names of images, each with its size as first reported and the nodes that have it."""

    def __init__(self) -> None:
        self._images: dict[str, tuple[int, dict[str, None]]] = {}
        self._states: dict[str, tuple[int, ImageState]] = {}

    def copy(self) -> NodeImages:
        copy = NodeImages()
        copy._images = {name: (size, dict(holders)) for name, (size, holders) in self._images.items()}
        return copy

    def state(self, name: str, generation: int, rows: Mapping[str, int]) -> ImageState | None:
        """As plugins read it; worked out once for each generation of node objects."""
        known = self._images.get(name)
        if known is None:
            return None
        state = self._states.get(name)
        if state is None or state[0] != generation:
            holders = np.array(sorted(rows[node] for node in known[1]), np.intp)
            state = self._states[name] = generation, ImageState(known[0], len(holders), holders)
        return state[1]

    def add(self, node: Node) -> None:
        for image in node.images:
            for name in image.names or ():
                self._images.setdefault(name, (image.size_bytes, {}))[1][node.name] = None

    def forget(self, node: Node) -> None:
        for image in node.images:
            for name in image.names or ():
                holders = self._images.get(name)
                if holders is not None:
                    holders[1].pop(node.name, None)
                    if not holders[1]:
                        del self._images[name]
                        self._states.pop(name, None)
