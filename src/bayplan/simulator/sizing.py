"""
How many pods workloads ask for: a simulation that memory cannot hold is refused before it begins.

``world`` calls ``check_size``; what a what-if adds is judged by the same numbers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.workload import Deployment, Job, ReplicaSet, ReplicationController, StatefulSet

if TYPE_CHECKING:  # which reads traces, and these ask how much is too much
    from bayplan.simulator.loading import Given

MOST_PODS = 5_000_000
"""A pod takes some 4 kB, so these are 20 GB; clusters of today have a few hundred thousand."""
MOST_NODES = 100_000
"""That are added; the largest clusters of today have a tenth of it."""


def check_size(given: Given) -> None:
    """Raises ``InputError`` at the workload with which there are too many pods."""
    wanted: dict[tuple[str, str, str], int] = {}
    total = 0
    for thing, field, pods in _workloads(given):
        key = kinds.kind_of(thing), thing.namespace, thing.name
        more = max(0, pods - wanted.get(key, 0))
        wanted[key] = wanted.get(key, 0) + more
        total += more
        if total > MOST_PODS:
            raise _too_many(given, thing, field, pods, total)


def _workloads(given: Given) -> Iterator[tuple[ApiObject, str, int]]:
    """Each workload, also as it is later, with the field that says how many pods it makes."""
    for thing in (*given.objects, *(later for _, later in given.later)):
        match thing:
            case ReplicaSet() if _has_deployment(given, thing):
                continue  # which says how large it is
            case Deployment() | ReplicaSet() | ReplicationController() | StatefulSet():
                yield thing, "spec.replicas", thing.spec.replicas or 0
            case Job():
                at_once = thing.spec.parallelism or 0
                needed = at_once if thing.spec.completions is None else thing.spec.completions
                yield thing, "spec.parallelism", 0 if thing.spec.suspend else min(at_once, needed)


def _has_deployment(given: Given, thing: ReplicaSet) -> bool:
    owner = thing.controller
    return owner is not None and (owner.kind, thing.namespace, owner.name) in given.documents


def _too_many(given: Given, thing: ApiObject, field: str, pods: int, total: int) -> InputError:
    others = "" if total == pods else f", {total} together with those before,"
    wrong = InputError(
        f"{pods} pods{others} are too many to simulate", field=field, fix=f"write at most {MOST_PODS} in all"
    )
    document = given.place(thing)
    if document is None:
        return wrong.located("", 0, f"{kinds.kind_of(thing)} {thing.key}")
    return wrong.located(document.source, document.line, kinds.describe(document.raw))
