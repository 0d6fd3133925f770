"""
What alone would let a node serve a pod's claims: each change is imagined, and told only if the search then succeeds.

``explain`` shows it; see ``DynamicResources.would_fit_if``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from bayplan.objects.devices.resource_claim import DeviceClaim, ResourceClaim
from bayplan.objects.toleration import Taint, untolerated
from bayplan.plugins.dynamic_resources.capacity import text_of
from bayplan.plugins.dynamic_resources.counters import Consumption, CounterKey, consumption
from bayplan.plugins.dynamic_resources.device_columns import FREE
from bayplan.plugins.dynamic_resources.imagining import Imagined, tolerating, without_constraint
from bayplan.plugins.dynamic_resources.pools import PoolKey
from bayplan.plugins.dynamic_resources.search import Obstacle
from bayplan.plugins.dynamic_resources.selectors import Selectors
from bayplan.plugins.dynamic_resources.shape import Kind, Wanted

MOST_TRIES = 64
"""Changes that are imagined for one node, each a search of its own."""


class Remedy(NamedTuple):
    """A change that would do."""

    change: str
    """``giveBack``, ``freeCapacity``, ``freeCounters``, ``tolerate``, ``dropConstraint`` or ``addDevices``."""
    text: str
    """Goes on from "would fit if"."""
    details: dict[str, Any]
    """What it is about: claim and request, or devices; amounts; how many."""

    def as_dict(self) -> dict[str, Any]:
        return {"change": self.change, "text": self.text, **self.details}


class Remedies(NamedTuple):
    """The first change of each sort that would do, and how many were imagined."""

    found: list[Remedy]
    tried: int


class _Shortages:
    """How much was short of capacities, wherever the search met it."""

    def __init__(self) -> None:
        self.capacities: dict[tuple[int, str, int], None] = {}
        """(position, name, amount)."""

    def hear(self, wanted: Wanted, position: int, obstacle: Obstacle, details: Any) -> None:
        if obstacle is Obstacle.CAPACITY and not isinstance(details, str):
            take, used = details
            self.capacities[position, take.name, used + take.amount.nano - take.whole] = None


class WouldFit:
    """The changes that may be worth imagining for one node, the nearest first."""

    def __init__(self, real: Imagined, claims: Sequence[ResourceClaim], written: int, selectors: Selectors) -> None:
        self._real = real
        self._claims = claims
        self._asked: list[DeviceClaim] = [claim.spec.devices for claim in claims]
        self._written = written
        """So many of the claims somebody wrote, who could write them otherwise; the others stand for resources."""
        self._selectors = selectors
        shape, devices, columns = real
        self._kind_numbers: list[int] = shape.kinds_of(columns.sort[devices.rows]).tolist()
        self._tried = 0
        self._uses = [columns.uses[number] for number in columns.use[devices.rows].tolist()]

    def remedies(self) -> Remedies:
        """Nothing if the claims fit as it is."""
        heard = _Shortages()
        if self._real.fits(heard.hear):
            return Remedies([], 0)
        found = [
            self._first(self._given_back()) or self._several_given_back(),
            self._first(self._capacities(heard)),
            self._first(self._counters()),
            self._first(self._tolerations()),
            self._first(self._constraints()),
        ]
        if not any(found):
            found = [self._first(self._more())]
        return Remedies([each for each in found if each is not None], self._tried)

    def _first(self, candidates: Iterator[tuple[Remedy, Imagined]]) -> Remedy | None:
        return next((remedy for remedy, imagined in candidates if self._fits(imagined)), None)

    def _fits(self, imagined: Imagined) -> bool:
        if self._tried == MOST_TRIES:
            return False
        self._tried += 1
        return imagined.fits()

    # -- devices --

    def _given_back(self) -> Iterator[tuple[Remedy, Imagined]]:
        for position in self._unlike(self._held()):
            yield self._giving_back([position]), self._real.with_use([position], FREE)

    def _several_given_back(self) -> Remedy | None:
        """All that are in use, less those that can stay."""
        going = self._held()
        if len(going) < 2 or not self._fits(self._real.with_use(going, FREE)):
            return None
        for position in reversed(going):
            fewer = [each for each in going if each != position]
            if self._fits(self._real.with_use(fewer, FREE)):
                going = fewer
        return self._giving_back(going)

    def _giving_back(self, positions: Sequence[int]) -> Remedy:
        named = [self._named(position) for position in positions]
        text = f"{' and '.join(name for name, _ in named)} were given back"
        return Remedy("giveBack", text, {"devices": [fields for _, fields in named]})

    def _held(self) -> list[int]:
        return [position for position, use in enumerate(self._uses) if use != FREE]

    def _capacities(self, heard: _Shortages) -> Iterator[tuple[Remedy, Imagined]]:
        """Shares of others that are smaller by what is missing."""
        for position, name, amount in sorted(heard.capacities, key=lambda each: (each[2], each[0])):
            use = self._uses[position]
            held = dict(use.capacity or ())
            if held.get(name, 0) < amount:
                continue
            held[name] -= amount
            named, fields = self._named(position)
            text = f"{text_of(amount)} more of {name} of {named} were left"
            fields |= {"name": name, "amount": text_of(amount)}
            smaller = use._replace(capacity=tuple(sorted(held.items())))
            yield Remedy("freeCapacity", text, fields), self._real.with_use([position], smaller)

    def _counters(self) -> Iterator[tuple[Remedy, Imagined]]:
        """All that a device lacks of its counters, where somebody has so much of them."""
        met = set()
        for position in self._selected():
            pool = self._real.devices.pool_of[position]
            view = self._real.devices.usable[pool]
            if view.book is None:
                continue
            left = view.book.left(self._real.columns)
            short = {key: amount - left[key] for key, amount in self._kind(position).counters if amount > left[key]}
            look = pool, tuple(short.items())
            if not short or look in met or any(left[key] + more > view.book.total[key] for key, more in short.items()):
                continue
            met.add(look)
            yield self._freeing(view.key, short), self._real.with_counters(pool, short)

    def _freeing(self, pool: PoolKey, short: Mapping[CounterKey, int]) -> Remedy:
        driver, pool_name = pool
        amounts = [f"{text_of(more)} more of counter {name} of {set_name}" for (set_name, name), more in short.items()]
        text = f"{' and '.join(amounts)} in {driver}/{pool_name} were left"
        counters = [
            {"counterSet": set_name, "counter": name, "amount": text_of(more)}
            for (set_name, name), more in short.items()
        ]
        return Remedy("freeCounters", text, {"driver": driver, "pool": pool_name, "counters": counters})

    def _more(self) -> Iterator[tuple[Remedy, Imagined]]:
        """One more like one that is there, then two, and so on."""
        alike = list(self._unlike(self._selected()))
        asked = sum(1 if wanted.asks.wants_all else wanted.asks.number for wanted in self._real.shape.wanted)
        for count in range(1, asked + 1):
            for position in alike:
                named, fields = self._named(position)
                text = f"there were {count} more {'device' if count == 1 else 'devices'} like {named}"
                yield (
                    Remedy("addDevices", text, fields | {"count": count}),
                    self._real.with_more(position, count),
                )

    def _selected(self) -> list[int]:
        """Devices that a request selects, if they are free."""
        seen = self._real.devices.seen
        return [
            position
            for position, number in enumerate(self._kind_numbers)
            if (seen is None or seen[position]) and True in self._real.shape.kinds[number].matches
        ]

    def _kind(self, position: int) -> Kind:
        return self._real.shape.kinds[self._kind_numbers[position]]

    def _unlike(self, positions: Sequence[int]) -> Iterator[int]:
        """Of devices that would be alike if they were free the first; those that can be had before others."""
        selected, pool_of = set(self._selected()), self._real.devices.pool_of
        met = set()
        for position in sorted(positions, key=lambda each: each not in selected):
            taken = self._counters_of(position)
            if not taken and position not in selected:
                continue  # nobody misses it
            look = self._kind_numbers[position], position in selected, taken, pool_of[position] if taken else -1
            if look not in met:
                met.add(look)
                yield position

    def _counters_of(self, position: int) -> Consumption:
        """Also where no request selects it."""
        columns = self._real.columns
        return consumption(columns.sorts[columns.sort[self._real.devices.rows[position]]].device)

    def _named(self, position: int) -> tuple[str, dict[str, Any]]:
        driver, pool, device = key = self._real.devices.at(position).key
        return "/".join(key), {"driver": driver, "pool": pool, "device": device}

    # -- claims --

    def _tolerations(self) -> Iterator[tuple[Remedy, Imagined]]:
        columns, devices = self._real.columns, self._real.devices
        met: set[tuple[int, tuple[Taint, ...]]] = set()
        for wanted in self._real.shape.wanted:
            if wanted.claim >= self._written:
                continue
            own = wanted.asks.tolerations or ()
            for position in self._selected():
                taints = columns.sorts[columns.sort[devices.rows[position]]].taints
                lacking = tuple(each for each in taints if untolerated(own, (each,)) is not None)
                if not lacking or (wanted.number, lacking) in met:
                    continue
                met.add((wanted.number, lacking))
                edited = tolerating(self._asked, wanted, lacking)
                yield self._tolerated(wanted, lacking), self._real.with_claims(edited, self._selectors)

    def _tolerated(self, wanted: Wanted, taints: Sequence[Taint]) -> Remedy:
        named = [f"{each.key}{f'={each.value}' if each.value else ''}:{each.effect}" for each in taints]
        claim = self._claims[wanted.claim].key
        which = "taint" if len(named) == 1 else "taints"
        text = f"request {wanted.full_name} of claim {claim} tolerated {which} {', '.join(named)}"
        return Remedy("tolerate", text, {"claim": claim, "request": wanted.full_name, "taints": named})

    def _constraints(self) -> Iterator[tuple[Remedy, Imagined]]:
        for number, asked in enumerate(self._asked[: self._written]):
            for place, written in enumerate(asked.constraints or ()):
                sort = "matchAttribute" if written.match_attribute is not None else "distinctAttribute"
                name = written.match_attribute or written.distinct_attribute
                claim = self._claims[number].key
                text = f"claim {claim} were without its constraint {sort} {name}"
                edited = without_constraint(self._asked, number, place)
                remedy = Remedy("dropConstraint", text, {"claim": claim, "constraint": place})
                yield remedy, self._real.with_claims(edited, self._selectors)
