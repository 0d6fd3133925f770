"""
Spreading on small random fleets, against exhaustive search: the most that can be placed is placed, hard constraints are
never exceeded, soft ones never block, and as many incumbents stay as possible.
"""

from __future__ import annotations

import random
from collections import Counter
from itertools import product

import pytest

from bayplan.objects.third_party import placement as api
from tests.placement.fleet_building import chosen, cluster, constraint, decided, placement

Leaf = tuple[str, str]
REGIONS, ZONES = "ab", "xyz"


def fleet(sizes: dict[Leaf, int]) -> dict[str, Leaf]:
    """Cluster names and where they are."""
    return {
        f"{region}{zone}{number}": (region, zone) for (region, zone), size in sizes.items() for number in range(size)
    }


def objects(where: dict[str, Leaf]) -> list[api.ManagedCluster]:
    return [cluster(name, {"region": region, "zone": zone}) for name, (region, zone) in where.items()]


def random_sizes(pick: random.Random, most: int = 3) -> dict[Leaf, int]:
    sizes = {(region, zone): pick.randrange(most + 1) for region in REGIONS for zone in ZONES}
    return {leaf: size for leaf, size in sizes.items() if size}


def is_even(counts: dict[str, int], skew: int, min_domains: int = 1) -> bool:
    lowest = min(counts.values()) if len(counts) >= min_domains else 0
    return max(counts.values()) - lowest <= skew


def regions_of(counts: dict[Leaf, int]) -> dict[str, int]:
    total: Counter[str] = Counter()
    for (region, _), count in counts.items():
        total[region] += count
    return dict(total)


def is_allowed(counts: dict[Leaf, int], skews: tuple[int, int], hard: tuple[bool, bool], min_regions: int = 1) -> bool:
    """Whether counts, one for every leaf there is, keep within the hard constraints, nested."""
    regions = regions_of(counts)
    if hard[0] and not is_even(regions, skews[0], min_regions):
        return False
    if hard[1]:
        for region in regions:
            zones = {zone: count for (each, zone), count in counts.items() if each == region}
            if not is_even(zones, skews[1]):
                return False
    return True


def best(sizes: dict[Leaf, int], wanted: int, skews: tuple[int, int], hard: tuple[bool, bool], regions: int) -> int:
    """The most that any choice of up to `wanted` clusters can have: all choices are looked at."""
    found = 0
    for counts in product(*(range(size + 1) for size in sizes.values())):
        total = sum(counts)
        if found < total <= wanted and is_allowed(dict(zip(sizes, counts, strict=True)), skews, hard, regions):
            found = total
    return found


@pytest.mark.parametrize("block", range(8))
def test_the_nested_maximum_equals_exhaustive_search(block: int) -> None:
    pick = random.Random(block)
    for _ in range(250):
        sizes = random_sizes(pick)
        if not sizes:
            continue
        where, wanted = fleet(sizes), pick.randrange(1, 14)
        skews = pick.choice((1, 1, 2, 3)), pick.choice((1, 1, 2))
        hard = pick.random() < 0.7, pick.random() < 0.7
        regions = pick.choice((1, 1, 2, 3)) if hard[0] else 1
        levels = (
            constraint("region", skew=skews[0], hard=hard[0], min_domains=regions if regions > 1 else None),
            constraint("zone", skew=skews[1], hard=hard[1]),
        )
        names = chosen(*objects(where), placement("p", wanted, *levels))
        counts = dict.fromkeys(sizes, 0) | Counter(where[name] for name in names)
        case = f"{sizes} wanted {wanted} skews {skews} hard {hard} minDomains {regions}: {counts}"
        assert is_allowed(counts, skews, hard, regions), case
        assert len(names) == best(sizes, wanted, skews, hard, regions), case
        if not any(hard):
            assert len(names) == min(wanted, len(where)), case


def test_regions_are_as_even_as_can_be_and_then_zones() -> None:
    pick = random.Random(99)
    for _ in range(400):
        sizes = random_sizes(pick, 4)
        if not sizes:
            continue
        where, wanted = fleet(sizes), pick.randrange(1, 16)
        soft = (constraint("region", hard=False), constraint("zone", hard=False))
        names = chosen(*objects(where), placement("p", wanted, *soft))
        counts = dict.fromkeys(sizes, 0) | Counter(where[name] for name in names)
        room, regions = regions_of(sizes), regions_of(counts)
        for high, low in product(regions, regions):
            assert regions[high] - regions[low] <= 1 or regions[low] == room[low], f"{sizes} {wanted}: {regions}"
        for (region, high), (other, low) in product(sizes, sizes):
            if region == other:
                apart = counts[region, high] - counts[region, low]
                assert apart <= 1 or counts[region, low] == sizes[region, low], f"{sizes} {wanted}: {counts}"


