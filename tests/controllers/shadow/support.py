"""What the tests of the shadow share: a judge that is told what happens, one thing a second."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from bayplan.clock import VirtualClock
from bayplan.controllers.shadow.event_order import Dated
from bayplan.controllers.shadow.judge import Judge
from bayplan.controllers.shadow.read_only import ReadOnly
from bayplan.controllers.shadow.verdict import Verdict
from bayplan.engine.events import Event, NodeAdded, ObjectAdded, PodAdded, PodChanged
from bayplan.engine.scheduler import Scheduler
from bayplan.framework.config.loading import load_config
from bayplan.objects import kinds
from bayplan.objects.node import Node
from bayplan.objects.pod import Pod
from bayplan.plugins.plugin_set import make_profiles, registry
from bayplan.testing import NodeBuilder, PodBuilder
from bayplan.testing.builders import Builder

START = 1_000_000.0
PROFILE = "default-scheduler"


def scheduler(plugins: Sequence[Any] = (), **profile: Any) -> Scheduler:
    """An engine of the default plugins, or of a profile as it stands in a file."""
    document = {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [{"schedulerName": PROFILE, **profile}],
    }
    known, _ = registry(discover=False)
    for plugin in plugins:
        known.register(plugin)
    make = make_profiles(load_config(document, "test")[0], known, [plugin.name for plugin in plugins])
    nobody = ReadOnly()
    return Scheduler(make, clock=VirtualClock(START), writer=nobody, events=nobody)


class Shadow:
    """A judge and its time."""

    def __init__(self, *there: Any, profile: str = "", plugins: Sequence[Any] = (), **configured: Any) -> None:
        self.judge = Judge(scheduler(plugins, **configured), profile)
        self.at = START
        for each in there:
            self.judge.learn(came(each))

    def take(self, event: Event, *ahead: Event, **dated: Any) -> Verdict | None:
        self.at += 1.0
        in_time = dated.pop("in_time", True)
        later = [Dated(self.at + 0.1, each) for each in ahead]
        return self.judge.take(Dated(self.at, event, **dated), lambda: later, in_time=in_time)

    def bind(self, pod: PodBuilder | Pod, node: str, *ahead: Event, **dated: Any) -> Verdict:
        """Somebody binds a pod that is there."""
        verdict = self.take(bound(pod, node), *ahead, **dated)
        assert verdict is not None
        return verdict

    def come_and_bind(self, pod: PodBuilder | Pod, node: str) -> Verdict:
        self.take(came(pod))
        return self.bind(pod, node)


def made(thing: Any) -> Any:
    return thing.build() if isinstance(thing, Builder | NodeBuilder | PodBuilder) else thing


def came(thing: Any) -> Event:
    found = made(thing)
    if isinstance(found, Pod):
        return PodAdded(found)
    return NodeAdded(found) if isinstance(found, Node) else ObjectAdded(kinds.kind_of(found), found)


def bound(pod: PodBuilder | Pod, node: str) -> PodChanged:
    before = made(pod)
    return PodChanged(before, before.assigned_to(node))
