"""
The cluster at the end of a simulation, as manifests: the input of the next run.

``bayplan simulate -o manifests`` prints ``heading`` and ``manifests``.  What was not changed stands there as it was
written; what was made or changed, as the scheduler knows it.  Pods that are gone are left out, and nothing is made
twice: pods name their owners, claims their volumes.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

from bayplan.objects import kinds
from bayplan.objects.admission.own_keys import ARRIVES, INTERVAL
from bayplan.objects.files.manifests import AT, UNTIL
from bayplan.objects.meta import ApiObject
from bayplan.objects.plain import PlainObject
from bayplan.objects.pod import Pod
from bayplan.objects.policy import PodDisruptionBudget
from bayplan.objects.times import format_time
from bayplan.objects.workload import Deployment, ReplicaSet, ReplicationController, StatefulSet
from bayplan.simulator.loading import Given
from bayplan.simulator.object_store import merged
from bayplan.simulator.pod_records import Record
from bayplan.simulator.timetable import Arrivals, read_delay
from bayplan.simulator.world import World

Manifest = dict[str, Any]


def manifests(world: World, given: Given) -> Manifest:
    """Everything that is there, as one ``kind: List``."""
    items = [_with_time_left(each, world.cluster.elapsed_s) for each in _items(world, given)]
    return {"apiVersion": "v1", "kind": "List", "items": items}


def _with_time_left(manifest: Manifest, elapsed_s: float) -> Manifest:
    """What goes some time after the start goes that much sooner after the end."""
    meta = manifest.get("metadata") or {}
    annotations = meta.get("annotations") or {}
    if UNTIL not in annotations:
        return manifest
    left = _seconds(read_delay(annotations[UNTIL]) - elapsed_s)
    return {**manifest, "metadata": {**meta, "annotations": {**annotations, UNTIL: left}}}


def heading(world: World) -> str:
    """A comment for the file, with a word about the time: how old things are depends on it."""
    moment = format_time(world.clock.now())
    return f"# The cluster as bayplan simulate left it.  To go on from there: --now {moment}\n"


def _items(world: World, given: Given) -> Iterator[Manifest]:
    if given.config_document is not None:
        yield given.config_document.raw
    nodes = world.scheduler.cache.nodes
    before = {(kinds.kind_of(each), each.key): each for each in given.objects}
    for each in world.scheduler.cache.objects.everything():
        yield _written(_as_large_as_it_is(each, world), given, before)
    for row in range(len(nodes)):
        yield _written(nodes.object_at(row), given, before)
    # Pods that are through are none of the scheduler's business, but Jobs count them.
    through = (each for each in given.objects if isinstance(each, Pod) and each.is_terminal)
    yield from (_written(each, given, before) for each in through)
    for record in world.cluster.records.values():
        if not record.is_gone:
            yield _pod(record.pod, given, _status(record))
    yield from _still_to_come(world, given)


def _still_to_come(world: World, given: Given) -> Iterator[Manifest]:
    """What has not happened yet, counted from the end."""
    now = world.clock.now()
    for happening in world.happenings:
        if isinstance(happening, Arrivals):
            for at, pod in happening.left():
                manifest = _pod(pod, given, {})
                manifest["metadata"].setdefault("annotations", {})[ARRIVES] = _seconds(at - now)
                yield manifest
    for after_s, thing in given.later:
        if after_s > world.cluster.elapsed_s:
            manifest = _encoded(thing)
            manifest["metadata"].setdefault("annotations", {})[AT] = _seconds(after_s - world.cluster.elapsed_s)
            yield manifest


def _seconds(seconds: float) -> str:
    return f"{round(seconds, 3):.3f}".rstrip("0").rstrip(".") + "s"


# -- one object --


def _as_large_as_it_is(thing: ApiObject, world: World) -> ApiObject:
    """A workload that was given another size on the way."""
    if isinstance(thing, Deployment | ReplicaSet | ReplicationController | StatefulSet):
        size = world.workloads.size(thing)
        if size is not None and size != thing.spec.replicas:
            changed: ApiObject = thing.evolve(spec=msgspec.structs.replace(thing.spec, replicas=size))
            return changed
    return thing


def _written(thing: ApiObject, given: Given, before: Mapping[tuple[str, str], ApiObject]) -> Manifest:
    """As it was written, with what has changed since."""
    document = given.place(thing)
    raw = {} if document is None else document.raw
    if raw and before.get((kinds.kind_of(thing), thing.key)) == thing:
        return raw
    now = _encoded(thing)
    manifest: Manifest = {**merged(copy.deepcopy(raw), now), "metadata": now["metadata"]}
    if isinstance(thing, PodDisruptionBudget) and not raw.get("status"):
        manifest.pop("status", None)  # it follows the pods; written down, it would hold for ever
    return manifest


def _pod(pod: Pod, given: Given, status: Manifest) -> Manifest:
    """A pod has arrived, so it does not wait for its time again."""
    document = given.place(pod)
    now = _encoded(pod)
    manifest = now if document is None else {**copy.deepcopy(document.raw), "metadata": now["metadata"]}
    annotations = manifest["metadata"].get("annotations")
    for name in (ARRIVES, INTERVAL) if annotations else ():
        annotations.pop(name, None)
    if pod.node_name:
        manifest["spec"]["nodeName"] = pod.node_name
    shown = merged(now.get("status"), status)
    return {**manifest, "status": shown} if shown else manifest


def _status(record: Record) -> Manifest:
    """What a scheduler writes into the status of a pod that it could not place."""
    if record.pod.node_name or not record.message:
        return {}
    condition = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": record.message}
    others = [each for each in record.pod.status.conditions or () if each.type != condition["type"]]
    return {"phase": "Pending", "conditions": [*msgspec.to_builtins(others), condition]}


def _encoded(thing: ApiObject) -> Manifest:
    """As the API would show it, as far as a scheduler reads it; it holds from now on."""
    body = copy.deepcopy(thing.written) if isinstance(thing, PlainObject) else msgspec.to_builtins(thing)
    meta = body.pop("metadata", {})
    meta.pop("resourceVersion", None)
    meta.get("annotations", {}).pop(AT, None)
    return {"apiVersion": kinds.api_version_of(thing), "kind": kinds.kind_of(thing), "metadata": meta, **body}
