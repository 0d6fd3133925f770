"""
What devices there are, by pool and by node, kept up to date as slices and taint rules change.

Most pools belong to one node: a change there concerns that node alone.  ``allocator`` asks which nodes a change may
concern, and what a node sees.
"""

from __future__ import annotations

from collections.abc import Iterable

from bayplan.framework.handle import ObjectStore
from bayplan.objects.devices.device_class import DeviceTaintRule
from bayplan.objects.devices.resource_slice import Device, ResourceSlice
from bayplan.objects.node import Node
from bayplan.objects.toleration import Taint
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns, DeviceKey, Use
from bayplan.plugins.dynamic_resources.node_devices import NO_DEVICES, NodeDevices
from bayplan.plugins.dynamic_resources.pools import Pool, PoolKey, SliceRows
from bayplan.plugins.object_index import Follower

# A reader that fell further behind than this asks about every node again.
MAX_JOURNAL = 1 << 16


class Inventory:
    """All devices."""

    def __init__(self, objects: ObjectStore) -> None:
        self.columns = DeviceColumns()
        self._pools: dict[PoolKey, Pool] = {}
        self._for_all: dict[PoolKey, None] = {}
        """Pools that every node must look at."""
        self._by_node: dict[str, dict[PoolKey, None]] = {}
        """By the name of a node, the pools that have a slice for it alone."""
        self._views: dict[str, tuple[Node, NodeDevices]] = {}
        self._journal: list[str] = []
        self._journal_start = 0
        self.epoch = 0
        """Moves when something changed that may concern every node."""
        self.published = 0
        """Moves when a slice comes, goes or changes."""
        self._rules: dict[str, DeviceTaintRule] = {}
        self._slices: Follower[ResourceSlice] = Follower(objects, "ResourceSlice", self._slice_moved)
        self._taint_rules: Follower[DeviceTaintRule] = Follower(objects, "DeviceTaintRule", self._rule_moved)
        self._uses: dict[DeviceKey, Use] = {}
        self._unsettled: dict[PoolKey, set[str]] = {}
        """Pools whose slices changed, with the names of nodes that had a slice before."""

    def catch_up(self) -> None:
        """Take in what changed since the last time."""
        self._taint_rules.catch_up()
        self._slices.catch_up()
        for key, before in self._unsettled.items():
            self._settle(self._pools[key], before)
        self._unsettled.clear()
        if self.columns.has_many_unused:
            self.columns.number_anew()
            for pool in self._pools.values():
                for rows in pool.slices.values():
                    self._write(rows)

    # -- reading --

    def devices_of(self, node: Node) -> NodeDevices:
        """What a node sees."""
        known = self._views.get(node.name)
        if known is not None and (known[0] is node or known[0].labels == node.labels):
            return known[1]
        keys = dict.fromkeys((*self._by_node.get(node.name, ()), *self._for_all))
        views = [view for key in keys if (view := self._pools[key].view(node)) is not None]
        found = NodeDevices(views) if views else NO_DEVICES
        self._views[node.name] = node, found
        return found

    @property
    def concerns_all(self) -> bool:
        """Are there pools that are not one node's own?"""
        return bool(self._for_all)

    @property
    def position(self) -> int:
        """Of the journal: what comes after is news."""
        return self._journal_start + len(self._journal)

    def changed_since(self, position: int) -> Iterable[str] | None:
        """Names of nodes that a change since then may concern; ``None`` if it is too long ago to tell."""
        behind = position - self._journal_start
        return None if behind < 0 else self._journal[behind:]

    def pool(self, key: PoolKey) -> Pool | None:
        """A pool as it is published now."""
        return self._pools.get(key)

    def pools(self) -> Iterable[Pool]:
        return self._pools.values()

    # -- what is taken --

    def set_use(self, key: DeviceKey, use: Use | None) -> None:
        """Claims hold this much of a device now; it may not be published at all."""
        if use is None:
            self._uses.pop(key, None)
        else:
            self._uses[key] = use
        pool = self._pools.get(key[:2])
        rows = pool.rows_of(key[2]) if pool is not None else ()
        if pool is None or not rows:
            return
        number = 0 if use is None else self.columns.use_number(use)
        for row in rows:
            self.columns.use[row] = number
        if pool.key in self._for_all:
            self.epoch += 1
        elif pool.has_counters:
            self._note(pool.node_names)
        else:
            self._note({each.node_name for each in pool.slices.values() for row in rows if row in each.rows})

    # -- slices and rules --

    def _slice_moved(self, slice: ResourceSlice, sign: int) -> None:
        self.published += 1
        pool = self._changing(slice.pool_key)
        if sign > 0:
            start = self.columns.take_rows(len(slice.devices))
            rows = SliceRows(slice, start)
            pool.add(rows)
            self._write(rows)
        else:
            gone = pool.remove(slice.name)
            self.columns.give_rows(gone.start, len(slice.devices))

    def _changing(self, key: PoolKey) -> Pool:
        """The pool, which is about to change."""
        pool = self._pools.get(key)
        if pool is None:
            pool = self._pools[key] = Pool(key)
        if key not in self._unsettled:
            self._unsettled[key] = pool.node_names
        return pool

    def _write(self, rows: SliceRows) -> None:
        driver, pool = rows.slice.pool_key
        for row, device in zip(rows.rows, rows.slice.devices, strict=True):
            taints = self._taints(driver, pool, device)
            self.columns.sort[row] = self.columns.sort_number(driver, device, taints)
            use = self._uses.get((driver, pool, device.name))
            self.columns.use[row] = 0 if use is None else self.columns.use_number(use)

    def _taints(self, driver: str, pool: str, device: Device) -> tuple[Taint, ...]:
        """Its own, then those of rules, by the name of the rule."""
        if not self._rules:
            return device.taints or ()
        rules = (rule for _, rule in sorted(self._rules.items()) if rule.matches(driver, pool, device.name))
        return (*(device.taints or ()), *(rule.spec.taint for rule in rules))

    def _rule_moved(self, rule: DeviceTaintRule, sign: int) -> None:
        if sign > 0:
            self._rules[rule.name] = rule
        else:
            del self._rules[rule.name]
        for pool in self._pools.values():
            for rows in pool.slices.values():
                if any(rule.matches(*pool.key, device.name) for device in rows.slice.devices):
                    self._write(rows)
                    self._changing(pool.key)

    def _settle(self, pool: Pool, before: set[str]) -> None:
        """A pool changed: put it where nodes find it, and tell those that it concerns, or concerned ``before``."""
        now = pool.node_names
        for name in before - now:
            del self._by_node[name][pool.key]
        for name in now:
            self._by_node.setdefault(name, {})[pool.key] = None
        concerns_all = pool.concerns_all
        if concerns_all or pool.key in self._for_all:
            self._views.clear()
            self.epoch += 1
        else:
            for name in before | now:
                self._views.pop(name, None)
            self._note(before | now)
        if concerns_all:
            self._for_all[pool.key] = None
        else:
            self._for_all.pop(pool.key, None)
        if not pool.slices:
            del self._pools[pool.key]

    def note_node(self, name: str) -> None:
        """The node itself changed."""
        if self._for_all:
            self._note((name,))

    def _note(self, names: Iterable[str]) -> None:
        self._journal.extend(names)
        if len(self._journal) > MAX_JOURNAL:
            drop = len(self._journal) // 2
            del self._journal[:drop]
            self._journal_start += drop
