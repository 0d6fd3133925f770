"""Replicas over the chosen clusters: evenly, by weights, by what fits, or into as few clusters as possible.

`bayplan place` shows the division and the hub controller writes it into annotations of the decisions. It changes as
little as it can: `before` is the last one. More replicas never take one away from a cluster, and fewer never add one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from bayplan.objects.quantity import parse
from bayplan.objects.selector import compile_label_selector
from bayplan.objects.third_party.placement import ManagedCluster
from bayplan.placement.options import AGGREGATED, CAPACITY, WEIGHTED, ReplicaOptions
from bayplan.placement.table import ClusterTable

UNLIMITED = 1 << 40


@dataclass(frozen=True, slots=True)
class Division:
    """How many replicas each cluster gets, and how many found no room."""

    replicas: Mapping[str, int]
    unassigned: int = 0

    def annotation(self, names: tuple[str, ...]) -> str:
        """What is written for the clusters of one page."""
        return json.dumps({name: self.replicas[name] for name in names if name in self.replicas}, sort_keys=True)


def divide(
    options: ReplicaOptions, table: ClusterTable, names: tuple[str, ...], before: Mapping[str, int] | None = None
) -> Division:
    """The replicas of a placement over its clusters."""
    held = {name: (before or {}).get(name, 0) for name in sorted(names)}
    rooms = _rooms(options, table, held)
    if options.strategy == AGGREGATED:
        return _aggregate(options.replicas, rooms, held)
    weights = _weights(options, table, rooms)
    shares = share(options.replicas, weights, rooms, held)
    return Division(shares, options.replicas - sum(shares.values()))


def share(number: int, weights: Mapping[str, int], rooms: Mapping[str, int], held: Mapping[str, int]) -> dict[str, int]:
    """`number` in proportion to the weights, changed from `held` by as little as the total asks for.

    Whoever is furthest below its share gets the next one, whoever is furthest above gives the next one away. Clusters
    that are new start with nothing, and are served first for that reason.
    """
    shares = {name: min(count, rooms[name]) for name, count in held.items()}
    total = sum(weights.values())
    if not total:
        return dict.fromkeys(held, 0)
    shares = {name: count if weights[name] else 0 for name, count in shares.items()}
    left = number - sum(shares.values())
    if left > len(shares) * 2:
        left -= _bulk(shares, weights, rooms, number, total)
    while left > 0:
        open_ones = [name for name in shares if weights[name] and shares[name] < rooms[name]]
        if not open_ones:
            break
        name = min(open_ones, key=lambda each: ((shares[each] + 1) / weights[each], -held[each], each))
        shares[name] += 1
        left -= 1
    while left < 0:
        taken = [name for name in shares if shares[name]]
        name = max(taken, key=lambda each: (shares[each] / weights[each], -held[each], each))
        shares[name] -= 1
        left += 1
    return shares


def _bulk(shares: dict[str, int], weights: Mapping[str, int], rooms: Mapping[str, int], number: int, total: int) -> int:
    """Give everybody the whole part of their share at once where they are below it; how many that were."""
    given = 0
    left = number - sum(shares.values())
    for name in sorted(shares):
        aim = min(number * weights[name] // total, rooms[name])
        extra = min(max(0, aim - shares[name]), left - given)
        shares[name] += extra
        given += extra
    return given


def _aggregate(number: int, rooms: Mapping[str, int], held: Mapping[str, int]) -> Division:
    """Clusters that have replicas keep them, then the roomiest are filled."""
    shares = {name: min(count, rooms[name]) for name, count in held.items()}
    left = number - sum(shares.values())
    for name in sorted(shares, key=lambda each: (-held[each], -rooms[each], each)):
        extra = max(0, min(left, rooms[name] - shares[name]))
        shares[name] += extra
        left -= extra
    for name in sorted(shares, key=lambda each: (held[each], rooms[each], each)):
        fewer = min(max(0, -left), shares[name])
        shares[name] -= fewer
        left += fewer
    return Division(shares, left)


def _rooms(options: ReplicaOptions, table: ClusterTable, names: Mapping[str, int]) -> dict[str, int]:
    """How many replicas fit into each cluster."""
    if options.strategy not in (CAPACITY, AGGREGATED):
        return dict.fromkeys(names, UNLIMITED)
    rooms = {}
    for name in names:
        room = UNLIMITED
        cluster = table.clusters[table.row_of[name]]
        for resource, needed in (options.requests or {}).items():
            given = _given(cluster, resource)
            room = min(room, max(0, int(given // parse(needed)))) if parse(needed) else room
        if options.score is not None:
            column = table.score_column(options.score.resource_name, options.score.score_name)
            room = min(room, max(0, int(column.values[table.row_of[name]])))
        rooms[name] = room
    return rooms


def _given(cluster: ManagedCluster | None, resource: str) -> Fraction:
    """What a cluster can give; an amount that is none counts as nothing, so that one odd object does not stop a hub."""
    try:
        return parse((cluster.status.allocatable or {}).get(resource, 0) if cluster else 0)
    except ValueError:
        return Fraction(0)


def _weights(options: ReplicaOptions, table: ClusterTable, rooms: Mapping[str, int]) -> dict[str, int]:
    if options.strategy == CAPACITY:
        return dict(rooms)
    if options.strategy != WEIGHTED:
        return dict.fromkeys(rooms, 1)
    chosen = [(compile_label_selector(each.selector), each.weight) for each in options.weights or ()]
    weights = {}
    for name in rooms:
        cluster = table.clusters[table.row_of[name]]
        labels = {} if cluster is None else cluster.labels
        weights[name] = next((weight for selector, weight in chosen if selector.matches(labels)), 0)
    return weights
