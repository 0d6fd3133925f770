"""
Up to three levels, with weights, minimal domains, incumbents and a group of placements, against exhaustive search: as
many as possible are placed, no hard constraint gets worse, and without incumbents every level is as even as can be.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from itertools import product

import pytest

from bayplan.objects.third_party import placement as api
from tests.placement.fleet_building import chosen, cluster, constraint, decided, placement

Path = tuple[str, ...]
KEYS = ("region", "zone", "rack")
GROUP = {"app": "shop"}


@dataclass(frozen=True)
class Instance:
    """Where clusters are, what is asked for, who is chosen already, and what the other placement has."""

    where: dict[str, Path]
    levels: tuple[api.SpreadConstraint, ...]
    wanted: int
    has: tuple[str, ...]
    others: tuple[str, ...]

    def decide(self) -> tuple[str, ...]:
        fleet = [cluster(name, dict(zip(KEYS, path, strict=False))) for name, path in self.where.items()]
        disabled = {api.DISABLE_ANNOTATION: "true"}
        other = placement("other", len(self.others), labels=GROUP, annotations=disabled)
        decisions = decided("p", *self.has), decided("other", *self.others)
        return chosen(*fleet, *decisions, other, placement("p", self.wanted, *self.levels, group=GROUP, labels=GROUP))

    def counts(self, names: tuple[str, ...]) -> Counter[Path]:
        """How many are in every domain of every level."""
        return Counter(self.where[name][:depth] for name in names for depth in range(1, len(self.levels) + 1))

    def domains(self, depth: int) -> list[Path]:
        return sorted({path[: depth + 1] for path in self.where.values()})

    def height(self, domain: Path, counts: Counter[Path]) -> Fraction:
        weight = (self.levels[len(domain) - 1].weights or {}).get(domain[-1], 1)
        return Fraction(counts[domain] + self.counts(self.others)[domain], weight)

    def is_legal(self, counts: Counter[Path]) -> bool:
        """Whether no domain that grew is further above its lowest sibling than its level allows."""
        had = self.counts(self.has)
        for depth, level in enumerate(self.levels):
            for domain in self.domains(depth) if level.is_hard else ():
                siblings = [each for each in self.domains(depth) if each[:-1] == domain[:-1]]
                lowest = min(self.height(each, counts) for each in siblings)
                if len(siblings) < (level.min_domains or 1):
                    lowest = Fraction(0)
                if counts[domain] > had[domain] and self.height(domain, counts) - lowest > level.max_skew:
                    return False
        return True

    def choices(self) -> Iterator[Counter[Path]]:
        """Everything that could be chosen beside the incumbents, as numbers."""
        had, rooms = Counter(self.where[name] for name in self.has), Counter(self.where.values())
        for numbers in product(*(range(had[path], room + 1) for path, room in rooms.items())):
            if sum(numbers) <= self.wanted:
                counts: Counter[Path] = Counter()
                for path, number in zip(rooms, numbers, strict=True):
                    for depth in range(1, len(self.levels) + 1):
                        counts[path[:depth]] += number
                yield counts

    def unevenness(self, depth: int, counts: Counter[Path]) -> int:
        others = self.counts(self.others)
        return sum((counts[domain] + others[domain]) ** 2 for domain in self.domains(depth))


def made_up(pick: random.Random) -> Instance:
    depth = pick.choice((1, 2, 2, 3))
    values = (("ab", "xy", "12") if depth == 3 else pick.choice((("abc", "xy"), ("ab", "xyz"))))[:depth]
    most = 2 if depth == 3 else 3
    where = {"".join(path) + str(each): path for path in product(*values) for each in range(pick.randrange(most + 1))}
    levels = []
    for key, domains in zip(KEYS, values, strict=False):
        hard = pick.random() < 0.65
        weights = {each: pick.randrange(1, 4) for each in domains} if pick.random() < 0.3 else None
        fewest = pick.choice((None, None, 2, 3)) if hard else None
        levels.append(constraint(key, skew=pick.choice((1, 1, 2)), hard=hard, min_domains=fewest, weights=weights))
    names = sorted(where)
    has = pick.sample(names, pick.randrange(len(names) + 1)) if pick.random() < 0.4 else []
    others = pick.sample(names, pick.randrange(len(names) + 1)) if pick.random() < 0.35 else []
    return Instance(where, tuple(levels), pick.randrange(len(has), len(names) + 2), tuple(has), tuple(others))


@pytest.mark.parametrize("seed", range(4))
def test_as_many_as_possible_and_as_even_as_possible(seed: int) -> None:
    pick = random.Random(seed)
    for _ in range(100):
        instance = made_up(pick)
        if not instance.where:
            continue
        names = instance.decide()
        counts, depth = instance.counts(names), len(instance.levels)
        assert not instance.counts(instance.has) - counts, instance
        assert instance.is_legal(counts), instance
        found = [each for each in instance.choices() if instance.is_legal(each)]
        most = max(_total(each) for each in found)
        assert len(names) == most, instance
        if instance.has:
            continue
        found = [each for each in found if _total(each) == most]
        for level in range(depth):
            if instance.levels[level].weights:
                break
            assert instance.unevenness(level, counts) == min(instance.unevenness(level, each) for each in found), (
                instance
            )
            found = [each for each in found if all(each[path] == counts[path] for path in instance.domains(level))]


def _total(counts: Counter[Path]) -> int:
    return sum(number for path, number in counts.items() if len(path) == 1)
