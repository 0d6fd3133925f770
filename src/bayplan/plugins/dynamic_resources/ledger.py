"""
What all profiles of a scheduler know together of devices: which there are, and who has them.

Two profiles that each kept their own would give the same device away twice before either is written.  Objects are
read through the same store by all plugins of a scheduler, so it is what the ledger goes by.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from bayplan.framework.handle import ObjectStore
from bayplan.plugins.dynamic_resources.inventory import Inventory
from bayplan.plugins.dynamic_resources.usage import Usage

_ledgers: WeakKeyDictionary[ObjectStore, Ledger] = WeakKeyDictionary()


class Ledger:
    """Devices, and who has them."""

    def __init__(self, objects: ObjectStore) -> None:
        self.inventory = Inventory(objects)
        self.usage = Usage(objects, self.inventory)

    def catch_up(self) -> None:
        """Take in what changed since the last time."""
        self.inventory.catch_up()
        self.usage.catch_up()


def ledger_of(objects: ObjectStore) -> Ledger:
    """The ledger of the scheduler that has this store."""
    known = _ledgers.get(objects)
    if known is None:
        known = _ledgers[objects] = Ledger(objects)
    return known
