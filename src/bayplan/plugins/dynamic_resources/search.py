"""
The search for devices on one node: depth first over claims, requests and devices; the first full solution wins.

Devices are tried in the node's order.  Within a request only combinations in rising order are looked at, and each
request starts from the beginning.  A device that is just like one that led nowhere leads nowhere too, and is not
tried: this changes how long a search takes, not what it finds.  ``allocator`` calls it once for all nodes in the same
situation; ``explaining`` listens to what is turned down.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from typing import Any, NamedTuple, TypeAlias

from bayplan.objects.devices.names import MAX_RESULTS
from bayplan.plugins.dynamic_resources.constraints import Value
from bayplan.plugins.dynamic_resources.counters import CounterKey
from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns
from bayplan.plugins.dynamic_resources.device_score.merit import Merit
from bayplan.plugins.dynamic_resources.node_devices import NodeDevices
from bayplan.plugins.dynamic_resources.pools import Condition
from bayplan.plugins.dynamic_resources.shape import AllocationError, Kind, Shape, Wanted

INVALID_POOLS = "invalid resource pools were encountered"
CANNOT_ALLOCATE = "cannot allocate all claims"

# The clock is looked at once in so many steps.
STEPS_A_LOOK = 256


class SearchTimeoutError(Exception):
    """The search took longer than the profile allows."""


class Obstacle(Enum):
    """What can keep a request from a device, in the order in which it is looked at."""

    HELD = "held"
    CHOSEN = "chosen"
    NOT_SELECTED = "not selected"
    OTHER_NODES = "other nodes"
    CAPACITY = "capacity"
    COUNTERS = "counters"
    TAINT = "taint"
    CONSTRAINT = "constraint"


class Choice(NamedTuple):
    """A device for a request."""

    wanted: int
    """The number of the request or alternative."""
    position: int


class Answer(NamedTuple):
    """The devices for each claim; or what the node is told."""

    claims: tuple[tuple[Choice, ...], ...] = ()
    failure: str = ""
    merit: Merit | None = None
    """How good the devices are, if the profile says what is good."""


Turned: TypeAlias = "Callable[[Wanted, int, Obstacle, Any], None]"
"""Told of each device that a request cannot have: its position, the first obstacle, and its details."""


class End(Enum):
    """How a part of the search ended."""

    DONE = 1
    NOTHING = 2
    TOO_MANY = 3
    """More devices than a claim can hold: only an alternative with fewer can help."""


class Search:
    """One search on one node."""

    def __init__(
        self,
        shape: Shape,
        devices: NodeDevices,
        columns: DeviceColumns,
        *,
        order: Sequence[int] | None = None,
        turned_down: Turned | None = None,
        is_late: Callable[[], bool] | None = None,
    ) -> None:
        self._shape = shape
        self._devices = devices
        self._kind_numbers = shape.kinds_of(columns.sort[devices.rows]).tolist()
        self._kinds: list[Kind] = [shape.kinds[number] for number in self._kind_numbers]
        self._use_numbers = columns.use[devices.rows].tolist()
        self._uses = [columns.uses[number] for number in self._use_numbers]
        self._columns = columns
        self._order = range(len(self._kinds)) if order is None else order
        """Positions in the order in which they are tried."""
        self._turned_down = turned_down
        self._is_late = is_late
        self._steps = 0
        self._left: dict[int, dict[CounterKey, int]] = {}
        self._holders: dict[int, list[int]] = {}
        """By position, the claims of this attempt that have the device, shared ones aside."""
        self._shares: dict[int, list[dict[str, int]]] = {}
        """By position, what the shares of this attempt take of a shareable device."""
        self._values: list[list[Value]] = [[] for _ in shape.constraints]
        self._chosen: list[list[Choice]] = [[] for _ in shape.claims]
        self._every: dict[int, list[int]] = {}
        """By the number of a request for all devices, their positions."""

    def run(self) -> Answer:
        """The first solution.  ``AllocationError`` if something is wrong with a claim or class."""
        self._gather()
        if self._next_request(0, 0) is End.DONE:
            return Answer(tuple(tuple(each) for each in self._chosen))
        invalid = any(view.condition is Condition.INVALID for view in self._devices.pools)
        return Answer((), INVALID_POOLS if invalid else CANNOT_ALLOCATE)

    def chosen(self) -> list[Choice]:
        """What this attempt has so far, for those who explain."""
        return [choice for each in self._chosen for choice in each]

    # -- before the search --

    def _gather(self) -> None:
        """How many devices each request needs; what "all" means here."""
        for number, requests in enumerate(self._shape.claims):
            least = 0
            for alternatives in requests:
                least += min((self._needs(wanted) for wanted in alternatives), default=0)
            if least > MAX_RESULTS:
                text = f": number of requested devices {least} exceeds the claim limit of {MAX_RESULTS}"
                raise AllocationError(number, text)

    def _needs(self, wanted: Wanted) -> int:
        if not wanted.asks.wants_all:
            return wanted.asks.number
        for view in self._devices.pools:
            if view.condition is not Condition.USABLE:
                state = "being updated" if view.condition is Condition.INCOMPLETE else "invalid"
                raise AllocationError(
                    wanted.claim,
                    f", request {wanted.own_name}: asks for all devices, "
                    f"but resource pool {'/'.join(view.key)} is currently {state}",
                )
        every = [
            position
            for position in range(len(self._kinds))
            if self._selects(wanted, position) and not isinstance(self._kinds[position].takes[wanted.number], str)
        ]
        self._every[wanted.number] = every
        return len(every)

    # -- the search --

    def _next_request(self, claim: int, request: int) -> End:
        if claim == len(self._shape.claims):
            return End.DONE
        requests = self._shape.claims[claim]
        if request == len(requests):
            end = self._next_request(claim + 1, 0)
            # Another choice for this claim may let a later one make do with fewer devices.
            return End.NOTHING if end is End.TOO_MANY else end
        alternatives = requests[request]
        if not alternatives[0].alternative:
            return self._next_device(alternatives[0], 0, 0)
        end = End.TOO_MANY
        for wanted in alternatives:
            found = self._next_device(wanted, 0, 0)
            if found is End.DONE:
                return found
            if found is not End.TOO_MANY:
                end = End.NOTHING
        return end

    def _next_device(self, wanted: Wanted, have: int, start: int) -> End:
        self._step()
        every = self._every.get(wanted.number)
        if every is not None and not every:
            return End.NOTHING
        need = wanted.asks.number if every is None else len(every)
        if have >= need:
            return self._next_request(wanted.claim, wanted.request + 1)
        if len(self._chosen[wanted.claim]) + need - have > MAX_RESULTS:
            return End.TOO_MANY
        if every is not None:
            return self._next_of_all(wanted, every, have)
        return self._try_devices(wanted, have, start)

    def _next_of_all(self, wanted: Wanted, every: list[int], have: int) -> End:
        position = every[have]
        obstacle = self._take(wanted, position)
        if obstacle is Obstacle.CONSTRAINT:
            name = "/".join(self._devices.at(position).key)
            raise AllocationError(
                wanted.claim,
                f", request {wanted.own_name}: cannot add device {name} because a claim constraint "
                "would not be satisfied",
            )
        if obstacle is not None:
            return End.NOTHING
        end = self._next_device(wanted, have + 1, 0)
        if end is not End.DONE:
            self._put_back(wanted, position)
        return end

    def _try_devices(self, wanted: Wanted, have: int, start: int) -> End:
        order, led_nowhere = self._order, set()
        for place in range(start, len(order)):
            position = order[place]
            look = self._kind_numbers[position], self._use_numbers[position], self._likeness(position)
            if look in led_nowhere:
                continue
            if self._take(wanted, position) is not None:
                continue
            end = self._next_device(wanted, have + 1, place + 1)
            if end is End.DONE:
                return end
            self._put_back(wanted, position)
            if end is End.TOO_MANY:
                return end
            led_nowhere.add(look)
        return End.NOTHING

    def _likeness(self, position: int) -> Any:
        """What tells a device from others of its kind and use: what this attempt has taken of it, and its counters."""
        kind = self._kinds[position]
        pool = self._devices.pool_of[position] if kind.counters else -1
        seen = self._devices.seen is None or bool(self._devices.seen[position])
        if position in self._holders or position in self._shares:
            return position
        return pool, seen

    def _step(self) -> None:
        self._steps += 1
        if self._is_late is not None and self._steps % STEPS_A_LOOK == 0 and self._is_late():
            raise SearchTimeoutError

    # -- one device --

    def _selects(self, wanted: Wanted, position: int) -> bool:
        found = self._kinds[position].matches[wanted.number]
        if isinstance(found, AllocationError):
            raise found
        return found and (self._devices.seen is None or bool(self._devices.seen[position]))

    def _take(self, wanted: Wanted, position: int) -> Obstacle | None:
        """Give the device to the request; or the first thing that keeps it, which whoever listens is told."""
        found = self._obstacle(wanted, position)
        if found is None:
            self._give(wanted, position)
            return None
        obstacle, details = found
        if self._turned_down is not None:
            self._turned_down(wanted, position, obstacle, details)
        return obstacle

    def _obstacle(self, wanted: Wanted, position: int) -> tuple[Obstacle, Any] | None:
        kind = self._kinds[position]
        holders = self._holders.get(position, ())
        if wanted.is_admin:
            if wanted.claim in holders:
                return Obstacle.CHOSEN, None
        elif self._uses[position].is_held:
            return Obstacle.HELD, None
        elif holders:
            return Obstacle.CHOSEN, None
        if not self._selects(wanted, position):
            selected = kind.matches[wanted.number]
            return (Obstacle.OTHER_NODES if selected else Obstacle.NOT_SELECTED), None
        short = self._short_of_capacity(wanted, position)
        if short is not None:
            return Obstacle.CAPACITY, short
        missing = self._short_of_counters(position)
        if missing is not None:
            return Obstacle.COUNTERS, missing
        if kind.taints[wanted.number] is not None:
            return Obstacle.TAINT, kind.taints[wanted.number]
        for number in wanted.constraints:
            if not self._shape.constraints[number].accepts(kind.values[number], self._values[number]):
                return Obstacle.CONSTRAINT, number
        return None

    def _short_of_capacity(self, wanted: Wanted, position: int) -> Any:
        takes = self._kinds[position].takes[wanted.number]
        if isinstance(takes, str):
            return takes
        held = dict(self._uses[position].capacity or ())
        shares = self._shares.get(position, ())
        for take in takes:
            used = held.get(take.name, 0) + sum(share.get(take.name, 0) for share in shares)
            if used + take.amount.nano > take.whole:
                return take, used
        return None

    def _short_of_counters(self, position: int) -> tuple[CounterKey, int] | None:
        """The counter that is short, and by how much.  A device that is shared already has taken its counters."""
        kind = self._kinds[position]
        if not kind.counters or self._is_counted(position):
            return None
        left = self._counters_left(position)
        for key, amount in left.items():
            if amount < 0:
                return key, -amount
        for key, amount in kind.counters:
            if left[key] < amount:
                return key, amount - left[key]
        return None

    def _is_counted(self, position: int) -> bool:
        is_shared = self._uses[position].capacity is not None or bool(self._shares.get(position))
        return self._kinds[position].is_shareable and is_shared

    def _counters_left(self, position: int) -> dict[CounterKey, int]:
        pool = self._devices.pool_of[position]
        left = self._left.get(pool)
        if left is None:
            book = self._devices.usable[pool].book
            left = self._left[pool] = {} if book is None else book.left(self._columns)
        return left

    def _give(self, wanted: Wanted, position: int) -> None:
        kind = self._kinds[position]
        if kind.counters and not self._is_counted(position):
            self._count(position, -1)
        if kind.is_shareable:
            takes = kind.takes[wanted.number]
            assert not isinstance(takes, str)
            self._shares.setdefault(position, []).append({take.name: take.amount.nano for take in takes})
        else:
            self._holders.setdefault(position, []).append(wanted.claim)
        for number in wanted.constraints:
            value = kind.values[number]
            assert value is not None
            self._values[number].append(value)
        self._chosen[wanted.claim].append(Choice(wanted.number, position))

    def _put_back(self, wanted: Wanted, position: int) -> None:
        kind = self._kinds[position]
        self._chosen[wanted.claim].pop()
        for number in wanted.constraints:
            self._values[number].pop()
        taken = self._shares if kind.is_shareable else self._holders
        taken[position].pop()
        if not taken[position]:
            del taken[position]
        if kind.counters and not self._is_counted(position):
            self._count(position, +1)

    def _count(self, position: int, sign: int) -> None:
        left = self._counters_left(position)
        for key, amount in self._kinds[position].counters:
            left[key] += sign * amount
