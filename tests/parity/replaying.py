"""One engine that follows a cluster from case to case, taking over what kube-scheduler decided.

``__main__`` and the tests on fresh clusters judge through it: it is quicker than a new engine for each case, and it
shows that what the engine keeps in step with a cluster is what it would have worked out anew.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

import msgspec

from bayplan.engine.events import (
    NodeAdded,
    NodeChanged,
    NodeDeleted,
    ObjectAdded,
    ObjectChanged,
    ObjectDeleted,
    PodAdded,
    PodChanged,
    PodDeleted,
)
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.status import Status
from bayplan.objects import kinds
from bayplan.objects.files import loading
from bayplan.objects.meta import ApiObject
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.dynamic_resources import DynamicResources
from bayplan.plugins.dynamic_resources.pod_claims import claim_name
from bayplan.simulator.explain.explanation import explain
from bayplan.simulator.loading import documents_of, load
from bayplan.simulator.world import assemble
from tests.parity.case import Case, Object
from tests.parity.comparing import explain as explain_alone
from tests.parity.generating.device_style import STYLE as DEVICES

Key: TypeAlias = tuple[str, str, str, str]
# Needed to read pods, so they come along with every pod.
CLASSES = ("PriorityClass", "RuntimeClass")
# Whoever comes later finds the others there.
ORDER = {"Node": 1, "Pod": 2}


class Follower:
    """An engine that follows whichever cluster the cases come from."""

    def __init__(self) -> None:
        self._cluster = ""
        self._replay = Replay()

    def explain(self, case: Case) -> dict[str, Any]:
        """What Bayplan says about the pod of the case; a case of another cluster starts anew."""
        cluster = case.name.rsplit("-", 2)[0]
        if cluster != self._cluster:
            self._cluster, self._replay = cluster, Replay()
        return self._replay.explain(case)


def judge(case: Case) -> Callable[[Case], dict[str, Any]]:
    """Who says what Bayplan does in a case by itself; devices are compared too, and ``explain`` has not all of them."""
    return explain_alone if case.result.allocations is None and case.style != DEVICES else Follower().explain


class Replay:
    """The engine's side of one cluster."""

    def __init__(self) -> None:
        self._scheduler = assemble(load([])).scheduler
        self._raw: dict[Key, Object] = {}
        self._objects: dict[Key, ApiObject] = {}

    def explain(self, case: Case) -> dict[str, Any]:
        """What Bayplan says about the pod of the case."""
        self._follow({_key(document): document for document in case.objects})
        pod = next(each for key, each in self._objects.items() if key[:3] == ("Pod", case.namespace, case.pod))
        assert isinstance(pod, Pod)
        document = explain(self._scheduler, pod)
        if case.result.allocations is not None:
            document["allocations"] = allocations_on(self._scheduler, pod, str(case.result.node))
        if document["verdict"] == "Error":
            document["errors"] = device_errors(self._scheduler, pod)
        return document

    def _follow(self, now: dict[Key, Object]) -> None:
        """Tell the engine what went, came and changed since the case before."""
        for key in [key for key in self._raw if key not in now]:
            del self._raw[key]
            self._tell(self._objects.pop(key), None)
        fresh = {key: raw for key, raw in now.items() if self._raw.get(key) != raw}
        classes = [raw for raw in now.values() if raw["kind"] in CLASSES]
        read = _read([*classes, *(raw for raw in fresh.values() if raw["kind"] not in CLASSES)])
        for key in sorted(fresh, key=lambda key: ORDER.get(key[0], 0)):
            before = self._objects.get(key)
            self._raw[key], self._objects[key] = fresh[key], read[key]
            self._tell(before, read[key])

    def _tell(self, old: ApiObject | None, new: ApiObject | None) -> None:
        self._scheduler.handle(_event(old, new))


def device_errors(scheduler: Scheduler, pod: Pod) -> list[str]:
    """What DynamicResources says of each node that it ends the cycle at; the first to be looked at is the one told."""
    nodes, plugin = scheduler.cache.nodes, _device_plugin(scheduler, pod)
    found = (plugin.given(pod, nodes.node(row)) for row in range(len(nodes)))
    told = [each.message for each in found if isinstance(each, Status) and each.is_error]
    return [f'running "{plugin.name}" filter plugin: {text}' for text in told]


def _device_plugin(scheduler: Scheduler, pod: Pod) -> DynamicResources:
    profile = scheduler.profiles[pod.scheduler_name]
    return next(each for each in profile.extension("filter") if isinstance(each, DynamicResources))


def allocations_on(scheduler: Scheduler, pod: Pod, node_name: str) -> dict[str, Any]:
    """By what the pod calls its claims, what they would be given on a node; the claim for resources is called ""."""
    plugin = _device_plugin(scheduler, pod)
    nodes = scheduler.cache.nodes
    row = nodes.row_of(node_name)
    assert row is not None
    taken = plugin.given(pod, nodes.node(row))
    if isinstance(taken, Status):
        return {"": taken.message}
    named = {claim_name(pod, each): each.name for each in pod.spec.resource_claims or ()}
    given = {
        named.get(each.claim.name, ""): msgspec.to_builtins(each.allocation or each.claim.status.allocation)
        for each in taken
    }
    for each in taken:
        if each.extended is not None:
            given[""]["requestMappings"] = sorted(msgspec.to_builtins(each.extended.mappings), key=str)
    return given


def _event(old: ApiObject | None, new: ApiObject | None) -> Any:
    match old, new:
        case None, Pod():
            return PodAdded(new)
        case Pod(), Pod():
            return PodChanged(old, new)
        case Pod(), None:
            return PodDeleted(old)
        case None, Node():
            return NodeAdded(new)
        case Node(), Node():
            return NodeChanged(old, new)
        case Node(), None:
            return NodeDeleted(old)
        case None, ApiObject():
            return ObjectAdded(kinds.kind_of(new), new)
        case ApiObject(), ApiObject():
            return ObjectChanged(kinds.kind_of(new), old, new)
        case ApiObject(), None:
            return ObjectDeleted(kinds.kind_of(old), old)
    raise AssertionError("nothing happened")


def _read(documents: Iterable[Object]) -> dict[Key, ApiObject]:
    raws = list(documents)
    loaded = loading.load(documents_of(raws)).objects
    return {_key_of(each): each for each in loaded}


def _key(document: Object) -> Key:
    metadata = document["metadata"]
    return document["kind"], metadata.get("namespace", ""), metadata["name"], metadata["uid"]


def _key_of(thing: ApiObject) -> Key:
    return kinds.kind_of(thing), thing.namespace, thing.name, thing.uid
