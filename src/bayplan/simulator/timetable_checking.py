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
from bayplan.objects.admission.defaulting import Classes
from bayplan.objects.files.manifests import AT, UNTIL
from bayplan.objects.meta import ApiObject
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PriorityClass, RuntimeClass
from bayplan.objects.volume import PersistentVolume, PersistentVolumeClaim
from bayplan.objects.workload import Job, PodTemplateSpec, Workload
from bayplan.simulator.controllers.pod_makers import JOB_LABELS, same_template
from bayplan.simulator.controllers.volumes import Held

Moments = Iterable[tuple[float, ApiObject]]
Found = Iterator[tuple[ApiObject, InputError]]

_MUTABLE = {
    "Deployment": ("replicas", "template", "strategy", "minReadySeconds", "paused"),
    "StatefulSet": ("replicas", "template", "updateStrategy", "minReadySeconds"),
    "DaemonSet": ("template", "updateStrategy", "minReadySeconds"),
    "ReplicaSet": ("replicas", "template", "minReadySeconds"),
    "ReplicationController": ("replicas", "template"),
    "Job": ("template", "selector"),
}
"""Fields of ``spec`` whose change is played, or, of a Job, judged apart."""


def timetable_mistakes(objects: Iterable[ApiObject], later: Moments, ends: Moments) -> Found:
    """Each object whose moment makes no sense, or whose change would not be played."""
    objects = list(objects)
    classes = Classes.among(objects)
    known = {_key(each): (0.0, each) for each in objects}
    later = list(later)
    for after_s, thing in later:
        problem = _no_coming(thing, known.get(_key(thing)), classes)
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


def _no_coming(thing: ApiObject, before: tuple[float, ApiObject] | None, classes: Classes) -> InputError | None:
    kind = kinds.kind_of(thing)
    if isinstance(thing, PriorityClass | RuntimeClass):
        fix = "leave the annotation out; pods that name it may come later"
        return _wrong(AT, f"a {kind} cannot come later: it is read when pods are", fix)
    if before is None:
        return None
    old = before[1]
    if isinstance(thing, PersistentVolume | PersistentVolumeClaim):
        return _wrong(AT, f"a {kind} can come later, but not change", "give it another name or leave it out")
    if isinstance(thing, Workload) and isinstance(old, type(thing)):
        return _no_update(old, thing, classes)
    if isinstance(thing, Pod) and isinstance(old, Pod):
        changed = _changed(_fields(_fixed(old)), _fields(_fixed(thing)))
        if changed:
            problem = "of a pod only labels, annotations, tolerations and schedulingGates can change"
            return _wrong(f"spec.{changed}", problem, "write the rest as it was", raw=True)
        if thing.is_terminal and not old.is_terminal:
            fix = f"leave it out, and say with {UNTIL} when the pod goes"
            return _wrong("status.phase", "a pod does not end in a simulation", fix, raw=True)
    return None


def _no_update(old: Workload, new: Workload, classes: Classes) -> InputError | None:
    """What an API server would not let change, or what nobody would play."""
    kind = kinds.kind_of(new)
    mutable = _MUTABLE[kind]
    if isinstance(new, Job) and not same_template(_unmarked(old.spec.template), _unmarked(new.spec.template), classes):
        return _wrong("spec.template", "of a Job: field is immutable", "give the Job another name", raw=True)
    kept = [{name: value for name, value in _fields(each.spec).items() if name not in mutable} for each in (old, new)]
    changed = _changed(*kept)
    if not changed:
        return None
    told = ", ".join(mutable) if not isinstance(new, Job) else "nothing"
    fix = "write the rest as it was, or a workload of another name"
    return _wrong(f"spec.{changed}", f"of a {kind} {told} can change, and nothing else", fix, raw=True)


def _unmarked(template: PodTemplateSpec) -> PodTemplateSpec:
    """Without the labels that a server gives to a Job's template."""
    labels = {name: text for name, text in (template.metadata.labels or {}).items() if name not in JOB_LABELS}
    return replace(template, metadata=replace(template.metadata, labels=labels))


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
