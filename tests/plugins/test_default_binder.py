"""DefaultBinder: it tells the writer, and turns the writer's errors into a status."""

from __future__ import annotations

import asyncio

from bayplan.engine.cache import ClusterCache
from bayplan.errors import TransportError
from bayplan.framework import CycleState, Verdict
from bayplan.framework.status import as_status
from bayplan.objects.pod import Pod
from bayplan.plugins.default_binder import DefaultBinder
from bayplan.testing import Recorder, pod
from bayplan.testing.harness import handle


def bind(writer: Recorder) -> Verdict:
    plugin = DefaultBinder(None, handle(ClusterCache(), writer=writer))
    return asyncio.run(plugin.bind(CycleState(), pod("a").build(), "n1"))


def test_the_pod_is_bound_through_the_writer() -> None:
    writer = Recorder()
    assert bind(writer) is None
    assert writer.calls == [("bind", "default/a", "n1")]


def test_an_error_of_the_api_becomes_an_error_status() -> None:
    class Unreachable(Recorder):
        async def bind(self, pod: Pod, node_name: str) -> None:
            raise TransportError("no route to the API server")

    status = as_status(bind(Unreachable()))
    assert status.is_error
    assert status.message == "no route to the API server"
    assert isinstance(status.error, TransportError)


def test_it_asks_for_no_events() -> None:
    assert DefaultBinder().requeue_on() == ()
