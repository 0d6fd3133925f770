"""
The search for the best devices of one node, after ``search`` has found that there are any.

It looks at the same choices as ``search`` does and keeps the best; the alternatives of a request are never traded for
better devices.  At each step the most promising device is tried first, what cannot become better than the best so far
is left out, and so are devices that are alike in all that counts.  It ends when nothing is left or after so many
steps; the first solution is the least it returns.
"""

from __future__ import annotations

from typing import Any

from bayplan.plugins.dynamic_resources.device_columns import DeviceColumns
from bayplan.plugins.dynamic_resources.device_score import fills
from bayplan.plugins.dynamic_resources.device_score.device_score import Begun, DeviceScore
from bayplan.plugins.dynamic_resources.device_score.merit import scored, weighted
from bayplan.plugins.dynamic_resources.device_score.rules import Change, Rule, Unit
from bayplan.plugins.dynamic_resources.device_score.sizes import WHOLE
from bayplan.plugins.dynamic_resources.node_devices import NodeDevices
from bayplan.plugins.dynamic_resources.search import Answer, Choice, End, Search
from bayplan.plugins.dynamic_resources.shape import UNSELECTED, AllocationError, Shape, Wanted


class _OutOfStepsError(Exception):
    """The budget is spent."""


class BestSearch(Search):
    """One search on one node."""

    def __init__(self, score: DeviceScore, shape: Shape, devices: NodeDevices, columns: DeviceColumns) -> None:
        super().__init__(shape, devices, columns)
        self._budget = score.args.search_steps
        self._weights = score.weights
        self._traits = [score.traits(number) for number in columns.sort[devices.rows].tolist()]
        self._siblings = self._by_counter_set()
        self._free = [self._is_free(position) for position in range(len(self._traits))]
        free = [position for position, is_free in enumerate(self._free) if is_free]
        self._units = self._by_device() if score.wants_fills else {}
        now = {unit: fill for position in self._units for unit, fill in self._fill(position).items()}
        most_units = max(map(len, self._units.values()), default=0)
        self._rules: list[Rule] = score.rules(Begun(self._traits, free, now, most_units))
        self._changes: list[Change | None] = []
        self._most = 0
        """More devices than this no choice has."""
        self._places = {
            (wanted.claim, wanted.request): place
            for place, wanted in enumerate(each[0] for requests in shape.claims for each in requests)
        }
        self._ranks = [0] * len(self._places)
        self._rest: list[int] = []
        """What is left to try for the request that the search is at."""
        self._best: list[list[Choice]] = []
        self._best_values: tuple[int, ...] = ()
        self._best_ranks: list[int] = []

    def improved(self, first: Answer) -> Answer:
        """The best answer that was found, with what is to be said of it."""
        self._gather()
        self._most = sum(
            max((self._count_of(wanted) for wanted in alternatives), default=0)
            for requests in self._shape.claims
            for alternatives in requests
        )
        self._begin_with(first)
        is_best = True
        try:
            self._next_request(0, 0)
        except _OutOfStepsError:
            is_best = False
        claims = tuple(tuple(_in_order(each)) for each in self._best)
        return Answer(claims, "", scored(self._best_values, self._weights, self._steps, is_best=is_best))

    def _count_of(self, wanted: Wanted) -> int:
        every = self._every.get(wanted.number)
        return wanted.asks.number if every is None else len(every)

    def _begin_with(self, first: Answer) -> None:
        for choice in (choice for each in first.claims for choice in each):
            wanted = self._shape.wanted[choice.wanted]
            self._ranks[self._places[wanted.claim, wanted.request]] = wanted.rank
            self._give(wanted, choice.position)
        self._keep()
        for choice in reversed([choice for each in first.claims for choice in each]):
            self._put_back(self._shape.wanted[choice.wanted], choice.position)

    def _keep(self) -> None:
        self._best = [list(each) for each in self._chosen]
        self._best_values = tuple(rule.at_best() for rule in self._rules)
        self._best_ranks = list(self._ranks)

    def _may_win(self, value: int, ranks: int) -> bool:
        """May what is begun with these alternatives, and can be worth this much, become better than the best?"""
        so_far, best = self._ranks[:ranks], self._best_ranks[:ranks]
        is_better = value > weighted(self._best_values, self._weights) or any(self._best_ranks[ranks:])
        return so_far < best or (so_far == best and is_better)

    def _at_best(self) -> int:
        more = self._most - len(self._changes)
        return weighted(tuple(rule.at_best(more) for rule in self._rules), self._weights)

    # -- the search --

    def _next_request(self, claim: int, request: int) -> End:
        if claim < len(self._shape.claims):
            return super()._next_request(claim, request)
        value = weighted(tuple(rule.at_best() for rule in self._rules), self._weights)
        if self._may_win(value, len(self._ranks)):
            self._keep()
        return End.NOTHING

    def _next_device(self, wanted: Wanted, have: int, start: int) -> End:
        place = self._places[wanted.claim, wanted.request]
        if not have:
            self._ranks[place] = wanted.rank
        if not self._may_win(self._at_best(), place + 1):
            return End.NOTHING
        try:
            return super()._next_device(wanted, have, start)
        except AllocationError:
            return End.NOTHING  # a constraint over all devices, which other devices for an earlier request may keep

    def _try_devices(self, wanted: Wanted, have: int, start: int) -> End:
        rest = self._rest if have else list(self._order)
        place = self._places[wanted.claim, wanted.request] + 1
        options = self._options(wanted, rest)
        hopeful = {look for _, _, look in options}
        looks = {position: self._look(position) for position in rest}
        for value, position, look in options:
            if not self._may_win(value, place):
                break
            self._take(wanted, position)
            self._rest = [each for each in rest if each != position and looks[each] in hopeful]
            end = self._next_device(wanted, have + 1, 0)
            self._put_back(wanted, position)
            if end is End.TOO_MANY:
                return end
            hopeful.discard(look)
        return End.NOTHING

    def _options(self, wanted: Wanted, rest: list[int]) -> list[tuple[int, int, Any]]:
        """The devices that can be taken, one of those that are alike, the most promising first."""
        met, options = set(), []
        for position in rest:
            look = self._look(position)
            if look in met:
                continue
            met.add(look)
            self._step()
            if self._take(wanted, position) is None:
                options.append((self._at_best(), position, look))
                self._put_back(wanted, position)
        options.sort(key=lambda option: (-option[0], option[1]))
        return options

    def _look(self, position: int) -> Any:
        alike = self._kind_numbers[position], self._use_numbers[position], self._traits[position].number
        return *alike, self._likeness(position)

    def _step(self) -> None:
        if self._steps == self._budget:
            raise _OutOfStepsError
        self._steps += 1

    # -- one device --

    def _selects(self, wanted: Wanted, position: int) -> bool:
        try:
            return super()._selects(wanted, position)
        except AllocationError:
            return False  # the first solution did not need it, so that it must not fail for it now

    def _give(self, wanted: Wanted, position: int) -> None:
        takes_counters = bool(self._traits[position].counters) and not self._is_counted(position)
        super()._give(wanted, position)
        change = None
        if not wanted.is_admin:
            share = self._share(wanted, position)
            lost = self._lose(position, is_share=share is not None, with_siblings=takes_counters)
            change = Change(position, share, lost, self._fill(position))
            for rule in self._rules:
                rule.take(change)
        self._changes.append(change)

    def _put_back(self, wanted: Wanted, position: int) -> None:
        change = self._changes.pop()
        if change is not None:
            for rule in self._rules:
                rule.put_back(change)
            for each in change.lost:
                self._free[each] = True
        super()._put_back(wanted, position)

    def _share(self, wanted: Wanted, position: int) -> int | None:
        """How much of a shareable device the request takes, by the capacity of which it takes most."""
        kind = self._kinds[position]
        if not kind.is_shareable:
            return None
        takes = kind.takes[wanted.number]
        assert not isinstance(takes, str)
        return max((take.amount.nano * WHOLE // take.whole for take in takes if take.whole), default=0)

    # -- how full they are --

    def _by_device(self) -> dict[int, list[Unit]]:
        """What each device that the pod could use is part of."""
        found: dict[int, list[Unit]] = {}
        for position, kind in enumerate(self._kind_numbers):
            if kind != UNSELECTED and self._is_here(position):
                traits, pool = self._traits[position], self._devices.pool_of[position]
                units: list[Unit] = [(pool, name) for name in traits.counter_sets]
                found[position] = [*units, position] if traits.is_shareable or not units else units
        return found

    def _fill(self, position: int) -> dict[Unit, int]:
        """How full what the device is part of is now."""
        return {
            unit: self._fill_of(unit) if isinstance(unit, int) else self._fill_of_set(unit[1], position)
            for unit in self._units.get(position, ())
        }

    def _fill_of(self, position: int) -> int:
        traits, use = self._traits[position], self._uses[position]
        if traits.is_shareable:
            return fills.of_shared_device(traits.capacity, use, self._shares.get(position, ()))
        return WHOLE if use.is_held or position in self._holders else 0

    def _fill_of_set(self, name: str, position: int) -> int:
        left = self._counters_left(position)
        book = self._devices.usable[self._devices.pool_of[position]].book
        return 0 if book is None else fills.of_counter_set(name, book.total, left)

    # -- what can be had --

    def _by_counter_set(self) -> dict[tuple[int, str], list[int]]:
        found: dict[tuple[int, str], list[int]] = {}
        for position, traits in enumerate(self._traits):
            for name in traits.counter_sets:
                found.setdefault((self._devices.pool_of[position], name), []).append(position)
        return found

    def _is_free(self, position: int) -> bool:
        """Could somebody have it?  Whatever it is that this pod asks for."""
        traits = self._traits[position]
        if not self._is_here(position) or traits.is_tainted or self._uses[position].is_held:
            return False
        return self._has_counters(position)

    def _is_here(self, position: int) -> bool:
        return self._devices.seen is None or bool(self._devices.seen[position])

    def _has_counters(self, position: int) -> bool:
        traits = self._traits[position]
        is_shared = traits.is_shareable and (self._uses[position].is_shared or bool(self._shares.get(position)))
        if not traits.counters or is_shared:
            return True
        left = self._counters_left(position)
        return all(left[key] >= amount for key, amount in traits.counters)

    def _lose(self, position: int, *, is_share: bool, with_siblings: bool) -> list[int]:
        """Devices that can no longer be had."""
        lost = []
        if not is_share and self._free[position]:
            lost.append(position)
            self._free[position] = False
        if with_siblings:
            pool = self._devices.pool_of[position]
            for name in self._traits[position].counter_sets:
                for each in self._siblings[pool, name]:
                    if self._free[each] and not self._has_counters(each):
                        lost.append(each)
                        self._free[each] = False
        return lost


def _in_order(choices: list[Choice]) -> list[Choice]:
    """Requests in their order, and the devices of each as the node has them: no request is met twice in a row."""
    firsts = {choice.wanted: place for place, choice in reversed(list(enumerate(choices)))}
    return sorted(choices, key=lambda choice: (firsts[choice.wanted], choice.position))
