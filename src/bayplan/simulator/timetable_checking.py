"""
What cannot come, change or go in the middle of a simulation.  ``loading`` asks, where it still knows file and line.

Whatever passes here is played by ``timed_changes``; nothing is passed over in silence.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
from msgspec.structs import replace

from bayplan.errors import InputError
from bayplan.objects import kinds
from bayplan.objects.files.manifests import AT, UNTIL
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PriorityClass, RuntimeClass
from bayplan.objects.volume import PersistentVolume, PersistentVolumeClaim
from bayplan.objects.workload import DaemonSet, Deployment, Job, ReplicaSet, ReplicationController, StatefulSet
from bayplan.simulator.controllers.volumes import Held

Moments = Iterable[tuple[float, ApiObject]]
Found = Iterator[tuple[ApiObject, InputError]]

_SCALABLE = Deployment | ReplicaSet | ReplicationController | StatefulSet


def timetable_mistakes(objects: Iterable[ApiObject], later: Moments, ends: Moments) -> Found:
    """Each object whose moment makes no sense, or whose change would not be played."""
    known = {_key(each): (0.0, each) for each in objects}
    later = list(later)
    for after_s, thing in later:
        problem = _no_coming(thing, known.get(_key(thing)))
        if problem is not None:
            yield thing, problem
        known[_key(thing)] = after_s, thing
    for after_s, thing in ends:
        came_at = next((at for at, each in later if each is thing), 0.0)
        if isinstance(thing, Held | PriorityClass | RuntimeClass):
            yield (
                thing,
                _wrong(UNTIL, f"a {kinds.kind_of(thing)} cannot go in a simulation", "leave the annotation out"),
            )
        elif after_s <= came_at:
            yield thing, _wrong(UNTIL, "it would go before it comes", f"write more than {came_at:g}s")


def _no_coming(thing: ApiObject, before: tuple[float, ApiObject] | None) -> InputError | None:
    kind = kinds.kind_of(thing)
    if isinstance(thing, PriorityClass | RuntimeClass):
        fix = "leave the annotation out; pods that name it may come later"
        return _wrong(AT, f"a {kind} cannot come later: it is read when pods are", fix)
    if before is None:
        return None
    old = before[1]
    if isinstance(thing, DaemonSet | Job | PersistentVolume | PersistentVolumeClaim):
        return _wrong(AT, f"a {kind} can come later, but not change", "give it another name or leave it out")
    if isinstance(thing, _SCALABLE) and isinstance(old, type(thing)):
        changed = _changed({**_fields(old.spec), "replicas": 0}, {**_fields(thing.spec), "replicas": 0})
        if changed:
            fix = "write the rest as it was, or a workload of another name"
            return _wrong(f"spec.{changed}", f"of a {kind} only replicas can change in a simulation", fix, raw=True)
    if isinstance(thing, Pod) and isinstance(old, Pod):
        changed = _changed(_fields(_fixed(old)), _fields(_fixed(thing)))
        if changed:
            problem = "of a pod only labels, annotations, tolerations and schedulingGates can change"
            return _wrong(f"spec.{changed}", problem, "write the rest as it was", raw=True)
        if thing.is_terminal and not old.is_terminal:
            fix = f"leave it out, and say with {UNTIL} when the pod goes"
            return _wrong("status.phase", "a pod does not end in a simulation", fix, raw=True)
    return None


def _fixed(pod: Pod) -> Any:
    """What an API server keeps as it is."""
    return replace(pod.spec, tolerations=None, scheduling_gates=None)


def _fields(value: Any) -> dict[str, Any]:
    fields: dict[str, Any] = msgspec.to_builtins(value)
    return fields


def _changed(old: dict[str, Any], new: dict[str, Any]) -> str:
    """The first field that is not the same; "" if all are."""
    return next((name for name in {**old, **new} if old.get(name) != new.get(name)), "")


def _wrong(field: str, problem: str, fix: str, *, raw: bool = False) -> InputError:
    return InputError(problem, field=field if raw else f"metadata.annotations[{field}]", fix=fix)


def _key(thing: ApiObject) -> tuple[str, str, str]:
    return kinds.kind_of(thing), thing.namespace, thing.name
