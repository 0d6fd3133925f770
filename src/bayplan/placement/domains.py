"""The domains of a placement's spread constraints: who is where, how far apart they are, and what blocks more.

`explaining` reports them, and `conditions` names what blocks. The numbers are those that the choice was made with.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil

from bayplan.placement import flat_spread, nested_spread
from bayplan.placement.evaluation import Evaluation
from bayplan.placement.evenness import Group
from bayplan.placement.plan import Level

_PARTS = 100


@dataclass(frozen=True, slots=True)
class Blocking:
    """What keeps the other domains of a level from growing: one that is full, or that there are too few."""

    domain: str = ""
    found: int = 0
    wanted: int = 0

    @property
    def name(self) -> str:
        return self.domain or f"minDomains ({self.found} of {self.wanted})"

    def about(self, key: str) -> str:
        if self.domain:
            return f"as {key} {self.domain} is full"
        return f"as {key} has {self.found} of the {self.wanted} domains that minDomains asks for"


@dataclass(frozen=True, slots=True)
class Domains:
    """The domains of one level."""

    counts: dict[str, int]
    eligible: dict[str, int]
    others: dict[str, int]
    """What other placements of the group have there."""
    skew: int | float
    blocking: Blocking | None


@dataclass(frozen=True, slots=True)
class Report:
    """All levels, and how many clusters could be placed at all."""

    levels: list[Domains]
    ceiling: int


def report(evaluation: Evaluation) -> Report:
    """How the domains of a placement stand."""
    plan = evaluation.plan
    topology = evaluation.fleet.table.topology(plan.topology_keys)
    who = evaluation.candidates(evaluation.others)
    if plan.is_flat:
        ceiling = evaluation.outcome.ceiling
        found = [[group] for group in flat_spread.groups(plan.levels, topology, who)]
        reached = evaluation.outcome.selected if ceiling is None else ceiling
    else:
        tree = nested_spread.Tree(plan.levels, topology, who)
        reached = tree.ceiling
        found = [tree.groups(depth) for depth in range(len(plan.levels))]
    is_short = evaluation.missing > 0
    levels = [_domains(level, groups, is_short) for level, groups in zip(plan.levels, found, strict=True)]
    return Report(levels, reached)


def skew_of(level: Level, gap: int) -> int | float:
    """A gap between heights as a number of clusters; where weights make parts of one, rounded up."""
    exact = Fraction(gap, level.unit)
    return int(exact) if exact.denominator == 1 else ceil(exact * _PARTS) / _PARTS


def _domains(level: Level, groups: list[Group], is_short: bool) -> Domains:
    title = _titles(groups)
    every = sorted((domain for group in groups for domain in group.domains), key=lambda domain: domain.path)
    blocking = (_blocking(level, group, title) for group in groups) if is_short and level.is_hard else ()
    return Domains(
        {title[each.path]: each.chosen for each in every},
        {title[each.path]: each.eligible for each in every},
        {title[each.path]: each.others for each in every if each.others},
        skew_of(level, max((group.gap for group in groups), default=0)),
        next(filter(None, blocking), None),
    )


def _titles(groups: list[Group]) -> Mapping[tuple[str, ...], str]:
    """The last value of each path, and the whole path where that is not enough to tell them apart."""
    paths = [domain.path for group in groups for domain in group.domains]
    ends = Counter(path[-1] for path in paths)
    return {path: path[-1] if ends[path[-1]] == 1 else "/".join(path) for path in paths}


def _blocking(level: Level, group: Group, title: Mapping[tuple[str, ...], str]) -> Blocking | None:
    """Why no domain of a group takes another cluster, if some could but for this level."""
    if not group.is_full or not any(domain.is_held for domain in group.domains):
        return None
    if len(group.domains) < level.min_domains:
        return Blocking(found=len(group.domains), wanted=level.min_domains)
    lowest = min(group.domains, key=lambda domain: (domain.height, title[domain.path]))
    return Blocking(title[lowest.path])
