"""
A cluster as a scenario wants it: without some nodes, with other sizes of workloads.

``scenario_run`` calls these on what was given; each gives a new ``Given`` and leaves the old one alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from bayplan.errors import InputError
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Scalable
from bayplan.simulator.loading import Given
from bayplan.simulator.object_store import StoredObjects
from bayplan.simulator.what_if.changes import read_subject
from bayplan.simulator.what_if.chosen_nodes import chosen_nodes
from bayplan.simulator.what_if.chosen_workloads import resized, scalable

_FIELD = "grid.scale"


def without_nodes(given: Given, which: str) -> Given:
    """The node of that name, or those that a selector selects, are not there; what ran on them is lost."""
    nodes = {each.name: each for each in given.objects if isinstance(each, Node)}
    gone = {each.name for each in chosen_nodes(which, nodes, "grid.outage")}
    left = [each for each in given.objects if not (isinstance(each, Node) and each.name in gone)]
    return replace(given, objects=left)


def scaled(given: Given, by: float | Mapping[str, int]) -> Given:
    """Workloads with more or fewer replicas: all of them by a factor, or some to a number."""
    own: list[Scalable] = [each for each in given.objects if isinstance(each, Scalable) and each.controller is None]
    if isinstance(by, Mapping):
        stored = StoredObjects(each for each in given.objects if not isinstance(each, Node | Pod))
        found = [(scalable(read_subject(name, _FIELD), stored, "", _FIELD), size) for name, size in by.items()]
        wanted = {id(each): replicas for each, replicas in found}
        own = [each for each, _ in found]
    else:
        if not own:
            raise InputError("there is no workload to scale", field=_FIELD, fix="give it files with workloads")
        wanted = {id(each): int(_replicas(each) * by + 0.5) for each in own}
    # What runs already is scaled as a person would do it: by telling the controller.
    has_pods = any(isinstance(each, Pod) and each.controller is not None for each in given.objects)
    changed: dict[int, ApiObject] = {id(each): resized(each, wanted[id(each)]) for each in own}
    if has_pods:
        return replace(given, later=[*((0.0, each) for each in changed.values()), *given.later])
    return replace(given, objects=[changed.get(id(each), each) for each in given.objects])


def _replicas(workload: Scalable) -> int:
    return 1 if workload.spec.replicas is None else workload.spec.replicas
