"""Decision groups and their pages: where each chosen cluster is written down, with as little change as possible.

The hub controller writes one PlacementDecision for every page; `bayplan place` shows the groups. A cluster stays on its
page, holes are filled, and only then is something appended, so nothing moves because something else came or went.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bayplan.placement.plan import Plan
from bayplan.placement.plugins.predicate import selects_row
from bayplan.placement.table import ClusterTable
from bayplan.placement.validation import group_size

PAGE_SIZE = 100


@dataclass(frozen=True, slots=True)
class Page:
    """One PlacementDecision: its number in the name, its group, and its clusters by name."""

    number: int
    group_index: int
    group_name: str
    clusters: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Group:
    name: str
    clusters: tuple[str, ...]


def groups_of(plan: Plan, table: ClusterTable, names: Iterable[str], before: Sequence[Page] = ()) -> list[Group]:
    """The chosen clusters in groups: named ones first, in the order they are written, then the rest."""
    left = sorted(names)
    size = max(1, group_size(plan.per_group, len(left)))
    groups: list[Group] = []
    for each in plan.groups:
        taken = [name for name in left if selects_row(each.term, table, table.row_of[name])]
        groups += _cut(each.name, taken, size, before)
        matched = set(taken)
        left = [name for name in left if name not in matched]
    groups += _cut("", left, size, before)
    return groups or [Group("", ())]


def pages_of(groups: Sequence[Group], before: Sequence[Page] = ()) -> list[Page]:
    """The pages of all groups; numbers that were in use stay with their clusters."""
    pages: list[Page] = []
    free = _free_numbers(before)
    claimed: set[int] = set()
    for index, group in enumerate(groups):
        members = set(group.clusters)
        ours = [page for page in before if page.number not in claimed and page.group_name == group.name]
        kept = [page for page in ours if members.intersection(page.clusters)]
        # An empty page is as good as a new one.
        kept += [page for page in ours if not page.clusters]
        parts = fill(group.clusters, [page.clusters for page in kept], PAGE_SIZE) or [[]]
        claimed.update(page.number for number, page in enumerate(kept) if page.clusters or number < len(parts))
        for order, clusters in enumerate(parts):
            number = kept[order].number if order < len(kept) else next(free)
            pages.append(Page(number, index, group.name, tuple(clusters)))
    return _compact(pages, before)


def fill(names: Sequence[str], before: Sequence[Sequence[str]], size: int) -> list[list[str]]:
    """Names in bins of `size`: each stays in its bin if it can; the rest goes into holes, then into new bins."""
    needed = -(-len(names) // size)
    wanted = set(names)
    bins: list[list[str]] = []
    placed: set[str] = set()
    for earlier in before[:needed]:
        stay = sorted(name for name in earlier if name in wanted and name not in placed)[:size]
        placed.update(stay)
        bins.append(stay)
    bins += [[] for _ in range(needed - len(bins))]
    rest = sorted(wanted - placed, reverse=True)
    for each in bins:
        while rest and len(each) < size:
            each.append(rest.pop())
        each.sort()
    return bins


def _cut(name: str, members: list[str], size: int, before: Sequence[Page]) -> list[Group]:
    """A group that is too large becomes several; who was together stays together."""
    earlier: dict[int, list[str]] = {}
    for page in before:
        if page.group_name == name:
            earlier.setdefault(page.group_index, []).extend(page.clusters)
    parts = fill(members, [earlier[index] for index in sorted(earlier)], size)
    return [Group(name, tuple(each)) for each in parts]


def _free_numbers(before: Sequence[Page]) -> Iterator[int]:
    """Numbers nobody uses, lowest first."""
    used = {page.number for page in before}
    number = 0
    while True:
        number += 1
        if number not in used:
            yield number


def _compact(pages: list[Page], before: Sequence[Page]) -> list[Page]:
    """A lone empty page is number 1, or the page that is there already."""
    if len(pages) == 1 and not pages[0].clusters:
        number = before[0].number if before else 1
        return [Page(number, 0, pages[0].group_name, ())]
    return pages
