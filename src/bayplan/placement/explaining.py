"""Everything about one decision as a document: filter steps, scores, spread counts, conditions.

`bayplan place` prints it and the hub serves it. It works everything out again from the evaluation it is given and
changes nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import msgspec
import numpy as np

from bayplan.placement import conditions, decision_groups, domains, replica_division
from bayplan.placement.evaluation import NO_ROWS, Evaluation
from bayplan.placement.plugin import Moment
from bayplan.placement.registry import filters_of, scorer_of
from bayplan.placement.table import Numbers, grown

API_VERSION, KIND = "bayplan.io/v1alpha1", "PlacementResult"

Document = dict[str, Any]


def explain(evaluation: Evaluation, now: float, others: Numbers = NO_ROWS) -> Document:
    """The whole story of a placement as it stands."""
    plan, table = evaluation.plan, evaluation.fleet.table
    names = evaluation.names()
    document: Document = {
        "apiVersion": API_VERSION,
        "kind": KIND,
        "placement": {"namespace": plan.namespace, "name": plan.placement.name},
    }
    groups = decision_groups.groups_of(plan, table, names)
    group_of = {name: group.name for group in groups for name in group.clusters}
    incumbents = grown(evaluation.incumbents, table.capacity)
    moment = Moment(now, incumbents, evaluation.eligible, others, counted=evaluation.chosen)
    filters = [] if evaluation.problem else _filters(evaluation, moment)
    scores, totals = ([], {}) if evaluation.failure else _scores(evaluation, moment)
    document["decisions"] = [
        {"clusterName": name, "reason": reason(evaluation, name), "score": totals.get(name, 0), "group": group_of[name]}
        for name in names
    ]
    if plan.replicas is not None:
        division = replica_division.divide(plan.replicas, table, names)
        for each in document["decisions"]:
            each["replicas"] = division.replicas[each["clusterName"]]
        document["unassignedReplicas"] = division.unassigned
    document["unscheduled"] = evaluation.outcome.unscheduled
    document["conditions"] = [
        {name: value for name, value in msgspec.to_builtins(each).items() if value}
        for each in conditions.conditions_of(evaluation)
    ]
    document["filters"] = filters
    document["scores"] = scores
    document["spread"] = spread_report(evaluation)
    document["groups"] = [{"name": group.name, "clusters": len(group.clusters)} for group in groups]
    return document


def reason(evaluation: Evaluation, name: str) -> str:
    """Where a chosen cluster stands in the spread policy; "" without one. It changes only when the cluster does."""
    table = evaluation.fleet.table
    row = table.row_of[name]
    told = []
    for level in evaluation.plan.levels:
        column = table.column(level.key)
        told.append(f"{level.key[1]}={column.values[column.ids[row]] or '<none>'}")
    return ", ".join(told)


def unmatched(evaluation: Evaluation) -> Iterator[str]:
    """What the constraints name and no cluster has: it may be misspelt, or there later."""
    table = evaluation.fleet.table
    for level in evaluation.plan.levels if table.row_of else ():
        kind, name = level.key
        values = {*table.column(level.key).values} - {""}
        if not values:
            yield f"the constraint over {name} spreads nothing: no cluster has the {kind.lower()} {name}"
            continue
        for value in level.weights:
            if value not in values:
                yield f"the weight of {value} has no effect: no cluster has {name}={value}"


def _filters(evaluation: Evaluation, moment: Moment) -> list[Document]:
    plan, fleet = evaluation.plan, evaluation.fleet
    mask = fleet.members(evaluation.sets)
    steps = []
    for each in filters_of(plan):
        if each.name == "Spread" and not any(level.is_hard for level in plan.levels):
            continue
        kept = each.filter(plan, fleet, mask, moment)
        gone = sorted(fleet.table.name(row) for row in np.flatnonzero(mask & ~kept).tolist())
        step = {"name": each.name, "kept": int(kept.sum()), "dropped": len(gone)}
        steps.append(step | ({"droppedClusters": gone} if gone else {}))
        mask = kept
    return steps


def _scores(evaluation: Evaluation, moment: Moment) -> tuple[list[Document], dict[str, int]]:
    plan, fleet = evaluation.plan, evaluation.fleet
    rows = sorted(np.flatnonzero(evaluation.eligible).tolist(), key=fleet.table.name)
    names = [fleet.table.name(row) for row in rows]
    totals = dict.fromkeys(names, 0)
    listed = []
    for coordinate, weight in plan.weights:
        given = scorer_of(plan, coordinate).score_all(plan, fleet, moment)[rows].tolist() if rows else []
        by_name = dict(zip(names, given, strict=True))
        listed.append({"name": coordinate.name, "weight": weight, "scores": by_name})
        for name, score in by_name.items():
            totals[name] += weight * score
    return listed, totals


def spread_report(evaluation: Evaluation) -> list[Document]:
    """For every constraint: how many are in each domain, how uneven that is, how many could be placed, what blocks."""
    plan = evaluation.plan
    if not plan.levels or plan.is_misconfigured:
        return []
    found = domains.report(evaluation)
    listed = []
    for level, each in zip(plan.levels, found.levels, strict=True):
        listed.append(
            {
                "topologyKey": level.key[1],
                "maxSkew": level.max_skew,
                "whenUnsatisfiable": "DoNotSchedule" if level.is_hard else "ScheduleAnyway",
                "scope": "Flat" if plan.is_flat else "Nested",
                **({"minDomains": level.min_domains} if level.min_domains > 1 else {}),
                **({"weights": dict(level.weights)} if level.weights else {}),
                "counts": each.counts,
                "eligible": each.eligible,
                **({"others": each.others} if each.others else {}),
                "skew": each.skew,
                "exceeded": each.skew > level.max_skew,
                "satisfiable": found.ceiling,
                "blocking": each.blocking.name if each.blocking else None,
            }
        )
    return listed
