"""
What a placement's report says of its spread, worked out again from the clusters alone: the skew of every constraint, and
what is in the way of more. The oracle knows counts and the rules of docs/placement/spread.md, and nothing of the code.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest

from bayplan.objects.third_party import placement as api
from bayplan.placement import explaining
from bayplan.placement.events import Applied
from tests.placement.fleet_building import NAMESPACE, cluster, constraint, decided, placement, state_of

Path = tuple[str, ...]
KEYS = ("region", "zone")
REGIONS, ZONES = "abc", "xyz"


@dataclass(frozen=True)
class Case:
    """Where every cluster is, who is chosen, what others of the group have, and the constraints."""

    where: dict[str, Path]
    chosen: frozenset[str]
    others: tuple[str, ...]
    levels: tuple[api.SpreadConstraint, ...]
    is_flat: bool

    def domain(self, name: str, depth: int) -> Path:
        path = self.where[name]
        return path[depth : depth + 1] if self.is_flat else path[: depth + 1]

    def siblings(self, depth: int) -> dict[Path, set[Path]]:
        """The domains that are compared with each other, by what is above them."""
        found: dict[Path, set[Path]] = {}
        for name in self.where:
            domain = self.domain(name, depth)
            found.setdefault(domain[:-1], set()).add(domain)
        return found

    def height(self, domain: Path, depth: int, more: int = 0) -> Fraction:
        names = [*self.chosen, *self.others]
        number = sum(self.domain(name, depth) == domain for name in names) + more
        return Fraction(number, (self.levels[depth].weights or {}).get(domain[-1], 1))

    def lowest(self, group: set[Path], depth: int) -> Fraction:
        if len(group) < (self.levels[depth].min_domains or 1):
            return Fraction(0)
        return min(self.height(domain, depth) for domain in group)

    def skew(self, depth: int) -> Fraction:
        gaps = [
            max(self.height(domain, depth) for domain in group) - self.lowest(group, depth)
            for group in self.siblings(depth).values()
        ]
        return max(gaps)

    def is_legal(self, name: str, depth: int) -> bool:
        """Whether a constraint would let one more cluster in."""
        level, domain = self.levels[depth], self.domain(name, depth)
        group = self.siblings(depth)[domain[:-1]]
        return not level.is_hard or self.height(domain, depth, 1) - self.lowest(group, depth) <= level.max_skew

    def blocking(self, depth: int) -> set[str]:
        """Every answer that is right: one of the lowest domains of a group that this level alone keeps from growing."""
        answers: set[str] = set()
        for above, group in self.siblings(depth).items():
            free = [name for name in self.where if name not in self.chosen and self.domain(name, depth)[:-1] == above]
            if self.is_flat:
                is_blocked = any(not self.is_legal(name, depth) for name in free)
            else:
                deeper = range(depth + 1, len(self.levels))
                could = [name for name in free if all(self.is_legal(name, each) for each in deeper)]
                is_blocked = bool(could) and not any(self.is_legal(name, depth) for name in could)
            if is_blocked:
                wanted = self.levels[depth].min_domains or 1
                if len(group) < wanted:
                    answers.add(f"minDomains ({len(group)} of {wanted})")
                else:
                    low = self.lowest(group, depth)
                    answers |= {"/".join(each) for each in group if self.height(each, depth) == low}
        return answers


def random_case(pick: random.Random) -> tuple[Case, dict[str, Any], bool]:
    where = {
        f"{region}{zone}{number}": (region, zone)
        for region in REGIONS[: pick.randrange(1, 4)]
        for zone in ZONES[: pick.randrange(1, 4)]
        for number in range(pick.randrange(1, 4))
    }
    depth = pick.choice((1, 1, 2))
    levels = []
    for key in KEYS[:depth]:
        hard = pick.random() < 0.7
        domains = {path[KEYS.index(key)] for path in where.values()}
        weights = {name: pick.choice((1, 2, 3)) for name in domains} if pick.random() < 0.4 else None
        fewest = pick.choice((None, None, 2, 4)) if hard else None
        levels.append(constraint(key, skew=pick.choice((1, 1, 2)), hard=hard, min_domains=fewest, weights=weights))
    is_flat = depth > 1 and pick.random() < 0.3
    number = pick.choice((None, pick.randrange(1, len(where) + 3)))
    others = tuple(pick.sample(sorted(where), pick.randrange(len(where)))) if pick.random() < 0.3 else ()
    has = pick.sample(sorted(where), pick.randrange(len(where) + 1)) if pick.random() < 0.5 else []
    labels = {"app": "web"}
    wanted = placement(
        "p", number, *levels, labels=labels, group=labels if others else None, scope=api.FLAT if is_flat else api.NESTED
    )
    fleet = [cluster(name, dict(zip(KEYS, path, strict=True))) for name, path in where.items()]
    other = [placement("other", len(others), labels=labels), decided("other", *others)] if others else []
    # The other one first: it keeps what it has, and the one in question is decided with that.
    state = state_of(*fleet, *other, decided("p", *has))
    state.handle(Applied(wanted))
    evaluation = state.evaluation(f"{NAMESPACE}/p")
    chosen = frozenset(evaluation.names())
    taken = state.clusters(f"{NAMESPACE}/other") if others else ()
    document = explaining.explain(evaluation, 0.0, state.others(evaluation.plan))
    is_short = len(chosen) < (len(where) if number is None else number)
    return Case(where, chosen, taken, tuple(levels), is_flat), document, is_short


@pytest.mark.parametrize("block", range(6))
def test_the_report_is_what_the_clusters_say(block: int) -> None:
    pick = random.Random(block)
    seen: Counter[str] = Counter()
    for number in range(200):
        case, document, is_short = random_case(pick)
        for depth, report in enumerate(document["spread"]):
            told = f"{block}/{number} level {depth} {case} {report}"
            level = case.levels[depth]
            exact = case.skew(depth)
            assert abs(report["skew"] - exact) < Fraction(1, 100), told
            assert report["exceeded"] == (exact > level.max_skew), told
            right = case.blocking(depth) if is_short and level.is_hard else set()
            named = {answer for answer in right if _is_named(answer, report["blocking"])}
            assert bool(right) == bool(named) == (report["blocking"] is not None), f"{right} {told}"
            seen[f"blocked {bool(right)}, exceeded {report['exceeded']}"] += 1
            message = document["conditions"][0]["message"]
            if level.is_hard:
                key = level.topology_key
                assert (f"{key} has skew" in message) == report["exceeded"], f"{message} {told}"
    assert len(seen) == 4, "each of the four must have been met"


def _is_named(answer: str, named: str | None) -> bool:
    """A domain is called by its last value where that is enough."""
    return named is not None and (named == answer or answer.endswith(f"/{named}"))
