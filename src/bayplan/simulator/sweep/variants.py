"""
A cluster as a scenario wants it: without some nodes, with other sizes of workloads.

``scenario_run`` calls these on what was given; each gives a new ``Given`` and leaves the old one alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from msgspec.structs import replace as changed

from bayplan.errors import InputError
from bayplan.framework.config.mistakes import did_you_mean
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.objects.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet
from bayplan.simulator.loading import Given
from bayplan.simulator.what_if.chosen_nodes import chosen_nodes

Scalable = Deployment | ReplicaSet | ReplicationController | StatefulSet


def without_nodes(given: Given, which: str) -> Given:
    """The node of that name, or those that a selector selects, are not there; what ran on them is lost."""
    nodes = {each.name: each for each in given.objects if isinstance(each, Node)}
    gone = {each.name for each in chosen_nodes(which, nodes, "grid.outage")}
    left = [each for each in given.objects if not (isinstance(each, Node) and each.name in gone)]
    return replace(given, objects=left)


def scaled(given: Given, by: float | Mapping[str, int]) -> Given:
    """Workloads with more or fewer replicas: all of them by a factor, or some to a number."""
    own = [each for each in given.objects if isinstance(each, Scalable) and each.controller is None]
    if isinstance(by, Mapping):
        wanted = {id(_found(own, name)): replicas for name, replicas in by.items()}
    else:
        if not own:
            raise InputError("there is no workload to scale", field="grid.scale", fix="give it files with workloads")
        wanted = {id(each): int(_replicas(each) * by + 0.5) for each in own}
    # What runs already is scaled as a person would do it: by telling the controller.
    has_pods = any(isinstance(each, Pod) and each.controller is not None for each in given.objects)
    resized = {id(each): _resized(each, wanted[id(each)]) for each in own if id(each) in wanted}
    if has_pods:
        return replace(given, later=[*((0.0, each) for each in resized.values()), *given.later])
    return replace(given, objects=[resized.get(id(each), each) for each in given.objects])


def _found(workloads: list[Scalable], name: str) -> Scalable:
    kind, _, called = name.partition("/")
    named = [
        each
        for each in workloads
        if kinds.kind_of(each).lower() == _long(kind.lower()) and called in (each.name, f"{each.namespace}/{each.name}")
    ]
    if len(named) == 1:
        return named[0]
    known = [f"{kinds.kind_of(each).lower()}/{each.name}" for each in workloads]
    hint = did_you_mean(name, known) or (f"; there are {', '.join(known[:5])}" if known else "")
    problem = f'there is no workload "{name}"{hint}' if not named else f'there are {len(named)} called "{name}"'
    raise InputError(problem, field="grid.scale", fix="write KIND/NAMESPACE/NAME" if named else "")


def _long(kind: str) -> str:
    short = {"deploy": "deployment", "sts": "statefulset", "rs": "replicaset", "rc": "replicationcontroller"}
    return short.get(kind.removesuffix("s") if kind.endswith(("ments", "sets")) else kind, kind)


def _replicas(workload: Scalable) -> int:
    return 1 if workload.spec.replicas is None else workload.spec.replicas


def _resized(workload: Scalable, replicas: int) -> ApiObject:
    return changed(workload, spec=changed(workload.spec, replicas=replicas))
