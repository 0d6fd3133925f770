"""
Who has which device: what claims say, and what has been decided and is not written yet.

A decision counts from Reserve on, so that the next pod does not get the same device; it is dropped when the claim
itself says so, or when it is given back.  One for all profiles of a scheduler (see ``ledger``).
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from bayplan.framework.handle import ObjectStore
from bayplan.objects.devices.resource_claim import AllocationResult, ResourceClaim
from bayplan.plugins.dynamic_resources.device_columns import DeviceKey, Use
from bayplan.plugins.dynamic_resources.inventory import Inventory
from bayplan.plugins.dynamic_resources.rivals import Holding, Others, conflict, exclusive, holding
from bayplan.plugins.object_index import Follower


@dataclass(slots=True)
class Pending:
    """An allocation that was decided and that the claim does not show yet."""

    claim: str
    allocation: AllocationResult
    version: str = ""
    """Of the claim as it was written; "" before that."""


class Usage:
    """All holdings, by device."""

    def __init__(self, objects: ObjectStore, inventory: Inventory) -> None:
        self._inventory = inventory
        self._holdings: dict[DeviceKey, dict[str, list[Holding]]] = {}
        """By device and uid of the claim."""
        self._pending: dict[str, Pending] = {}
        """By uid of the claim."""
        self._expected: dict[str, asyncio.Future[str]] = {}
        """By uid of a claim that is being written: what of it was given to another before; "" for nothing."""
        self._claims: Follower[ResourceClaim] = Follower(objects, "ResourceClaim", self._moved)

    def catch_up(self) -> None:
        self._claims.catch_up()

    def holders(self, key: DeviceKey) -> list[Holding]:
        """Who has it now, wholly or in part."""
        return [each for of_claim in self._holdings.get(key, {}).values() for each in of_claim]

    def others(self, uid: str) -> Others:
        """What claims but this one hold, as written; decisions that are not written do not count."""
        return lambda key: [
            each
            for other, of_claim in self._holdings.get(key, {}).items()
            if other != uid and other not in self._pending
            for each in of_claim
        ]

    # -- decisions that are not written yet --

    def pending(self, uid: str) -> AllocationResult | None:
        found = self._pending.get(uid)
        return None if found is None else found.allocation

    def reserve(self, uid: str, claim: str, allocation: AllocationResult) -> None:
        self._pending[uid] = Pending(claim, allocation)
        self._hold(uid, claim, allocation)

    def release(self, uid: str) -> None:
        """Forget a decision; one that the claim shows meanwhile stays."""
        found = self._pending.pop(uid, None)
        if found is not None:
            self._let_go(uid, found.allocation)

    def written(self, uid: str, version: str) -> None:
        """The claim was written; the decision stays until the news of it arrives."""
        self.catch_up()
        found = self._pending.get(uid)
        if found is not None:
            found.version = version

    @contextmanager
    def expected(self, uid: str) -> Iterator[asyncio.Future[str]]:
        """
        Done when the claim is seen with its allocation.  What is seen before that was written before.

        So of two schedulers that give away the same device, capacity or counters at the same time exactly one, the
        later, gets to know of the other: it is told what another claim has.
        """
        news = self._expected[uid] = asyncio.get_running_loop().create_future()
        try:
            yield news
        finally:
            if self._expected.get(uid) is news:
                del self._expected[uid]

    # -- claims --

    def _moved(self, claim: ResourceClaim, sign: int) -> None:
        allocation = claim.status.allocation
        if sign < 0:
            if allocation is not None:
                self._let_go(claim.uid, allocation)
            return
        pending = self._pending.get(claim.uid)
        if pending is not None and (allocation is not None or _is_since(claim, pending.version)):
            self.release(claim.uid)
        if allocation is None:
            return
        expected = self._expected.pop(claim.uid, None)
        if expected is not None and not expected.done():
            expected.set_result(conflict(allocation, self._inventory.pool, self.others(claim.uid)))
        self._hold(claim.uid, claim.key, allocation)

    def _hold(self, uid: str, claim: str, allocation: AllocationResult) -> None:
        for result in exclusive(allocation):
            of_device = self._holdings.setdefault(result.device_key, {})
            of_device.setdefault(uid, []).append(holding(claim, result))
            self._tell(result.device_key)

    def _let_go(self, uid: str, allocation: AllocationResult) -> None:
        for result in exclusive(allocation):
            of_device = self._holdings.get(result.device_key, {})
            of_device.pop(uid, None)
            if not of_device:
                self._holdings.pop(result.device_key, None)
            self._tell(result.device_key)

    def _tell(self, key: DeviceKey) -> None:
        holdings = self.holders(key)
        if not holdings:
            self._inventory.set_use(key, None)
            return
        amounts: dict[str, int] | None = None
        for each in holdings:
            if each.is_share and each.capacity is not None:
                amounts = {} if amounts is None else amounts
                for name, amount in each.capacity:
                    amounts[name] = amounts.get(name, 0) + amount
        use = Use(
            any(not each.is_share for each in holdings),
            any(each.is_share for each in holdings),
            None if amounts is None else tuple(sorted(amounts.items())),
        )
        self._inventory.set_use(key, use)


def _is_since(claim: ResourceClaim, version: str) -> bool:
    """Is the claim as it was after our write, or later?"""
    seen = claim.metadata.resource_version
    return bool(version) and (not (seen.isdigit() and version.isdigit()) or int(seen) >= int(version))