def test_incumbents_stay_and_nothing_gets_less_even_than_it_was() -> None:
    pick = random.Random(5)
    for _ in range(400):
        sizes = random_sizes(pick)
        if not sizes:
            continue
        where = fleet(sizes)
        has = tuple(pick.sample(sorted(where), pick.randrange(len(where) + 1)))
        wanted = pick.randrange(len(where) + 2)
        hard = pick.random() < 0.5
        levels = (constraint("region", hard=hard), constraint("zone", hard=hard))
        names = chosen(*objects(where), decided("p", *has), placement("p", wanted, *levels))
        assert len(names) <= wanted
        assert set(has) <= set(names) if wanted >= len(has) else set(names) <= set(has)
        before, after = Counter(where[name] for name in has), Counter(where[name] for name in names)
        if hard and len(names) > len(has):
            regions = regions_of(dict.fromkeys(sizes, 0) | after)
            grown = [region for region in regions if regions[region] > regions_of(before).get(region, 0)]
            assert all(regions[region] - min(regions.values()) <= 1 for region in grown), f"{sizes} {has} {names}"


@pytest.mark.parametrize("skew", [1, 2])
def test_a_large_enough_budget_makes_it_even_with_the_fewest_moves(skew: int) -> None:
    pick = random.Random(skew)
    for _ in range(400):
        sizes = {(region, "x"): pick.randrange(1, 6) for region in "abc"}
        where = fleet(sizes)
        has = tuple(pick.sample(sorted(where), pick.randrange(1, len(where) + 1)))
        level = constraint("region", skew=skew, hard=False)
        names = chosen(*objects(where), decided("p", *has), placement("p", len(has), level, max_moves=50))
        before, after = Counter(where[name] for name in has), Counter(where[name] for name in names)
        moves = sum((before - after).values())
        fewest = min(
            sum((before - Counter(dict(zip(sizes, counts, strict=True)))).values())
            for counts in product(*(range(size + 1) for size in sizes.values()))
            if sum(counts) == len(has) and _is_within(sizes, counts, skew)
        )
        assert _is_within(sizes, [after[leaf] for leaf in sizes], skew)
        assert moves == fewest, f"{sizes} {before} -> {after}"


def _is_within(sizes: dict[Leaf, int], counts: object, skew: int) -> bool:
    """Even, where full domains are no reason for complaint."""
    given = dict(zip(sizes, counts, strict=True))  # type: ignore[call-overload]
    open_ones = [count for leaf, count in given.items() if count < sizes[leaf]]
    return not open_ones or max(given.values()) - min(open_ones) <= skew


def test_a_budget_is_kept() -> None:
    where = fleet({("a", "x"): 6, ("b", "x"): 6})
    has = [name for name, leaf in where.items() if leaf[0] == "a"]
    level = constraint("region", hard=False)
    names = chosen(*objects(where), decided("p", *has), placement("p", 6, level, max_moves=2))
    assert Counter(where[name][0] for name in names) == {"a": 4, "b": 2}


def test_crossing_keys_stay_within_every_hard_constraint_and_soft_ones_never_block() -> None:
    pick = random.Random(7)
    for _ in range(300):
        sizes = random_sizes(pick)
        if not sizes:
            continue
        where, wanted = fleet(sizes), pick.randrange(1, 12)
        hard = pick.random() < 0.6
        levels = (constraint("region", hard=hard), constraint("zone", hard=hard))
        names = chosen(*objects(where), placement("p", wanted, *levels, scope=api.FLAT))
        if not hard:
            assert len(names) == min(wanted, len(where))
            continue
        for number in (0, 1):
            present = dict.fromkeys((leaf[number] for leaf in sizes), 0)
            counts = present | Counter(where[name][number] for name in names)
            assert max(counts.values()) - min(counts.values()) <= 1, f"{sizes} {wanted}: {names}"


def test_the_smallest_case_where_picking_one_at_a_time_gets_stuck() -> None:
    where = {"one": ("C", "y"), "two": ("B", "y"), "three": ("C", "x")}
    levels = (constraint("region"), constraint("zone"))
    assert len(chosen(*objects(where), placement("p", 3, *levels, scope=api.FLAT))) == 3
