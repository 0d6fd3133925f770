"""
CSINode and VolumeAttachment objects as columns: what the CSI drivers say of each node.

Neither is part of the node object, so the table has no column for them.  Here every node name has a number, the
table keeps the numbers in its rows, and arrays by number are kept up as CSINodes and attachments change.  Used by
``node_volume_limits`` and ``volume_binding``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from bayplan.framework import Mask, NodeTable
from bayplan.framework.handle import ObjectStore
from bayplan.objects.volume import CSINode, VolumeAttachment
from bayplan.plugins.node_numbers import NodeNumbers
from bayplan.plugins.object_index import Follower

NO_LIMIT = np.iinfo(np.int64).max


class CSINodes:
    """What CSINodes say, by row."""

    def __init__(self, objects: ObjectStore) -> None:
        self._objects = objects
        self._numbers = NodeNumbers()
        self._made: dict[tuple[str, str], npt.NDArray[Any]] = {}
        self._made_for = (-1, -1)

    def get(self, node_name: str) -> CSINode | None:
        found: CSINode | None = self._objects.get("CSINode", "", node_name)
        return found

    def known(self, nodes: NodeTable) -> Mask:
        """The nodes that have a CSINode."""
        return self._spread(nodes, ("known", ""), False, lambda node: True)

    def limits(self, nodes: NodeTable, driver: str) -> npt.NDArray[np.int64]:
        """How many volumes of a driver each node takes; ``NO_LIMIT`` where it does not say."""
        return self._spread(nodes, ("limit", driver), NO_LIMIT, lambda node: node.limits.get(driver, NO_LIMIT))

    def migrated(self, nodes: NodeTable, plugin: str) -> Mask:
        """The nodes on which a CSI driver looks after the volumes of an old plugin."""
        return self._spread(nodes, ("migrated", plugin), False, lambda node: plugin in node.migrated_plugins)

    def _spread(
        self, nodes: NodeTable, question: tuple[str, str], default: Any, answer: Callable[[CSINode], Any]
    ) -> npt.NDArray[Any]:
        """One answer per CSINode, kept while none changes, laid over the rows."""
        numbers = self._numbers.rows(nodes)
        version = (self._objects.generation("CSINode"), len(self._numbers))
        if version != self._made_for:
            self._made.clear()
            self._made_for = version
        by_number = self._made.get(question)
        if by_number is None:
            by_number = self._made[question] = np.full(len(self._numbers), default)
            for node in self._objects.list("CSINode"):
                number = self._numbers.find(node.name)
                if number is not None:
                    by_number[number] = answer(node)
        spread: npt.NDArray[Any] = by_number[numbers]
        return spread


class Attachments:
    """The attachments of each node."""

    def __init__(self, objects: ObjectStore) -> None:
        self._numbers = NodeNumbers()
        self._by_node: dict[str, dict[str, VolumeAttachment]] = {}
        self._counts = np.zeros(64, np.int64)
        self._follower: Follower[VolumeAttachment] = Follower(objects, "VolumeAttachment", self._moved)

    def counts(self, nodes: NodeTable) -> npt.NDArray[np.int64]:
        """How many each row has."""
        self._follower.catch_up()
        rows = self._numbers.rows(nodes)
        self._make_room()
        counted: npt.NDArray[np.int64] = self._counts[rows]
        return counted

    def on(self, node_name: str) -> list[VolumeAttachment]:
        self._follower.catch_up()
        return list(self._by_node.get(node_name, {}).values())

    def _moved(self, attachment: VolumeAttachment, sign: int) -> None:
        name = attachment.spec.node_name
        number = self._numbers.of(name)
        self._make_room()
        self._counts[number] += sign
        if sign > 0:
            self._by_node.setdefault(name, {})[attachment.name] = attachment
        else:
            del self._by_node[name][attachment.name]

    def _make_room(self) -> None:
        if len(self._numbers) > len(self._counts):
            grown = np.zeros(2 * len(self._numbers), np.int64)
            grown[: len(self._counts)] = self._counts
            self._counts = grown
