"""
The engine's informers: one informer for each kind that the enabled plugins read or wait for, and no others.

What an informer reports becomes an event for the engine.  Used by ``app.scheduler.live`` and ``app.rebalancer.live``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

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
from bayplan.framework.ports import MetricSink
from bayplan.framework.profile import Profile
from bayplan.kube.client import Client
from bayplan.kube.informer import SILENCE_S, Informer
from bayplan.kube.originals import Originals
from bayplan.objects.kinds import Kind, those
from bayplan.objects.meta import ApiObject

# Ended pods take nothing from their nodes, and a cluster may keep a great many of them.
LIVE_PODS = "status.phase!=Succeeded,status.phase!=Failed"
ALWAYS_READ = ("Namespace", "Node", "Pod")
ESSENTIAL = ("Node", "Pod")

Tell = Callable[[Event], None]


def kinds_for(profiles: Iterable[Profile]) -> list[Kind]:
    """The kinds to follow; those that are not registered cannot be."""
    wanted = set(ALWAYS_READ)
    for profile in profiles:
        for plugin in profile.instances.values():
            wanted.update(plugin.kinds_read())
            wanted.update(on.kind for on in plugin.requeue_on())
    return those(wanted)


class EngineInformers:
    """Makes informers that speak to the engine."""

    def __init__(
        self,
        client: Client,
        tell: Tell,
        metrics: MetricSink,
        silence_s: float = SILENCE_S,
        originals: Originals | None = None,
    ) -> None:
        self._client = client
        self._tell = tell
        self._metrics = metrics
        self._silence_s = silence_s
        self._originals = originals
        """Where whole pods and nodes are kept, if an extender needs them."""

    def informer(self, kind: Kind) -> Informer[Any]:
        if kind.called == "Pod":
            return self._informer(kind, PodAdded, PodChanged, PodDeleted, LIVE_PODS)
        if kind.called == "Node":
            return self._informer(kind, NodeAdded, NodeChanged, NodeDeleted)
        name = kind.called
        return self._informer(
            kind,
            lambda value: ObjectAdded(name, value),
            lambda old, new: ObjectChanged(name, old, new),
            lambda value: ObjectDeleted(name, value),
        )

    def _informer(
        self,
        kind: Kind,
        added: Callable[..., Event],
        changed: Callable[..., Event],
        deleted: Callable[..., Event],
        field_selector: str = "",
    ) -> Informer[Any]:
        originals = self._originals if kind.called in ("Node", "Pod") else None

        def forget(value: ApiObject) -> None:
            if originals is not None:
                originals.drop(value)
            self._timed(deleted(value), kind.called, "Delete")

        return Informer(
            self._client,
            kind,
            added=lambda value: self._timed(added(value), kind.called, "Add"),
            changed=lambda old, new: self._timed(changed(old, new), kind.called, "Update"),
            deleted=forget,
            field_selector=field_selector,
            silence_s=self._silence_s,
            essential=kind.called in ESSENTIAL,
            keep=None if originals is None else originals.keep,
            refusal=lambda why: self._tell(KindRefused(kind.called, why)),
        )

    def _timed(self, event: Event, kind: str, action: str) -> None:
        started = time.perf_counter()
        self._tell(event)
        took = time.perf_counter() - started
        self._metrics.observe("event_handling_duration_seconds", took, event=f"{kind}{action}")
