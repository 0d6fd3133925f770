"""
What changes mean in a cluster: names become objects, and what cannot be is told in one line each.

``scenario`` calls ``resolve`` before anything is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace

from bayplan.errors import InputError, InputErrors
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet
from bayplan.simulator.explain.explanation import known_subjects
from bayplan.simulator.explain.subject import POD, Subject, missing
from bayplan.simulator.sizing import MOST_PODS
from bayplan.simulator.what_if.changes import Add, Change, Delete, Drain, Reconfigure, Remove, Scale
from bayplan.simulator.what_if.chosen_nodes import chosen_nodes, named_node
from bayplan.simulator.world import World

_SCALABLE = Deployment | ReplicaSet | ReplicationController | StatefulSet


@dataclass(slots=True)
class Meant:
    """Changes as objects of the cluster."""

    added: list[tuple[Add, Node]] = field(default_factory=list)
    """With the node that the new ones are like; for a template, the template."""
    deleted: list[ApiObject] = field(default_factory=list)
    scaled: list[ApiObject] = field(default_factory=list)
    """Workloads as they are from then on."""
    removed: dict[str, Node] = field(default_factory=dict)
    drained: dict[str, Node] = field(default_factory=dict)


def resolve(
    world: World, changes: Sequence[Change], templates: dict[str, Node], coming: Sequence[ApiObject], namespace: str
) -> Meant:
    """
    What is meant, or ``InputError`` (``InputErrors`` for several).

    Args:
        templates: nodes by the file that describes them.
        coming: what is applied.
        namespace: where a workload is that is named without one.
    """
    search = _Search(world, templates, namespace)
    mistakes: list[InputError] = []
    for each in changes:
        try:
            search.take(each)
        except InputError as error:
            mistakes.append(error)
    if not mistakes:
        mistakes = list(_contradictions(search.meant, changes, coming))
    if mistakes:
        raise mistakes[0] if len(mistakes) == 1 else InputErrors(mistakes)
    return search.meant


class _Search:
    def __init__(self, world: World, templates: dict[str, Node], namespace: str) -> None:
        self._world = world
        self._templates = templates
        self._namespace = namespace
        self.meant = Meant()

    def take(self, change: Change) -> None:
        meant = self.meant
        match change:
            case Add():
                like = self._templates[change.template] if change.template else self._node(change.like, "--like")
                meant.added.append((change, like))
            case Delete():
                meant.deleted += self._deleted(change)
            case Scale():
                meant.scaled.append(self._scaled(change))
            case Remove():
                meant.removed |= {
                    node.name: node for node in chosen_nodes(change.which, self._world.workloads.nodes, "--remove")
                }
            case Drain():
                node = self._node(change.node, "--drain")
                if node.name in meant.drained:
                    raise InputError(f"{node.name} is drained twice", field="--drain", fix="leave one of them out")
                meant.drained[node.name] = node

    # -- nodes --

    def _node(self, name: str, field: str) -> Node:
        return named_node(name, self._world.workloads.nodes, field)

    # -- workloads and other objects --

    def _scaled(self, change: Scale) -> ApiObject:
        if change.replicas > MOST_PODS:
            problem = f"{change.replicas} pods are too many to simulate"
            raise InputError(problem, field="--scale", fix=f"write at most {MOST_PODS}")
        found = self._found(change.what, "--scale")
        thing = found[-1]
        if not isinstance(thing, _SCALABLE):
            problem = f"a {kinds.kind_of(thing)} has no size of its own"
            raise InputError(problem, field="--scale", fix="scale a deployment, statefulset or replicaset")
        self._refuse_owned(thing, "--scale")
        resized: ApiObject = thing.evolve(spec=replace(thing.spec, replicas=change.replicas))
        return resized

    def _deleted(self, change: Delete) -> list[ApiObject]:
        found = self._found(change.what, "--delete")
        for each in found:
            self._refuse_owned(each, "--delete")
        return found

    def _refuse_owned(self, thing: ApiObject, field: str) -> None:
        """Who looks after it would undo the change at once."""
        owner = thing.controller
        if not isinstance(thing, ReplicaSet) or owner is None:
            return
        if self._world.cluster.objects.get(owner.kind, thing.namespace, owner.name) is not None:
            problem = f"ReplicaSet {thing.key} belongs to {owner.kind} {owner.name}, which would undo it"
            raise InputError(problem, field=field, fix=f"name {owner.kind.lower()}/{owner.name}")

    def _found(self, what: Subject, field: str) -> list[ApiObject]:
        """The object itself; of a Deployment that was not read, its ReplicaSets, the newest last."""
        world, space = self._world, what.namespace or self._namespace
        if what.kind == POD:
            pod = world.cluster.pod(f"{space}/{what.name}")
            if pod is not None:
                return [pod]
        stored = world.cluster.objects.get(what.kind, space, what.name)
        if stored is not None:
            return [stored]
        if what.kind == "Deployment":
            named = (
                world.cluster.objects.get(*key) for key in world.cluster.objects if key[:2] == ("ReplicaSet", space)
            )
            sets = [each for each in named if each.controller is not None and each.controller.name == what.name]
            if sets:
                return sorted(sets, key=lambda each: (bool(each.spec.replicas), each.metadata.creation_timestamp or ""))
        known = {*known_subjects(world), *(Subject(*key) for key in world.cluster.objects)}
        told = missing(Subject(what.kind, space, what.name), known)
        raise InputError(told.problem.replace('" with pods in', '" in'), field=field)


# -- what cannot be together --


def _contradictions(meant: Meant, changes: Sequence[Change], coming: Sequence[ApiObject]) -> Iterable[InputError]:
    leave = "leave one of them out"
    for name in meant.drained.keys() & meant.removed.keys():
        yield InputError(f"{name} is drained and removed", field="--drain", fix=leave)
    for add, node in meant.added:
        if add.like in meant.removed:
            yield InputError(f"{node.name} is removed, so nothing can be like it", field="--like", fix="name another")
    deleted = [_key(each) for each in meant.deleted]
    scaled = [_key(each) for each in meant.scaled]
    applied = {_key(each) for each in coming}
    for key in dict.fromkeys(scaled):
        if key in deleted:
            yield InputError(f"{_told(key)} is scaled and deleted", field="--scale", fix=leave)
        if scaled.count(key) > 1:
            yield InputError(f"{_told(key)} is scaled twice", field="--scale", fix=leave)
        if key in applied:
            yield InputError(f"{_told(key)} is scaled and applied", field="--scale", fix="write the size in the file")
    for key in dict.fromkeys(deleted):
        if key in applied:
            yield InputError(f"{_told(key)} is deleted and applied", field="--delete", fix=leave)
        if deleted.count(key) > 1:
            yield InputError(f"{_told(key)} is deleted twice", field="--delete", fix=leave)
    for each in coming:
        if isinstance(each, Node) and each.name in meant.removed.keys() | meant.drained.keys():
            yield InputError(f"node {each.name} is applied and taken away", field="--apply", fix=leave)
    if sum(isinstance(each, Reconfigure) and bool(each.config) for each in changes) > 1:
        yield InputError("there can be one new configuration", field="--with-config", fix=leave)


def _key(thing: ApiObject) -> tuple[str, str]:
    return kinds.kind_of(thing), thing.key


def _told(key: tuple[str, str]) -> str:
    return f"{key[0]} {key[1]}"
