"""The domains of a placement's spread constraints: who is where, and which one is in the way of more.

`explaining` reports them, and `conditions` names the one that blocks.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bayplan.placement.scheduling import Evaluation
from bayplan.placement.table import ABSENT


@dataclass(frozen=True, slots=True)
class Domains:
    """The domains of one level: chosen and eligible clusters of each, and which ones are compared with each other."""

    counts: dict[str, int]
    eligible: dict[str, int]
    siblings: Mapping[str, Sequence[str]]


def domains_of(evaluation: Evaluation, depth: int) -> Domains:
    plan, table = evaluation.plan, evaluation.fleet.table
    columns = [table.column(level.key) for level in plan.levels[: depth + 1]]
    rows = np.flatnonzero(evaluation.eligible & (columns[-1].ids != ABSENT))
    paths = {int(row): tuple(column.values[column.ids[row]] for column in columns) for row in rows}
    if plan.is_flat:
        paths = {row: path[-1:] for row, path in paths.items()}
    ends = Counter(path[-1] for path in set(paths.values()))
    title = {path: path[-1] if ends[path[-1]] == 1 else "/".join(path) for path in set(paths.values())}
    eligible = Counter(title[path] for path in paths.values())
    counts = Counter({title[path]: 0 for path in sorted(set(paths.values()))})
    counts.update(title[path] for row, path in paths.items() if evaluation.chosen[row])
    siblings: dict[str, list[str]] = {}
    for path in sorted(title):
        siblings.setdefault("/".join(path[:-1]), []).append(title[path])
    return Domains(dict(counts), {name: eligible[name] for name in counts}, siblings)


def blocking(evaluation: Evaluation, depth: int, found: Domains | None = None) -> str | None:
    """The full domain of a hard level that keeps its siblings from growing, if clusters are missing."""
    level = evaluation.plan.levels[depth]
    if not evaluation.outcome.unscheduled or not level.is_hard:
        return None
    found = found or domains_of(evaluation, depth)
    counts, eligible = found.counts, found.eligible
    for names in found.siblings.values():
        lowest = min(names, key=lambda name: (eligible[name], name))
        limit = counts[lowest] + level.max_skew
        is_held = any(counts[name] < eligible[name] and counts[name] >= limit for name in names)
        if is_held and counts[lowest] == eligible[lowest]:
            return lowest
    return None
