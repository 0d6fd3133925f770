"""Which kinds are followed, and that what informers tell reaches the engine as events."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from bayplan.app.scheduler.informers import EngineInformers, kinds_for
from bayplan.app.shell.metrics import PrometheusMetrics
from bayplan.engine.events import Event, NodeAdded, ObjectChanged, ObjectDeleted, PodChanged
from bayplan.framework import On
from bayplan.framework.events import ON_ANYTHING, Change
from bayplan.objects.kinds import find
from bayplan.testing import node, pod
from tests.kube.scripted import ScriptedTransport, client_on


def profile(*plugins: Any) -> Any:
    return SimpleNamespace(instances={str(number): plugin for number, plugin in enumerate(plugins)})


def plugin(reads: tuple[str, ...] = (), *waits: On) -> Any:
    return SimpleNamespace(kinds_read=lambda: reads, requeue_on=lambda: waits)


@pytest.mark.parametrize(
    ("plugins", "more"),
    [
        ((), set()),
        ((plugin(("Service",)),), {"Service"}),
        ((plugin((), On("StorageClass", Change.ADDED)),), {"StorageClass"}),
        ((plugin((), *ON_ANYTHING),), set()),
        ((plugin(("NoSuchKind",)),), set()),
        ((plugin(("Service",)), plugin(("Service", "CSINode"))), {"Service", "CSINode"}),
    ],
)
def test_only_what_plugins_read_or_wait_for_is_followed(plugins: tuple[Any, ...], more: set[str]) -> None:
    assert {kind.name for kind in kinds_for([profile(*plugins)])} == {"Namespace", "Node", "Pod"} | more


def test_what_an_informer_tells_becomes_an_event() -> None:
    told: list[Event] = []
    metrics = PrometheusMetrics()
    following = EngineInformers(client_on(ScriptedTransport()), told.append, metrics)

    def informer(version: str, name: str) -> Any:
        kind = find(version, name)
        assert kind is not None
        return following.informer(kind)

    pods, nodes, services = informer("v1", "Pod"), informer("v1", "Node"), informer("v1", "Service")
    a, n = pod("a").build(), node("n").build()
    pods._changed(a, a)
    nodes._added(n)
    services._changed(a, a)
    services._deleted(a)
    assert told == [
        PodChanged(a, a),
        NodeAdded(n),
        ObjectChanged("Service", a, a),
        ObjectDeleted("Service", a),
    ]
    assert pods._selector == {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
    assert (pods._essential, nodes._essential, services._essential) == (True, True, False)
    assert 'scheduler_event_handling_duration_seconds_count{event="NodeAdd"} 1.0' in metrics.render().decode()
