"""
What changes mean in a cluster: names become objects, and what cannot be is told in one line each.

``scenario`` calls ``resolve`` before anything is changed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from bayplan.errors import InputError, InputErrors
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.simulator.explain.explanation import known_subjects
from bayplan.simulator.explain.subject import POD
from bayplan.simulator.sizing import MOST_NODES, MOST_PODS
from bayplan.simulator.what_if import chosen_workloads
from bayplan.simulator.what_if.changes import Add, Change, Delete, Drain, Reconfigure, Remove, Scale
from bayplan.simulator.what_if.chosen_nodes import chosen_nodes, named_node
from bayplan.simulator.world import World


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
                count = sum(add.count for add, _ in meant.added)
                if count > MOST_NODES:
                    problem = f"{count} nodes are too many to simulate"
                    raise InputError(problem, field="--add", fix=f"write at most {MOST_NODES} in all")
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
        store = self._world.cluster.objects
        thing = chosen_workloads.scalable(change.what, store, self._namespace, "--scale", known_subjects(self._world))
        return chosen_workloads.resized(thing, change.replicas)

    def _deleted(self, change: Delete) -> list[ApiObject]:
        what, store = change.what, self._world.cluster.objects
        if what.kind == POD:
            pod = self._world.cluster.pod(f"{what.namespace or self._namespace}/{what.name}")
            if pod is not None:
                return [pod]
        known = known_subjects(self._world)
        found = chosen_workloads.named_objects(what, store, self._namespace, "--delete", known)
        for each in found:
            chosen_workloads.refuse_owned(each, store, "--delete")
        return found


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
