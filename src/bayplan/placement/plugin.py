"""What a filter and a scorer of clusters are: the whole table in, one answer a row out.

The filters and prioritizers in `plugins/` are of these classes; `registry` lists them. A filter also answers for one
row, so that one cluster's change costs one row.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import ClassVar

from bayplan.placement.compiling import Plan
from bayplan.placement.fleet import Fleet
from bayplan.placement.table import FOREVER, Mask, Numbers

MAX_SCORE = 100


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
    expiries: dict[int, float] = field(default_factory=dict)
    """The same for single rows of filters."""
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
    def filter_row(self, plan: Plan, fleet: Fleet, row: int, moment: Moment) -> bool:
        """The same for one row."""


class ClusterScorer(ABC):
    """How good each cluster is, from -100 to 100; rows that are not eligible may hold anything."""

    name: ClassVar[str]
    is_kept: ClassVar[bool] = False
    """Whether `adjust` may be able to do without working everything out again."""

    @abstractmethod
    def score(self, plan: Plan, fleet: Fleet, moment: Moment) -> Numbers:
        """All scores."""

    def adjust(self, plan: Plan, fleet: Fleet, moment: Moment, scores: Numbers, rows: list[int]) -> bool:
        """Bring earlier scores up to date where only `rows` changed; False if all must be worked out again."""
        return False
