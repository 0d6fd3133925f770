"""What a filter and a scorer of clusters are: the whole table in, one answer a row out.

The filters and prioritizers in `plugins/` are of these classes; `registry` lists them. Both also answer for single
rows, so that one cluster's change costs one row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar, TypeAlias

from bayplan.placement.fleet import Fleet
from bayplan.placement.plan import Plan
from bayplan.placement.table import FOREVER, Mask, Numbers, SmallNumbers

MAX_SCORE = 100

Rows: TypeAlias = Numbers | slice
ALL = slice(None)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What a filter says of a cluster; all placements that filter alike share it."""

    passes: bool = True
    passes_if_chosen: bool = True
    is_avoided: bool = False
    """Whether it is taken only after all others."""
    until: float = FOREVER


PASSED, DROPPED = Verdict(), Verdict(False, False)


@dataclass(slots=True)
class Moment:
    """What filters and scorers may know beside the plan and the fleet."""

    now: float
    incumbents: Mask
    """What the placement has."""
    eligible: Mask
    others: Numbers
    """Rows that other placements of the spread group have."""
    until: float = FOREVER
    """When an answer that was given will no longer hold; whoever gives such an answer lowers it."""
    warnings: list[str] = field(default_factory=list)
    counted: Mask | None = None
    """What of the placement's own is in the fleet's counts, where that is not what it has."""


class ClusterFilter(ABC):
    """Which clusters may be chosen."""

    name: ClassVar[str]

    @abstractmethod
    def filter(self, plan: Plan, fleet: Fleet, mask: Mask, moment: Moment) -> Mask:
        """Those of `mask` that pass."""

    @abstractmethod
    def filter_row(self, plan: Plan, fleet: Fleet, row: int, now: float) -> Verdict:
        """The same for one row."""


@dataclass(slots=True)
class Earlier:
    """What a scorer said before, and what has changed since."""

    scale: object
    scores: SmallNumbers | None
    """All scores, for a scorer that `is_kept`."""
    changed: list[int]
    """Rows with another cluster, or another answer of the filters."""
    recounted: Numbers
    """Rows that another number of placements have, and those that changed."""


class ClusterScorer(ABC):
    """How good each cluster is, from -100 to 100; rows that are not eligible may hold anything."""

    name: ClassVar[str]
    is_kept: ClassVar[bool] = False
    """Whether scores hang on clusters alone, not on who has them, so that earlier ones are worth keeping.

    Clusters that are not eligible must score 0 then.
    """

    def scale(self, plan: Plan, fleet: Fleet, moment: Moment, earlier: Earlier | None = None) -> object:
        """What the scores of all clusters hang on, such as the largest; while it stays, only rows that change count."""
        return None

    @abstractmethod
    def score(self, plan: Plan, fleet: Fleet, moment: Moment, scale: object, rows: Rows = ALL) -> Numbers:
        """The scores of some rows."""

    def score_all(self, plan: Plan, fleet: Fleet, moment: Moment) -> Numbers:
        return self.score(plan, fleet, moment, self.scale(plan, fleet, moment))
