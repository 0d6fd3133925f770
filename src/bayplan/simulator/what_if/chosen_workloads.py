"""
Which workload a person means by ``deploy/web`` or ``deploy/shop/web``, and the same workload in another size.

``checking`` (``what-if``) and ``simulator.sweep.variants`` (``grid.scale``) ask.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.meta import ApiObject
from bayplan.objects.workload import ReplicaSet, Scalable
from bayplan.simulator.explain.subject import Subject, missing
from bayplan.simulator.object_store import StoredObjects


def named_objects(
    what: Subject, stored: StoredObjects, namespace: str, field: str, known: Iterable[Subject] = ()
) -> list[ApiObject]:
    """
    The object itself; of a Deployment that was not read, its ReplicaSets, the newest last.

    Args:
        namespace: where it is if that is not written; "" for wherever there is just one.
        known: what else may have been meant.
    """
    space = what.namespace or namespace or _only_namespace(what, stored, field)
    thing = stored.get(what.kind, space, what.name)
    if thing is not None:
        return [thing]
    if what.kind == "Deployment":
        named = (stored.get(*key) for key in stored if key[:2] == ("ReplicaSet", space))
        sets = [each for each in named if each.controller is not None and each.controller.name == what.name]
        if sets:
            return sorted(sets, key=lambda each: (bool(each.spec.replicas), each.metadata.creation_timestamp or ""))
    told = missing(Subject(what.kind, space, what.name), {*known, *(Subject(*key) for key in stored)})
    raise InputError(told.problem.replace('" with pods in', '" in'), field=field)


def scalable(
    what: Subject, stored: StoredObjects, namespace: str, field: str, known: Iterable[Subject] = ()
) -> Scalable:
    """The workload whose size can be set."""
    thing = named_objects(what, stored, namespace, field, known)[-1]
    if not isinstance(thing, Scalable):
        problem = f"a {kinds.kind_of(thing)} has no size of its own"
        raise InputError(problem, field=field, fix="scale a deployment, statefulset or replicaset")
    refuse_owned(thing, stored, field)
    return thing


def refuse_owned(thing: ApiObject, stored: StoredObjects, field: str) -> None:
    """Who looks after it would undo the change at once."""
    owner = thing.controller
    if not isinstance(thing, ReplicaSet) or owner is None:
        return
    if stored.get(owner.kind, thing.namespace, owner.name) is not None:
        problem = f"ReplicaSet {thing.key} belongs to {owner.kind} {owner.name}, which would undo it"
        raise InputError(problem, field=field, fix=f"name {owner.kind.lower()}/{owner.name}")


def resized(thing: Scalable, replicas: int) -> Scalable:
    changed: Scalable = thing.evolve(spec=replace(thing.spec, replicas=replicas))
    return changed


def _only_namespace(what: Subject, stored: StoredObjects, field: str) -> str:
    spaces = [namespace for kind, namespace, name in stored if (kind, name) == (what.kind, what.name)]
    if len(spaces) > 1:
        problem = f'there are {len(spaces)} called "{what.kind.lower()}/{what.name}"'
        raise InputError(problem, field=field, fix="write KIND/NAMESPACE/NAME")
    return spaces[0] if spaces else "default"
