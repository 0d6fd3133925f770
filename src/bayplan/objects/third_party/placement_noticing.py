"""Fields of a Placement that are right and have no effect here.  `loading` calls `notes` for every object."""

from __future__ import annotations

from collections.abc import Iterator

from bayplan.objects.meta import ApiObject
from bayplan.objects.third_party.placement import Placement

_ORDER = "decisions are listed by the names of their clusters, and scores are in -o json"


def notes(thing: ApiObject) -> Iterator[str]:
    """Lines about one object; most have none."""
    if isinstance(thing, Placement):
        if thing.spec.sort_by not in ("", "ClusterName"):
            yield f"spec.sortBy: {thing.spec.sort_by} has no effect: {_ORDER}"
        if thing.spec.score_rate_limit:
            yield "spec.scoreRateLimit has no effect: scores count as soon as they are there"
