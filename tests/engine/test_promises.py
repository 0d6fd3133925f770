"""Promises are asked for once per template, and again when an object changes of a kind that the plugin reads."""

from __future__ import annotations

from typing import Any

from bayplan.engine.plugin_calls import Calls
from bayplan.engine.promises import Promises
from bayplan.framework import Depends, FilterPlugin, Promise
from bayplan.testing import api_object, pod
from tests.engine.support import World


class Asked(FilterPlugin):
    name = "Asked"
    reads = ("Service",)

    def __init__(self, *given: Any) -> None:
        super().__init__(*given)
        self.templates: list[Any] = []

    def promise(self, template: Any) -> Promise | None:
        self.templates.append(template)
        return Promise(key=(), filter=Depends.OBJECT) if template.labels else None

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return None


def test_a_template_is_asked_about_once_while_no_object_changes() -> None:
    world = World(Asked)
    promises = Promises(world.profile, world.cache.objects)
    calls = Calls(pod("a").label(app="web").build())
    first = promises.of(calls)
    assert first["Asked"].filter is Depends.OBJECT
    assert promises.of(Calls(calls.pod.assigned_to("n"))) is first
    assert len(world.plugin("Asked").templates) == 1

    world.cache.objects.put("Service", "default", "web", api_object("Service", "web").build())
    assert promises.of(calls) is first, "what is promised is the same"
    assert len(world.plugin("Asked").templates) == 2
    world.cache.objects.put("Namespace", "", "default", api_object("Namespace", "default").build())
    assert promises.of(calls) is first
    assert len(world.plugin("Asked").templates) == 3


def test_objects_of_kinds_that_a_plugin_does_not_read_are_nothing_to_it() -> None:
    world = World(Asked)
    promises = Promises(world.profile, world.cache.objects)
    calls = Calls(pod("a").label(app="web").build())
    first = promises.of(calls)
    world.cache.objects.put("ResourceClaim", "default", "gpu", api_object("ConfigMap", "gpu").build())
    assert promises.of(calls) is first
    assert len(world.plugin("Asked").templates) == 1


def test_who_promises_nothing_is_not_listed() -> None:
    world = World(Asked)
    assert Promises(world.profile, world.cache.objects).of(Calls(pod("a").build())) == {}


class ByName(FilterPlugin):
    """Goes by the first letter of a pod's name, and promises nothing for those that begin with x."""

    name = "ByName"

    def promise(self, template: Any) -> Promise | None:
        return Promise(key="all", filter=Depends.ROW, pod_key=self.letter)

    def letter(self, pod: Any) -> Any:
        return {"x": None, "l": []}.get(pod.name[0], pod.name[0])

    def filter_node(self, state: Any, pod: Any, node: Any) -> Any:
        return None


def test_pods_of_one_template_are_told_apart_by_their_own_keys() -> None:
    world = World(Asked, ByName)
    promises = Promises(world.profile, world.cache.objects)
    names = ("a1", "b1", "a2", "x1", "b2")
    like = pod("a1").label(app="web").build()
    alike = [pod(name).label(app="web").build().like(like.template) for name in names]
    a1, b1, a2, x1, b2 = [promises.of(Calls(each)) for each in alike]
    assert a1 is a2
    assert b1 is b2
    assert a1["ByName"] == Promise(key=("all", "a"), filter=Depends.ROW)
    assert b1["ByName"].key == ("all", "b")
    assert "ByName" not in x1
    assert x1["Asked"].filter is Depends.OBJECT


def test_a_pod_key_that_is_not_hashable_is_no_promise() -> None:
    world = World(ByName)
    promises = Promises(world.profile, world.cache.objects)
    assert promises.of(Calls(pod("listed").build())) == {}
