"""
What informer events mean for the cache and the queue: pods, nodes and other objects that come, change and go.

Called by ``Scheduler.handle`` for every event that comes from outside.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

from bayplan.engine.cache import ClusterCache
from bayplan.engine.events import (
    Event,
    KindRefused,
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
from bayplan.engine.pod_templates import PodTemplates
from bayplan.engine.queue.scheduling_queue import SchedulingQueue
from bayplan.engine.update_events import node_update_events, pod_update_events
from bayplan.engine.waiting_pods import WaitingPods
from bayplan.framework.events import (
    ASSIGNED_POD_ADD,
    ASSIGNED_POD_DELETE,
    NODE_ADD,
    Change,
    ClusterEvent,
)
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod


class EventHandlers:
    """Keeps cache and queue in step with what is told of the cluster."""

    def __init__(
        self,
        cache: ClusterCache,
        queue: SchedulingQueue,
        waiting: WaitingPods,
        scheduler_names: Collection[str],
        heard: Callable[[str, Any, Any], None] = lambda kind, old, new: None,
    ) -> None:
        self._cache = cache
        self._queue = queue
        self._waiting = waiting
        self._ours = scheduler_names
        self._heard = heard
        """Who else wants to know, once cache and queue do."""
        self._pending: dict[str, Pod] = {}
        self._templates = PodTemplates()

    def newest(self, pod: Pod) -> Pod | None:
        """The newest version of a pod that is not placed yet; ``None`` once it is placed or gone."""
        return self._pending.get(pod.key)

    def forget_pending(self, pod: Pod) -> None:
        """The pod is bound: its next event comes as that of an assigned pod."""
        known = self._pending.get(pod.key)
        if known is not None and known.uid == pod.uid:
            del self._pending[pod.key]

    def handle(self, event: Event) -> None:
        match event:
            case PodAdded(pod):
                self._pod_added(pod)
                self._heard("Pod", None, pod)
            case PodChanged(old, new):
                self._pod_changed(old, new)
                self._heard("Pod", old, new)
            case PodDeleted(pod):
                self._pod_deleted(pod)
                self._heard("Pod", pod, None)
            case NodeAdded(node):
                self._node_added(node)
                self._heard("Node", None, node)
            case NodeChanged(old_node, node):
                self._node_changed(old_node, node)
                self._heard("Node", old_node, node)
            case NodeDeleted(node):
                self._cache.remove_node(node.name)
                self._queue.move(ClusterEvent("Node", Change.DELETED), node, None)
                self._heard("Node", node, None)
            case ObjectAdded(kind, value):
                self._object(kind, Change.ADDED, None, value)
            case ObjectChanged(kind, old_value, value):
                self._object(kind, Change.UPDATED, old_value, value)
            case ObjectDeleted(kind, value):
                self._object(kind, Change.DELETED, value, None)
            case KindRefused(kind, why):
                self._cache.objects.refuse(kind, why)
            case _:
                raise TypeError(f"not an event of the cluster: {event!r}")

    # -- pods --

    def _pod_added(self, pod: Pod) -> None:
        if pod.is_terminal:
            return
        if pod.node_name:
            self._assigned(pod)
        elif pod.scheduler_name in self._ours:
            pod = self._templates.shared(pod)
            self._pending[pod.key] = pod
            self._queue.add(pod)

    def _assigned(self, pod: Pod) -> None:
        self.forget_pending(pod)
        self._cache.add_pod(pod)
        self._queue.delete(pod)
        self._queue.move(ASSIGNED_POD_ADD, None, pod)

    def _pod_changed(self, old: Pod, new: Pod) -> None:
        if old.uid != new.uid:
            self._pod_deleted(old)
            self._pod_added(new)
        elif new.is_terminal:
            # The scheduler's list leaves ended pods out, so ending looks like deletion.
            if not old.is_terminal:
                self._pod_deleted(old if old.node_name or not new.node_name else new)
        elif not new.node_name:
            self._pending_changed(old, new)
        elif not old.node_name or self._cache.pod(new.uid) is None:
            self._assigned(new)
        else:
            self._cache.add_pod(new)
            for event in pod_update_events(old, new):
                self._queue.move(event, old, new)

    def _pending_changed(self, old: Pod, new: Pod) -> None:
        if new.scheduler_name not in self._ours:
            return
        version = new.metadata.resource_version
        if version and version == old.metadata.resource_version:
            # A resync reports the same object again; taken for a new one it would be scheduled twice.
            return
        new = self._templates.shared(new)
        self._pending[new.key] = new
        if self._cache.is_assumed(new.uid):
            if new.is_terminating and not old.is_terminating:
                self._release(new)
            return
        self._queue.update(old, new)
        if old.nominated_node_name and old.nominated_node_name != new.nominated_node_name:
            self._freed_nomination(old)

    def _pod_deleted(self, pod: Pod) -> None:
        self.forget_pending(pod)
        self._queue.delete(pod)
        if pod.node_name:
            if pod.is_terminal and self._cache.pod(pod.uid) is None:
                return  # its end was told when it ended
            self._cache.remove_pod(pod)
            self._queue.move(ASSIGNED_POD_DELETE, pod, None)
        elif self._cache.is_assumed(pod.uid):
            self._release(pod)
        elif pod.nominated_node_name:
            self._freed_nomination(pod)

    def _release(self, pod: Pod) -> None:
        """A pod on its way to a node is going away: end its wait, or give its room back."""
        held = self._waiting.get(pod.uid)
        if held is not None:
            held.reject("", "removed")
            return
        assumed = self._cache.pod(pod.uid)
        if assumed is not None:
            self._cache.forget(assumed)
            self._queue.move(ASSIGNED_POD_DELETE, assumed, None)

    def _freed_nomination(self, pod: Pod) -> None:
        """Room was set aside for this pod and is not any more; pods up to its priority may use it."""
        self._queue.move(ASSIGNED_POD_DELETE, pod, None, only=lambda other: other.priority <= pod.priority)

    # -- nodes and the rest --

    def _node_added(self, node: Node) -> None:
        is_first = not len(self._cache.nodes)
        self._cache.add_node(node)
        self._queue.move(NODE_ADD, None, node)
        if is_first:
            # Without nodes no plugin said no, so pods back off as after an error; there is no need to any more.
            self._queue.activate([queued.pod for place, queued in self._queue.entries() if place == "backoff"])

    def _node_changed(self, old: Node, new: Node) -> None:
        self._cache.update_node(new)
        for event in node_update_events(old, new):
            self._queue.move(event, old, new)

    def _object(self, kind: str, change: Change, old: Any, new: Any) -> None:
        value = old if new is None else new
        if new is None:
            self._cache.objects.drop(kind, value.namespace, value.name)
        else:
            self._cache.objects.put(kind, value.namespace, value.name, value)
        if kind == "Namespace":
            self._cache.namespaces_changed()
        self._queue.move(ClusterEvent(kind, change), old, new)
        self._heard(kind, old, new)
