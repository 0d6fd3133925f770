"""
DeviceScore itself: the rules of a profile, what they go by of each sort of device, and better answers than the first.

``allocator`` asks it about the answer of a search, if the profile has rules.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from bayplan.objects.toleration import untolerated
from bayplan.plugins.dynamic_resources.capacity import nano
from bayplan.plugins.dynamic_resources.constraints import Value, attribute_of
from bayplan.plugins.dynamic_resources.counters import Consumption, consumption
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns
from bayplan.plugins.dynamic_resources.device_score.args import PACK, SPREAD, TIGHTEST, DeviceScoreArgs, RuleArgs
from bayplan.plugins.dynamic_resources.device_score.rules import Pack, Rule, Tightest, Together, Unit
from bayplan.plugins.dynamic_resources.device_score.sizes import Name, largest, size_of
from bayplan.plugins.dynamic_resources.inventory import Inventory
from bayplan.plugins.dynamic_resources.node_devices import NodeDevices


class Traits(NamedTuple):
    """What the rules go by of a device."""

    number: int
    """The same for devices that are alike to the rules."""
    size: int
    values: tuple[Value | None, ...]
    """Of the attribute of each rule that has one."""
    counters: Consumption
    capacity: Mapping[str, int]
    is_shareable: bool
    is_tainted: bool

    @property
    def counter_sets(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(name for (name, _), _ in self.counters))


class Begun(NamedTuple):
    """A node before anything is taken."""

    traits: Sequence[Traits]
    """Of each device."""
    free: Sequence[int]
    """Devices that can be had."""
    fills: Mapping[Unit, int]
    most_units: int
    """That one device is part of."""


class DeviceScore:
    """The rules of a profile."""

    def __init__(self, args: DeviceScoreArgs, inventory: Inventory) -> None:
        self.args = args
        self.weights = tuple(rule.weight for rule in args.rules)
        self.epoch = 0
        """Moves when the devices of all nodes must be judged again."""
        self._inventory = inventory
        self._attributes = tuple(rule.attribute for rule in args.rules if rule.attribute is not None)
        self._needs_sizes = any(rule.type == TIGHTEST for rule in args.rules)
        self._most: dict[Name, int] = {}
        self._slices = -1
        self._traits: dict[int, Traits] = {}
        """By the number of a sort."""
        self._numbering = 0
        self._numbers: dict[object, int] = {}

    @property
    def wants_fills(self) -> bool:
        return any(rule.type in (PACK, SPREAD) for rule in self.args.rules)

    def catch_up(self) -> None:
        """A device is as large as it is beside the others, so that a larger one makes all others small."""
        if self._numbering != self._inventory.columns.numbering:
            self._numbering = self._inventory.columns.numbering
            self._traits.clear()
        if not self._needs_sizes or self._slices == self._inventory.published:
            return
        self._slices = self._inventory.published
        most = largest(self._inventory.pools(), self._inventory.columns)
        if most != self._most:
            self._most = most
            self._traits.clear()
            self.epoch += 1

    def situation(self, devices: NodeDevices) -> bytes:
        """All that tells a node from others beyond what a search for the first solution goes by."""
        columns = self._inventory.columns
        traits = (self.traits(number).number for number in columns.sort[devices.rows].tolist())
        return repr((self.epoch, *traits, *columns.use[devices.rows].tolist())).encode()

    def traits(self, sort_number: int) -> Traits:
        known = self._traits.get(sort_number)
        if known is None:
            known = self._traits[sort_number] = self._told(self._inventory.columns, sort_number)
        return known

    def rules(self, node: Begun) -> list[Rule]:
        """The rules for one search, in the order in which the profile has them."""
        return [self._rule(rule, node) for rule in self.args.rules]

    def _rule(self, rule: RuleArgs, node: Begun) -> Rule:
        if rule.attribute is not None:
            place = self._attributes.index(rule.attribute)
            return Together([each.values[place] for each in node.traits], node.free)
        if rule.type == TIGHTEST:
            return Tightest([each.size for each in node.traits])
        return Pack(node.fills, node.most_units, is_spread=rule.type == SPREAD)

    def _told(self, columns: DeviceColumns, sort_number: int) -> Traits:
        sort = columns.sorts[sort_number]
        size = size_of(sort, self._most) if self._needs_sizes else 0
        values = tuple(attribute_of(sort.attributes, sort.driver, name) for name in self._attributes)
        capacity = {name: nano(each.value) for name, each in sort.capacity.items()}
        counters, is_tainted = consumption(sort.device), untolerated((), sort.taints) is not None
        alike = size, values, counters, tuple(capacity.items()), sort.is_shareable, is_tainted
        number = self._numbers.setdefault(alike, len(self._numbers))
        return Traits(number, size, values, counters, capacity, sort.is_shareable, is_tainted)
