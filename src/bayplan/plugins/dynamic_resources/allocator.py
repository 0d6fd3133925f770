"""
The allocator: which devices each node would give to a pod's claims.

Answers are kept per shape of claims and node.  After a change only the nodes that it concerns are looked at, and of
those only situations that were not met before are searched.  ``plugin`` asks for all nodes at once, or for one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import msgspec
import numpy as np

from bayplan.bounded_cache import BoundedCache
from bayplan.framework import NodeTable
from bayplan.framework.handle import ObjectStore
from bayplan.objects.devices.device_class import DeviceClass
from bayplan.objects.devices.resource_claim import DeviceClaim
from bayplan.objects.node import Node
from bayplan.plugins.dynamic_resources.device_columns import Numbers
from bayplan.plugins.dynamic_resources.device_score.best_search import BestSearch
from bayplan.plugins.dynamic_resources.device_score.device_score import DeviceScore
from bayplan.plugins.dynamic_resources.inventory import Inventory
from bayplan.plugins.dynamic_resources.search import Answer, Search, SearchTimeoutError
from bayplan.plugins.dynamic_resources.selectors import Compile, Selectors
from bayplan.plugins.dynamic_resources.shape import AllocationError, Shape

MAX_SHAPES = 256
MAX_SITUATIONS = 1 << 16

Outcome: TypeAlias = "Answer | AllocationError | SearchTimeoutError"

ShapeKey: TypeAlias = "tuple[int, bytes]"
"""The generation of device classes, and what is asked for."""

_UNKNOWN = -1


class KeptShape:
    """A shape, and what every node said to it."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self.outcomes: list[Outcome] = []
        self.of_slot: Numbers = np.zeros(0, np.int32)
        """By the slot of a node, the number of its outcome; ``_UNKNOWN`` if it must be asked."""
        self.situations: dict[bytes, int] = {}
        self.epoch = _UNKNOWN
        self.position = 0

    def forget_nodes(self, slots: int) -> None:
        self.of_slot = np.full(slots, _UNKNOWN, np.int32)

    def number(self, outcome: Outcome) -> int:
        self.outcomes.append(outcome)
        return len(self.outcomes) - 1


class Allocator:
    """Searches, and keeps what it found."""

    def __init__(
        self,
        objects: ObjectStore,
        inventory: Inventory,
        compile: Compile,
        deadline: Callable[[], Callable[[], bool] | None] = lambda: None,
        score: DeviceScore | None = None,
    ) -> None:
        self._objects = objects
        self._inventory = inventory
        self.selectors = Selectors(compile)
        self._deadline = deadline
        """Begins a search: what it returns says whether the search takes too long."""
        self._score = score
        """What makes devices better than others; ``None``: the first that fit are taken."""
        self._shapes: BoundedCache[ShapeKey, KeptShape] = BoundedCache(MAX_SHAPES)
        self._classes = _UNKNOWN
        self._slots: dict[str, int] = {}
        self._nodes: list[Node] = []
        self._relabelled: list[int] = []

    @property
    def epoch(self) -> int:
        """Moves when the answers of all nodes may have changed."""
        if self._score is None:
            return self._inventory.epoch
        self._score.catch_up()
        return self._inventory.epoch + self._score.epoch

    @property
    def has_score(self) -> bool:
        return self._score is not None

    def key_of(self, claims: Sequence[DeviceClaim]) -> ShapeKey:
        """What claims ask for: those with equal keys are given the same by a node."""
        asked = msgspec.msgpack.encode([(claim.requests, claim.constraints) for claim in claims])
        return self._objects.generation("DeviceClass"), asked

    def shape(self, claims: Sequence[DeviceClaim]) -> KeptShape:
        """The shape of claims, compiled.  ``AllocationError`` if one of them cannot be."""
        generation, _ = key = self.key_of(claims)
        if generation != self._classes:
            self._shapes.clear()
            self._classes = generation
        kept = self._shapes.get(key)
        if kept is None:
            shape = Shape(claims, self._class, self._inventory.columns, self.selectors)
            kept = self._shapes[key] = KeptShape(shape)
        return kept

    def on_node(self, kept: KeptShape, node: Node) -> Outcome:
        """What one node would give."""
        return kept.outcomes[self.number_on(kept, node)]

    def number_on(self, kept: KeptShape, node: Node) -> int:
        """The number of what one node would give."""
        slot = self._slots.get(node.name)
        self._forget_changed(kept)
        if slot is not None and self._nodes[slot] is node and kept.of_slot[slot] != _UNKNOWN:
            return int(kept.of_slot[slot])
        return self._ask(kept, node)

    def on_all(self, kept: KeptShape, nodes: NodeTable) -> Numbers:
        """For each row of the table the number of its outcome."""
        slots = nodes.derive("DynamicResources.slot", self._slot_of, np.int64)
        self._forget_changed(kept)
        answers: Numbers = kept.of_slot[slots]
        for row in np.flatnonzero(answers == _UNKNOWN).tolist():
            found = self._ask(kept, nodes.object_at(row))
            answers[row] = found
            if not isinstance(kept.outcomes[found], SearchTimeoutError):
                kept.of_slot[slots[row]] = found
        return answers

    def _forget_changed(self, kept: KeptShape) -> None:
        inventory, slots = self._inventory, self._slots
        for slot in self._relabelled:
            inventory.note_node(self._nodes[slot].name)
        self._relabelled.clear()
        changed = inventory.changed_since(kept.position)
        if len(kept.outcomes) > MAX_SITUATIONS:
            kept.situations.clear()
            kept.outcomes.clear()
            changed = None
        epoch = self.epoch
        if changed is None or kept.epoch != epoch:
            kept.forget_nodes(len(slots))
        else:
            if len(kept.of_slot) < len(slots):
                more = np.full(len(slots) - len(kept.of_slot), _UNKNOWN, np.int32)
                kept.of_slot = np.concatenate((kept.of_slot, more))
            known = [slots[name] for name in changed if name in slots]
            kept.of_slot[known] = _UNKNOWN
        kept.epoch, kept.position = epoch, inventory.position

    def _ask(self, kept: KeptShape, node: Node) -> int:
        devices, columns, shape = self._inventory.devices_of(node), self._inventory.columns, kept.shape
        situation = devices.situation(shape.kinds_of(columns.sort[devices.rows]), columns)
        if self._score is not None:
            situation += self._score.situation(devices)
        number = kept.situations.get(situation)
        if number is None:
            try:
                answer = Search(shape, devices, columns, is_late=self._deadline()).run()
                if self._score is not None and not answer.failure:
                    answer = BestSearch(self._score, shape, devices, columns).improved(answer)
            except (AllocationError, SearchTimeoutError) as error:
                # The text may name devices of this node, so that it is not shared with others.
                return kept.number(error)
            number = kept.situations[situation] = kept.number(answer)
        return number

    def _class(self, name: str) -> DeviceClass | None:
        found: DeviceClass | None = self._objects.get("DeviceClass", "", name)
        return found

    def _slot_of(self, node: Node) -> int:
        slot = self._slots.setdefault(node.name, len(self._slots))
        if slot == len(self._nodes):
            self._nodes.append(node)
        elif self._nodes[slot] is not node:
            if self._nodes[slot].labels != node.labels:
                self._relabelled.append(slot)
            self._nodes[slot] = node
        return slot
