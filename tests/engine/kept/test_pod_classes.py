"""Which pods are of one class, and in which profiles classes are known at all."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from bayplan.clock import VirtualClock
from bayplan.engine.intents import Bind, Intent
from bayplan.engine.scheduler import Scheduler
from bayplan.framework import Depends, FilterPlugin, PreFilterPlugin, Promise
from bayplan.framework.config.model import PluginRef, Plugins, PluginSet, ProfileConfig, SchedulerConfig
from bayplan.framework.profile import DefaultPlugin, build_profiles
from bayplan.framework.registry import Registry
from bayplan.framework.status import SKIP, Code, Reason
from bayplan.objects.meta import OwnerReference
from bayplan.objects.pod import Pod
from bayplan.plugins.default_binder import DefaultBinder
from bayplan.plugins.priority_sort import PrioritySort
from bayplan.plugins.sticky_vm import StickyVM
from bayplan.testing import Recorder, make, node, pod
from tests.engine.support import START, World, intents_of

UNWANTED = Reason(Code.UNSCHEDULABLE, "node(s) do not want the pod")
REFUSED = OwnerReference(api_version="kubevirt.io/v1", kind="VirtualMachineInstance", name="vm")


def told(made: Any, **meta: Any) -> Pod:
    """The pod with something else in its metadata."""
    built: Pod = made.build()
    return built.evolve(metadata=msgspec.structs.replace(built.metadata, **meta))


@pytest.mark.parametrize(
    ("read", "unwanted"),
    [
        (lambda pod: pod.annotations.get("unwanted"), {"annotations": {"unwanted": "yes"}}),
        (lambda pod: pod.name == "other", {"name": "other"}),
        (lambda pod: bool(pod.metadata.owner_references), {"owner_references": (REFUSED,)}),
    ],
    ids=["annotations", "name", "owners"],
)
def test_a_plugin_that_promises_nothing_may_read_what_pods_of_one_template_do_not_share(
    read: Any, unwanted: Any
) -> None:
    class Picky(FilterPlugin):
        name = "Picky"
        reasons = (UNWANTED,)

        def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
            return UNWANTED if read(pod) else None

    world = World(Picky)
    pods = [pod(f"p{number}").build() for number in range(3)]
    world.add(*(node(f"n{number}") for number in range(20)), *pods[:2], told(pod("p9"), **unwanted), pods[2])

    assert [isinstance(world.schedule()[0], Bind) for _ in range(4)] == [True, True, False, True]


def test_a_plugin_whose_answers_are_not_worth_keeping_is_asked_about_every_pod() -> None:
    asked: list[str] = []

    class Quick(FilterPlugin):
        name = "Quick"

        def promise(self, template: Any) -> Promise:
            return Promise(key=(), filter=Depends.OBJECT, reserves=False, keep=template.labels.get("keep") == "yes")

        def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
            asked.append(pod.name)
            return None

    world = World(Quick)
    world.add(*(node(f"n{number}") for number in range(3)))
    for keep in ("yes", "no"):
        world.add(*(pod(f"{keep}-{number}").label(keep=keep) for number in range(4)))
    assert [isinstance(world.schedule()[0], Bind) for _ in range(8)] == [True] * 8

    assert {name: asked.count(name) for name in ("no-1", "no-2", "no-3")} == {"no-1": 3, "no-2": 3, "no-3": 3}
    assert asked.count("yes-3") < 3


def test_a_machine_that_owns_a_pod_without_looking_after_it_makes_another_template() -> None:
    sticky = make(StickyVM)
    plain, owned = pod("p").build(), told(pod("p"), owner_references=(REFUSED,))
    assert sticky.promise(plain.template) is not None
    assert sticky.promise(owned.template) is None


def schedule(remember: bool, depends: Depends, *disabled: str) -> list[Intent]:
    """The first pod in a profile in which a plugin is disabled at some points."""
    refused = {point: PluginSet(disabled=(PluginRef(name="Prepared"),)) for point in disabled}
    config = SchedulerConfig(profiles=(ProfileConfig(scheduler_name="default-scheduler", plugins=Plugins(**refused)),))
    prepared = type("Prepared", (Prepared,), {"depends": depends})
    classes = (prepared, PrioritySort, DefaultBinder)
    defaults = [DefaultPlugin(each.name) for each in classes]
    scheduler = Scheduler(
        lambda handle: build_profiles(config, Registry(classes), defaults, handle)[0],
        clock=VirtualClock(START),
        writer=Recorder(),
        events=Recorder(),
        remember_classes=remember,
    )
    scheduler.cache.add_node(node("a").build())
    scheduler.queue.add(pod("p").build())
    return intents_of(scheduler.schedule(1))


class Prepared(PreFilterPlugin, FilterPlugin):
    """Skips every pod at PreFilter; without that it turns every node down."""

    name = "Prepared"
    reasons = (UNWANTED,)
    depends = Depends.TERMS

    def promise(self, template: Any) -> Promise | None:
        return Promise(key=(), filter=self.depends)

    def pre_filter(self, state: Any, pod: Any, nodes: Any) -> Any:
        return SKIP

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return UNWANTED


@pytest.mark.parametrize(
    ("disabled", "is_placed"), [((), True), (("pre_filter",), False), (("filter",), True)], ids=str
)
@pytest.mark.parametrize("depends", [Depends.TERMS, Depends.OBJECT])
@pytest.mark.parametrize("remember", [True, False])
def test_a_plugin_skips_only_where_it_can_say_so(
    disabled: tuple[str, ...], is_placed: bool, depends: Depends, remember: bool
) -> None:
    intents = schedule(remember, depends, *disabled)
    assert isinstance(intents[0], Bind) is is_placed
